"""The commands `devices`, `screen`, `name` and `file`, which use phones without starting a task."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from agent.run import RunId
from bot.application.access import Caller, Refused, may_see, verdict
from bot.application.phones import look, open_phones, phone_meant, phone_named, require_usable, state_of
from bot.application.services import Services
from bot.cards.picture import draw_screen, whole_screen
from bot.commands.request import Request, public_reply
from bot.domain.outgoing import Message, Picture, Reply
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.store.audit import AuditKind, FileDetail
from bot.tasks.input import health_words
from bot.texts import listed, say
from devices.errors import FileRejected, NameTaken, NameUnfit, PhoneError
from devices.names import LONGEST, readable
from devices.phone import Health, PhoneInfo
from devices.storage import StoredFile, run_of, safe_name
from devices.wording import said, sentence_of

QUOTED = re.compile(r"""(["'])(?P<phone>[^"']+)\1\s+(?P<rest>.+)""", re.DOTALL)
"""A phone's name in quotes, and what follows."""


async def devices(request: Request, services: Services) -> Reply:
    """List every phone with its state, what it shows, and who uses it."""
    lines = await phone_lines(request, services)
    return public_reply("\n".join(lines), heading=say("devices.heading")) if lines else public_reply(say("phone.none"))


async def phone_lines(caller: Caller, services: Services) -> list[str]:
    """Return the lines that describe each phone that the caller may use."""
    await services.phones.refresh()
    active = await services.task_service.active()
    phones = open_phones(caller, services)
    return [_lines(phone, active, services.remote_control.held_by(phone.id)) for phone in phones]


async def screen(request: Request, services: Services) -> Reply:
    """Show a current screenshot of a phone."""
    info = await phone_meant(request, request.option("device"), services)
    seen, image = await look(request, info, services)
    words = [seen.app_name or readable(seen.package), say("screen.locked") if seen.locked else ""]
    message = Message(heading=info.name, body=" · ".join(word for word in words if word))
    if request.flag("full"):
        file = Picture("screen.png", await asyncio.to_thread(whole_screen, image))
        return Reply(replace(message, files=(file,)))
    picture = Picture("screen.jpg", await asyncio.to_thread(draw_screen, image))
    return Reply(replace(message, picture=picture))


async def name(request: Request, services: Services) -> Reply:
    """Rename a phone: `name --device Pixel Desk`, or `name Pixel Desk`."""
    info, wish = _renamed(request, services.phones.list())
    if not wish:
        raise Refused(say("name.missing", name=info.name))
    try:
        named = await services.phones.rename(info.id, wish)
    except NameTaken as taken:
        raise Refused(say("name.taken", name=wish[:LONGEST])) from taken
    except NameUnfit as unfit:
        raise Refused(say("name.unfit", longest=LONGEST)) from unfit
    await services.store.audit.note(AuditKind.NAMED, request.person, detail=f"{info.id} {info.name} → {named.name}")
    return public_reply(say("name.done", old=info.name, new=named.name))


def _renamed(request: Request, phones: Sequence[PhoneInfo]) -> tuple[PhoneInfo, str]:
    """The phone and its new name. Typed without an option, the text begins with the phone's name; the longest match
    counts.
    """
    text = request.call.rest.strip()
    if wished := request.option("device"):
        return phone_named(wished, phones), text
    if not text:
        raise Refused(say("name.which", example=f"{request.prefix}{say('command.name.example')}"))
    quoted = QUOTED.match(text)
    if quoted is not None:
        return phone_named(quoted["phone"], phones), quoted["rest"].strip()
    called = {word.casefold(): word for phone in phones for word in (phone.name, phone.id, phone.serial)}
    folded = f"{text.casefold()} "
    found = max((word for word in called if folded.startswith(f"{word} ")), key=len, default="")
    if not found:
        return phone_named(text.partition(" ")[0], phones), text.partition(" ")[2].strip()
    return phone_named(called[found], phones), text[len(found) :].strip()


def _lines(phone: PhoneInfo, active: tuple[Task, ...], held_by: str) -> str:
    facts = [
        phone.model if phone.model != phone.name else "",
        say("devices.android", version=phone.android) if phone.android else "",
        say("cli.devices.host", host=phone.host) if phone.host else "",
        say("devices.battery", percent=phone.battery) if phone.battery is not None else "",
        say("devices.virtual") if phone.virtual else "",
        say("devices.app", app=phone.app_name or readable(phone.app)) if phone.app else "",
    ]
    state = health_words(phone.health) if phone.health is Health.READY else state_of(phone)
    first = say("devices.line", name=phone.name, id=phone.id, state=state)
    mine = [task for task in active if task.phone == phone.id]
    user = next((task for task in mine if task.state is not TaskState.QUEUED), None)
    waiting = sum(task.state is TaskState.QUEUED for task in mine)
    if user is not None:
        facts.append(say("devices.used", task=user.called, person=user.person.name or user.person.id))
    if waiting:
        facts.append(say("devices.waiting", number=waiting))
    if held_by:
        facts.append(say("devices.held", person=held_by))
    second = " · ".join(fact for fact in facts if fact)
    return f"{first}\n  {second}" if second else first


MAX_FILE = 50 * 1024 * 1024
"""Maximum bytes of a file, as it is held in memory while it is sent, whatever the chat allows."""
MEGABYTE = 1_000_000
SHOWN = 5
"""Maximum older files with the same name that are mentioned."""
WISH_SHOWN = 80


async def file(request: Request, services: Services) -> Reply:
    """Send the newest file in a phone's shared storage whose name or path matches. The match may be a name, part of a
    name, a pattern or a path.
    """
    info = await phone_meant(request, request.option("device"), services)
    require_usable(info)
    if not info.capabilities.files:
        raise Refused(say("fetch.no_files", name=info.name))
    wish = request.call.rest.strip()
    await _require_free(info, wish, request, services)
    try:
        phone = services.phones.get(info.id)
        search = await phone.find_files(wish)
        found = await _shown(search.files, request, services)
        stopped = [say("fetch.stopped", name=info.name, number=search.stopped_at)] if search.stopped_at else []
        if not found:
            if search.files:
                await _refused(FileDetail(what="hidden", file=f"{info.name} {wish}"), request, services)
            raise Refused("\n".join([say("fetch.none", name=info.name, wish=wish[:WISH_SHOWN]), *stopped]))
        limit = _limit(request, services)
        if found[0].size > limit:
            why = FileDetail(what="large", file=f"{info.name} {found[0].path}", size=found[0].size)
            await _refused(why, request, services)
            size, most = f"{found[0].size / MEGABYTE:.1f}", f"{limit / MEGABYTE:.0f}"
            raise Refused(say("fetch.too_large", file=found[0].path, name=info.name, size=size, limit=most))
        data = await phone.pull(found[0].path, limit=limit)
    except PhoneError as error:
        if isinstance(error, FileRejected):
            await _refused(FileDetail(what="elsewhere", file=f"{info.name} {wish}"), request, services)
        raise Refused(say("fetch.failed", name=info.name, why=said(sentence_of(error)))) from error
    detail = FileDetail(what="fetched", file=f"{info.name} {found[0].path}", size=len(data))
    await services.store.audit.note(AuditKind.FETCHED, request.person, detail=detail)
    body = "\n".join([_files_text(found), *stopped])
    return Reply(Message(heading=info.name, body=body, files=(Picture(safe_name(found[0].name), data),)))


async def _refused(why: FileDetail, request: Request, services: Services) -> None:
    """Record in the audit that a file was refused to somebody who may use the phone."""
    await services.store.audit.note(AuditKind.NOT_FETCHED, request.person, detail=why)


async def _require_free(phone: PhoneInfo, wish: str, request: Request, services: Services) -> None:
    """Raise Refused while the phone works for another person, whose files these may be. Admins may."""
    used = await services.task_service.working_on(phone.id)
    if used is None or services.policy.same(used.person, request.person):
        return
    if not verdict(request, services.policy, Right.ADMIN).allowed:
        why = FileDetail(what="busy", file=f"{phone.name} {wish}", task=used.id)
        await _refused(why, request, services)
        person = used.person.name or used.person.id
        raise Refused(say("fetch.used", name=phone.name, task=used.id, person=person))


async def _shown(found: tuple[StoredFile, ...], request: Request, services: Services) -> tuple[StoredFile, ...]:
    """The files without those of tasks that may not be shown here, as they may have been sent in a private chat."""
    runs = {run for each in found if (run := run_of(each.path))}
    hidden = {run for run in runs if not await _may_see_run(run, request, services)}
    return tuple(each for each in found if run_of(each.path) not in hidden)


async def _may_see_run(run: str, request: Request, services: Services) -> bool:
    try:
        task = await services.task_service.get(RunId.parse(run).task)
    except ValueError:
        task = None  # whoever made this folder was no run
    if task is None:
        return verdict(request, services.policy, Right.ADMIN).allowed
    return may_see(request, services.policy, task)


def _limit(request: Request, services: Services) -> int:
    """Maximum bytes of a file in this chat."""
    chat = services.chats.get(request.address.platform)
    return min(MAX_FILE, chat.capabilities.file_limit) if chat is not None else MAX_FILE


def _files_text(found: tuple[StoredFile, ...]) -> str:
    rest = found[1:]
    older = listed(each.path for each in rest[:SHOWN])
    return "\n".join([found[0].path, *([say("fetch.others", number=len(rest), names=older)] if rest else [])])
