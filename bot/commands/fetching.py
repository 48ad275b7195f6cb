"""A file from a phone to the chat, when a person asks for it by name."""

from __future__ import annotations

from bot.access import Right
from bot.chats.outgoing import Message, Picture, Reply
from bot.commands.choose import require_usable
from bot.commands.phones import phone_meant, user_of
from bot.commands.request import Refused, Request, Services, may_see, verdict
from bot.store.audit import AuditKind
from bot.texts import listed, say, words
from devices.errors import FileRejected, PhoneError
from devices.phone import PhoneInfo
from devices.storage import StoredFile, run_of, safe_name
from devices.wording import said, sentence_of

MAX_FILE = 50 * 1024 * 1024
"""Bytes, whatever a chat takes: the file is held in memory while it is sent."""
MEGABYTE = 1_000_000
SHOWN = 5
"""Older files of the same name that are told."""
WISH_SHOWN = 80


async def file(request: Request, services: Services) -> Reply:
    """The newest file of a phone's shared storage with this name, part of a name, pattern or path."""
    info = await phone_meant(request, services)
    require_usable(info)
    wish = request.call.rest.strip()
    await _require_free(info, wish, request, services)
    try:
        phone = services.phones.get(info.id)
        search = await phone.find_files(wish)
        found = await _shown(search.files, request, services)
        stopped = [say("fetch.stopped", name=info.name, number=search.stopped_at)] if search.stopped_at else []
        if not found:
            if search.files:
                await _refused(words("audit.detail.hidden", file=f"{info.name} {wish}"), request, services)
            raise Refused("\n".join([say("fetch.none", name=info.name, wish=wish[:WISH_SHOWN]), *stopped]))
        limit = _limit(request, services)
        if found[0].size > limit:
            why = words("audit.detail.large", file=f"{info.name} {found[0].path}", size=found[0].size)
            await _refused(why, request, services)
            size, most = f"{found[0].size / MEGABYTE:.1f}", f"{limit / MEGABYTE:.0f}"
            raise Refused(say("fetch.too_large", file=found[0].path, name=info.name, size=size, limit=most))
        data = await phone.pull(found[0].path, limit=limit)
    except PhoneError as error:
        if isinstance(error, FileRejected):
            await _refused(words("audit.detail.elsewhere", file=f"{info.name} {wish}"), request, services)
        raise Refused(say("fetch.failed", name=info.name, why=said(sentence_of(error)))) from error
    detail = words("audit.detail.fetched", file=f"{info.name} {found[0].path}", size=len(data))
    await services.store.audit.note(AuditKind.FETCHED, request.person, detail=detail)
    body = "\n".join([_told(found), *stopped])
    return Reply(Message(heading=info.name, body=body, files=(Picture(safe_name(found[0].name), data),)))


async def _refused(why: str, request: Request, services: Services) -> None:
    """Keep in the audit what was not given to somebody who may use the phone."""
    await services.store.audit.note(AuditKind.NOT_FETCHED, request.person, detail=why)


async def _require_free(phone: PhoneInfo, wish: str, request: Request, services: Services) -> None:
    """Raise Refused while the phone works for somebody else: what it makes there is theirs. An admin may."""
    used = await user_of(phone, services)
    if used is None or services.policy.same(used.person, request.person):
        return
    if not verdict(request, services.policy, Right.ADMIN).allowed:
        why = words("audit.detail.busy", file=f"{phone.name} {wish}", task=used.id)
        await _refused(why, request, services)
        person = used.person.name or used.person.id
        raise Refused(say("fetch.used", name=phone.name, task=used.id, person=person))


async def _shown(found: tuple[StoredFile, ...], request: Request, services: Services) -> tuple[StoredFile, ...]:
    """Without what came with tasks that may not be shown here: somebody gave it in another chat, perhaps in private."""
    runs = {run for each in found if (run := run_of(each.path))}
    hidden = {run for run in runs if not await _may_see_run(run, request, services)}
    return tuple(each for each in found if run_of(each.path) not in hidden)


async def _may_see_run(run: str, request: Request, services: Services) -> bool:
    task = await services.desk.get(run.partition("-")[0])
    if task is None:
        return verdict(request, services.policy, Right.ADMIN).allowed
    return may_see(request, services.policy, task)


def _limit(request: Request, services: Services) -> int:
    """Bytes that go to this chat."""
    chat = services.chats.get(request.address.platform)
    return min(MAX_FILE, chat.capabilities.file_limit) if chat is not None else MAX_FILE


def _told(found: tuple[StoredFile, ...]) -> str:
    rest = found[1:]
    older = listed(each.path for each in rest[:SHOWN])
    return "\n".join([found[0].path, *([say("fetch.others", number=len(rest), names=older)] if rest else [])])
