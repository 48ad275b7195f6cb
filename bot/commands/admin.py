"""Commands for admins: settings that change while the service runs, the audit log, and the stored verdicts of the
independent reader (the model that judges what a press will do).
"""

from __future__ import annotations

from collections import Counter
from datetime import tzinfo

from bot.application.access import Refused
from bot.application.services import Services
from bot.commands.accounts import moment
from bot.commands.request import Request, private_reply
from bot.config.endpoints import model_settings
from bot.config.settings import SettingsError
from bot.domain.outgoing import Reply
from bot.runtime.settings import RuntimeSettings, UnknownSetting, known, names_of, value_of
from bot.runtime.settings import is_set as named_in
from bot.store.audit import AuditEntry, AuditKind, FileDetail, YesDetail
from bot.store.codec import row_number
from bot.texts import listed, say
from devices.wording import said, sentence_of

DEFAULT = "default"
"""Typed instead of a value to remove a setting that was changed."""
MOST_VERDICTS = 30
"""Maximum apps in one answer; those with the most controls come first."""


async def set_setting(request: Request, services: Services) -> Reply:
    """Show the settings that can be changed at run time, each with its value and where it comes from; or change one."""
    words = request.call.rest.split(maxsplit=1)
    live = services.live
    if not words:
        names = dict.fromkeys((*names_of(live.now), *live.changes))
        lines = [*(_line(services, name) for name in names), say("set.how")]
        return private_reply("\n".join(lines), heading=say("set.heading"))
    try:
        name = known(words[0])
        if len(words) == 1:
            return private_reply(_line(services, name))
        value = words[1].strip()
        if value.lower() == DEFAULT:
            old, new = await live.take_back(name, request.person)
        else:
            old, new = await live.set(name, value, request.person)
    except UnknownSetting:
        raise Refused(say("set.unknown", name=words[0][:40], known=listed(names_of(live.now)))) from None
    except SettingsError as error:
        raise Refused(say("set.refused", why=said(sentence_of(error)))) from None
    at_once = "tier" in name  # a quota is looked at again after each step
    lines = [say("set.done_now" if at_once else "set.done", name=name, old=old, new=new)]
    if name.endswith("model") and model_settings(live.now).offline:
        lines.append(say("set.offline"))
    return private_reply("\n".join(lines))


def _line(services: Services, name: str) -> str:
    live = services.live
    if why := live.unusable.get(name):
        return say("set.unusable", name=name, value=live.changes[name].value, why=said(why))
    value = value_of(live.now, name)
    change = live.changes.get(name)
    if change is None:
        return say(f"set.origin.{_origin(live, name)}", name=name, value=value)
    time = moment(change.at, services.zone)
    who = f"{change.by.name or change.by.id} ({change.by.platform}:{change.by.id})"
    return say("set.changed", name=name, value=value, who=who, time=time, before=value_of(live.base, name))


def _origin(live: RuntimeSettings, name: str) -> str:
    if named_in(live.environment, name):
        return "environment"
    return "file" if named_in(live.base, name) else "default"


PAGE = 20
"""Entries on one page."""
SHOWN_DETAIL = 120
"""Maximum characters of an entry's detail on a page."""


async def audit(request: Request, services: Services) -> Reply:
    """Show one page of the audit log, latest first; `--before N` shows entries older than N."""
    before = request.option("before").removeprefix("#")
    number = row_number(before)
    if before and number is None:
        raise Refused(say("audit.bad_number", name=before[:40]))
    found = await services.store.audit.page(PAGE + 1, number)
    lines = [_audit_line(entry, services.zone) for entry in found[:PAGE]] or [say("audit.empty")]
    if len(found) > PAGE:
        lines.append(say("audit.older", line=f"{request.prefix}audit --before {found[PAGE - 1].number}"))
    if not before:
        lines += await _turned_away(services)
    return private_reply("\n".join(lines), heading=say("audit.heading"))


async def _turned_away(services: Services) -> list[str]:
    """How many strangers were turned away, by platform; their identities are not stored."""
    sums: Counter[str] = Counter()
    for count in await services.store.refusals.totals():
        sums[count.platform] += count.count
    return [say("audit.strangers", platform=platform, number=number) for platform, number in sorted(sums.items())]


def _detail_text(kept: FileDetail | YesDetail) -> str:
    if isinstance(kept, FileDetail):
        return say(f"audit.detail.{kept.what}", **kept.model_dump(exclude={"what"}))
    if not kept.schedule:
        return say("audit.yes_task", to=kept.to, app=kept.app, by=kept.by)
    words = say("audit.yes_schedule", to=kept.to, schedule=kept.schedule, by=kept.by)
    return words if kept.text is None else say("audit.yes_text", yes=words, text=kept.text)


def _audit_line(entry: AuditEntry, zone: tzinfo) -> str:
    by = entry.person.name or entry.person.id
    kept = entry.detail
    told = kept if isinstance(kept, str) else _detail_text(kept)
    detail = " ".join(told.split())[:SHOWN_DETAIL]
    if entry.kind is AuditKind.REFUSED:
        detail = say(f"access.{entry.detail}.failed")
    if entry.kind is AuditKind.UNANSWERED:
        detail = say(f"question.closed.{entry.detail}")
    words = [
        moment(entry.at, zone),
        f"{by} ({entry.person.platform}:{entry.person.id})",
        say(f"audit.kind.{entry.kind}"),
    ]
    words += [say("audit.task", task=entry.task)] if entry.task else []
    return f"#{entry.number} " + " · ".join([*words, detail] if detail else words)


async def verdicts(request: Request, services: Services) -> Reply:
    """Show how many model verdicts about controls (what a press on each will do) are stored for reuse, by app and
    version; or delete them all.
    """
    match [word.lower() for word in request.call.rest.split()]:
        case []:
            kept = Counter((each.package, each.version, each.model) for each in services.readings.lasting())
            lines = [
                say("verdicts.line", count=count, app=app, version=version, model=model)
                for (app, version, model), count in kept.most_common(MOST_VERDICTS)
            ]
            return private_reply("\n".join(lines) or say("verdicts.none"), heading=say("verdicts.heading"))
        case ["clear"]:
            await services.readings.clear()
            return private_reply(say("verdicts.cleared"))
    raise Refused(say("verdicts.usage", prefix=request.prefix))
