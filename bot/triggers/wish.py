"""Parses the typed text of a trigger and creates the trigger."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from agent.questions import StandingYes
from bot.application.access import Caller, Refused
from bot.application.phones import open_phones, phone_named
from bot.application.schedules import ScheduleCommands
from bot.application.services import Services
from bot.domain.schedule import Schedule, next_due, plan_in
from bot.domain.task_request import TaskDraft
from bot.domain.trigger import MOST_PER_HOUR, MOST_WORDS, PER_HOUR, QuietHours, Trigger, quiet_hours
from bot.texts import say
from devices.errors import PhoneError
from devices.phone import AppSource, NotificationSource, Phone
from devices.wording import said, sentence_of

_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』")
_AND: Final = re.compile(r"^(?:\s*(?:,|，|、|and\b|和|与))+\s*|\s*(?:,|，|、|\band|和|与)\s*$", re.IGNORECASE)
_ENGLISH: Final = re.compile(
    r"(?P<phone>.+?)\s+(?:gets?|receives?)\s+(?:an?\s+)?(?:new\s+)?(?:(?P<sms>sms|text message)|notification)s?"
    r"(?:\s+from\s+(?P<source>.+?))?(?:\s+(?:with|containing)\s+(?P<words>.+))?",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    r"(?P<phone>.+?)\s*收到\s*(?:(?:来自)?\s*(?P<source>.+?)\s*的\s*)?(?:(?P<sms>短信)|通知)"
    r"(?:\s*[,，]?\s*(?:含有|包含|含)\s*(?P<words>.+?))?\s*(?:时|的时候)?"
)
_PACKAGE: Final = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)+")


LIST: Final = frozenset({"", "list", "列表"})
"""What people type to list the triggers; `CHANGE` changes one."""
CHANGE: Final = re.compile(r"(?P<verb>remove|pause|resume|revoke)\s+#?(?P<trigger>\d{1,18})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TriggerWish:
    """A trigger as a person wrote it, before its phone and app are looked up."""

    phone: str
    app: str = ""
    """The app's name or package; "" for SMS."""
    sender: str = ""
    words: tuple[str, ...] = ()
    quiet: QuietHours | None = None
    per_hour: int = PER_HOUR


def split_when(text: str) -> tuple[str, str] | None:
    """Split the text into the condition and the `do` command after it; None if there is no such command. Words in
    quotes are not taken for one.
    """
    found = plan_in(_QUOTED.sub(lambda each: "_" * len(each[0]), text))
    return None if found is None else (text[: -len(found[1])].strip(" ,，"), text[-len(found[1]) :])


def wish_of(when: str, *, quiet: str = "", per_hour: str = "") -> TriggerWish | None:
    """Parse a condition such as `pixel gets a notification from Gmail with "invoice"`; None if the text is not one.
    `quiet` are quiet hours and `per_hour` a limit, as typed; "" for none. Raises Refused if one of them is invalid.
    """
    found = _ENGLISH.fullmatch(when.strip()) or _CHINESE.fullmatch(when.strip())
    if found is None or not (found["sms"] or found["source"]):
        return None
    hours = hours_of(quiet)
    if per_hour and not (per_hour.isdecimal() and 1 <= int(per_hour) <= MOST_PER_HOUR):
        raise Refused(say("trigger.bad_limit", most=MOST_PER_HOUR))
    source = _bare(found["source"] or "")
    return TriggerWish(
        phone=_bare(found["phone"]),
        app="" if found["sms"] else source,
        sender=source if found["sms"] else "",
        words=_words(found["words"] or ""),
        quiet=hours,
        per_hour=int(per_hour or PER_HOUR),
    )


def hours_of(quiet: str) -> QuietHours | None:
    """Parse quiet hours as typed; None for "". Raises Refused if they are invalid."""
    hours = quiet_hours(quiet) if quiet else None
    if quiet and hours is None:
        raise Refused(say("trigger.bad_quiet"))
    return hours


def _bare(text: str) -> str:
    return text.strip(" \"“”「」『』'")


def _words(text: str) -> tuple[str, ...]:
    """Return the quoted texts, or without quotes the whole text."""
    quoted = tuple(word for each in _QUOTED.findall(text) if (word := each[1:-1].strip()))
    left = _AND.sub("", _QUOTED.sub(" ", text)).strip()
    return quoted if quoted and not left else tuple(word for word in (_bare(text),) if word)


async def add_trigger(
    caller: Caller,
    services: Services,
    wish: TriggerWish,
    draft: TaskDraft,
    *,
    zone: str = "",
    yes: StandingYes | None = None,
) -> Schedule:
    """Store a trigger and return it. Its tasks run on the phone that gets the notification, unless `draft` names
    another one. `zone` is the time zone of the quiet hours; `yes` is a standing approval. Raises NotAllowed, Refused
    and BadText.
    """
    if len(wish.words) > MOST_WORDS or any(len(each) > 200 for each in (*wish.words, wish.sender, wish.app)):
        raise Refused(say("trigger.too_many_words", most=MOST_WORDS))
    info = phone_named(wish.phone, open_phones(caller, services))
    try:
        phone = services.phones.get(info.id)
        if not isinstance(phone, NotificationSource):
            raise Refused(say("trigger.not_read", phone=info.name))
        package, app = await _app(phone, wish.app) if wish.app else (await phone.sms_app(), "")
    except PhoneError as away:
        raise Refused(said(sentence_of(away))) from away
    if not package:
        raise Refused(say("trigger.no_sms", phone=info.name))
    trigger = Trigger(
        phone=info.id,
        phone_name=info.name,
        package=package,
        app=app,
        sender=wish.sender,
        words=wish.words,
        quiet=wish.quiet,
        per_hour=wish.per_hour,
    )
    draft = draft if draft.device else replace(draft, device=info.id)
    commands = ScheduleCommands(caller, services)
    plan = await commands.plan_trigger(trigger, trigger_words(trigger), draft, zone=zone, yes=yes)
    due = next_due(plan.rule, after=0.0, begun=0.0)
    assert due is not None, "a trigger is never over"
    return await commands.add(plan, due)


async def _app(phone: Phone, name: str) -> tuple[str, str]:
    """Return package and name of the app with this name. Raises Refused."""
    apps = await phone.apps() if isinstance(phone, AppSource) else ()
    for app in apps:
        if name.casefold() in {app.label.casefold(), app.package.casefold()}:
            return app.package, app.label
    if _PACKAGE.fullmatch(name):
        return name, name
    raise Refused(say("trigger.no_app", name=name[:60], phone=phone.info.name))


def trigger_words(trigger: Trigger) -> str:
    """Return one line that describes the notifications that start the task."""
    name = trigger.phone_name
    begins = say("trigger.when", phone=name, app=trigger.app) if trigger.app else say("trigger.when_sms", phone=name)
    words = [begins]
    if trigger.sender:
        words.append(say("trigger.from", sender=trigger.sender))
    words += [say("trigger.with", words=word) for word in trigger.words]
    return " ".join(words)
