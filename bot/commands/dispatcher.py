"""The entry point for everything that happens in chats: checks access first, then runs the command, and never
raises.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from agent.error_mapping import fault_of
from bot.application.access import Refused, audited, require, verdict
from bot.application.services import Services
from bot.cards.buttons import ButtonAction, ButtonData
from bot.commands import accounts, admin, answers, hand, memory, overview, people, phones, scheduling, skills, tasks
from bot.commands.backlog import STEER, MissedLists, claimed, refuse_stale_command, store_missed
from bot.commands.completion import Suggestions
from bot.commands.free_text import FreeTextHandler, VoiceNoteHandler, meant_by_press, offer_nearest, topic_of
from bot.commands.parser import ParseError, UnknownCommand, parse, unknown_command
from bot.commands.presses import as_toast, do_press
from bot.commands.request import Request, StaleRequest, private_reply, public_reply
from bot.commands.spec import BY_NAME
from bot.domain.address import Person, Place
from bot.domain.incoming import CommandCall, ForeignText, Incoming, Invocation, Press
from bot.domain.outgoing import Reply
from bot.domain.right import Right
from bot.domain.task import TaskError
from bot.store.errors import StoreAway
from bot.texts import language_of, say, speaking
from devices.extras import load_part
from devices.recent import Recent

logger = logging.getLogger(__name__)


EVENTS_KEPT = 4096
"""Number of events that are remembered to ignore repetitions; accepted tasks are recognised in the store."""

Handler = Callable[[Request, Services], Awaitable[Reply]]


def _of_part(package: str, name: str) -> Handler:
    """The command of an optional part, imported on use."""

    async def handle(request: Request, services: Services) -> Reply:
        commands = load_part(f"{package}.commands")
        if commands is None:
            raise Refused(say("parts.absent", folder=package.replace(".", "/")))
        reply: Reply = await getattr(commands, name)(request, services)
        return reply

    return handle


HANDLERS: Mapping[str, Handler] = {
    "help": people.show_help,
    "devices": phones.devices,
    "do": tasks.do,
    "status": overview.status,
    "tasks": overview.tasks,
    "usage": overview.usage,
    "cancel": tasks.cancel,
    "pause": tasks.pause,
    "resume": tasks.resume,
    "again": tasks.again,
    "now": tasks.now,
    "schedule": scheduling.schedule,
    "schedules": scheduling.schedules,
    "watch": scheduling.watch,
    "when": _of_part("bot.triggers", "when"),
    "triggers": _of_part("bot.triggers", "triggers"),
    "webhooks": _of_part("bot.webhooks", "webhooks"),
    "answer": answers.answer,
    "screen": phones.screen,
    "hand": hand.hand,
    "file": phones.file,
    "name": phones.name,
    "remember": memory.remember,
    "forget": memory.forget,
    "memories": memory.memories,
    "skills": skills.skills,
    "skill": skills.skill,
    "tools": overview.tools,
    "save": skills.save,
    "whoami": people.whoami,
    "why": people.why,
    "people": people.people,
    "tokens": accounts.tokens,
    "pair": accounts.pair,
    "set": admin.set_setting,
    "verdicts": admin.verdicts,
    "audit": admin.audit,
}

Came = TypeVar("Came", Incoming, Invocation, Press)


class Commands:
    """Handles messages, slash commands and presses from all chats. Implements `bot.domain.chat.Intake`."""

    def __init__(self, services: Services, *, language: str = "auto") -> None:
        """`language` is a language of the text catalogue for everybody, or "auto" for each person's own as reported
        by the platform.
        """
        self._services = services
        self._language = language
        self._free_text = FreeTextHandler(services)
        self._voice_notes = VoiceNoteHandler(services, self._free_text)
        self.missed = MissedLists(services)
        """Lists what was written while the service was away; the service runs it in the background."""
        self._suggestions = Suggestions(services)
        self._seen: Recent[tuple[str, ...], asyncio.Future[bool]] = Recent(EVENTS_KEPT)
        """The latest events, and whether each was handled; one that was not is handled when it is delivered again."""

    async def message(self, incoming: Incoming) -> Reply:
        """Handle a typed command, or a text that may be about a task. People who may not use the bot get no answer,
        except one about pairing or linking in a private chat, while PAIRING is on.
        """
        reply = await self._handle_once(incoming, self._message)
        reply = replace(reply, turn=self._services.turns(incoming.place))
        if reply.message is not None and reply.message.reply_to is None:
            return replace(reply, message=replace(reply.message, reply_to=incoming.message))
        return reply

    async def invoke(self, invocation: Invocation) -> Reply:
        """Handle a slash command. A person who may not use the bot gets a refusal, or a reply about pairing or linking,
        that only they see.
        """
        return await self._handle_once(invocation, self._invoke)

    async def press(self, press: Press) -> Reply:
        """Handle a pressed button. Every press gets a reply."""
        reply = replace(
            await self._handle_once(press, self._press),
            turn=self._services.turns(press.place),
            change_turn=self._services.press_turns(press.place),
        )
        if reply.message is not None and reply.message.private and not press.stale:
            return as_toast(reply)
        return reply if reply != Reply() else Reply(toast=say("press.seen"))

    def suggestions(self, person: Person, place: Place, option: str, typed: str) -> tuple[tuple[str, str], ...]:
        """Return up to 25 suggestions for an option's value as pairs (label, value). Empty for people who may not use
        the bot.
        """
        with speaking(language_of(self._language, person.language)):
            return self._suggestions.of(person, place, option, typed)

    async def _handle_once(self, came: Came, work_on: Callable[[Came], Awaitable[Reply]]) -> Reply:
        """Handle each event once. A repeat is answered once it is known what became of the first."""
        address = came.place.address
        key = (type(came).__name__, address.platform, address.account, address.chat, came.event)
        if (first := self._seen.get(key)) is not None:
            return Reply(again=not await asyncio.shield(first))
        done = self._seen[key] = asyncio.get_running_loop().create_future()
        is_done = False
        try:
            reply = await self._with_error_replies(came, work_on)
            is_done = not reply.again
        finally:
            if not is_done:
                self._seen.pop(key, None)
            done.set_result(is_done)
        return reply

    async def _with_error_replies(self, came: Came, work_on: Callable[[Came], Awaitable[Reply]]) -> Reply:
        """Turn every error into a sentence for people."""
        language = language_of(self._language, came.person.language)
        came = replace(came, person=replace(came.person, language=language))
        with speaking(language):
            try:
                # Refusals of people who may use the bot are recorded; strangers are counted elsewhere.
                async with audited(came.person, self._services.store):
                    return await work_on(came)
            except (Refused, ParseError, TaskError) as told:
                return private_reply(str(told))
            except StoreAway as error:
                # It is told by the store itself, once, and not with a trace for everybody who tries.
                cause = error.__cause__ or error
                logger.warning("A %s from %s was not handled: %s", type(came).__name__, came.person.platform, cause)
                failed = private_reply(say("intake.failed", happened=fault_of(error).happened))
                return replace(failed, again=not await self._services.store.answers())
            except Exception as error:
                logger.exception(
                    "A %s from %s failed because of a fault in the program", type(came).__name__, came.person.platform
                )
                return private_reply(say("intake.failed", happened=fault_of(error).happened))

    async def _message(self, incoming: Incoming) -> Reply:
        if incoming.wordless:
            return await self._handle_files_only(incoming)
        if incoming.foreign is not None:
            return await self._handle_foreign(incoming, incoming.foreign)
        topic = None if incoming.command is not None else await topic_of(incoming, self._services)
        if incoming.command is None and topic is None:
            return Reply()
        request = _request(incoming)
        if not await self._may_use(request):
            return await self._reply_to_stranger(request, incoming.command or incoming.text) or Reply()
        try:
            if topic is not None and incoming.voice is not None:
                return await self._voice_notes.handle(request, topic, incoming.voice)
            if topic is not None:
                return await self._free_text.handle(request, topic, incoming.text)
            request = replace(request, prefix=_prefix(incoming))
            return await run_command(replace(request, call=parse(incoming.command or "")), self._services)
        except UnknownCommand as unknown:
            return await offer_nearest(request, unknown, self._services)
        except StaleRequest as late:
            await store_missed(late.request, self._services, self.missed)
            return Reply()

    async def _handle_foreign(self, incoming: Incoming, foreign: ForeignText) -> Reply:
        """Handle text that the sender did not write: whatever it looks like, it is no command, code or answer of
        theirs.
        """
        topic, request = await topic_of(incoming, self._services), _request(incoming)
        if topic is None:
            return Reply()
        if not await self._may_use(request):
            return await self._reply_to_stranger(request, "") or Reply()
        if incoming.voice is not None:
            raise Refused(say("voice.foreign"))
        return await self._free_text.offer_foreign(request, topic, incoming.text, foreign)

    async def _handle_files_only(self, incoming: Incoming) -> Reply:
        """Ask what to do with files that came without text. Ignored in groups, where the bot was not addressed, and
        for strangers.
        """
        if not incoming.place.private or not await self._may_use(_request(incoming)):
            return Reply()
        return public_reply(say("talk.wordless", line=incoming.wordless))

    async def _invoke(self, invocation: Invocation) -> Reply:
        request = Request(
            invocation.person,
            invocation.place,
            invocation.event,
            invocation.call,
            files=invocation.attachments,
            picked=True,
        )
        if not await self._may_use(request):
            typed = f"{invocation.call.name} {request.option('code')}"
            if (offered := await self._reply_to_stranger(request, typed)) is not None:
                return offered
            ids = people.ids_of(invocation.person, invocation.place)
            raise Refused(f"{say('intake.refused')}\n{ids}")
        if invocation.call.name not in BY_NAME:
            raise Refused(unknown_command(invocation.call.name))
        return await run_command(request, self._services)

    async def _press(self, press: Press) -> Reply:
        request = _request(press)
        if not await self._may_use(request):
            raise Refused(say("press.refused"))
        return await do_press(press, request, self._services, self._free_text, self._run_stored)

    async def _run_stored(self, data: ButtonData, request: Request) -> Reply:
        """Carry out a missed or mistyped command, once. If it is refused, the button can be pressed again."""
        if data.action is ButtonAction.TRY:
            async with meant_by_press(request, data.subject, self._free_text, self._services) as typed:
                return await run_command(typed, self._services)
        missed, meant = await claimed(data, request, self._services)
        try:
            is_note = meant.call.name == STEER
            reply = await (self._free_text.steer_missed(meant) if is_note else run_command(meant, self._services))
        except BaseException:
            await self._services.store.missed.release(missed.id)
            raise
        await self.missed.show_again(missed)
        return reply

    async def _reply_to_stranger(self, request: Request, text: str) -> Reply | None:
        """The answer to a stranger: what their code does, a code to be let in, or nothing."""
        linked = await accounts.typed_by_stranger(request, self._services, text)
        return linked or accounts.offer(request, self._services)

    async def _may_use(self, request: Request) -> bool:
        """Whether the person may use the bot here; a refusal is only counted."""
        found = verdict(request, self._services.policy, Right.USE)
        if not found.allowed:
            failed = next(check.name for check in found.checks if not check.passed)
            await self._services.store.refusals.count(request.address.platform, failed)
        return found.allowed


async def run_command(request: Request, services: Services) -> Reply:
    """Carry out the command of a request and return the reply. Raises Refused, NotAllowed, StaleRequest, ParseError
    or TaskError.
    """
    require(request, services.policy, BY_NAME[request.call.name].right)
    await refuse_stale_command(request, services)
    return await HANDLERS[request.call.name](request, services)


def _request(came: Incoming | Press) -> Request:
    if isinstance(came, Press):
        return Request(came.person, came.place, came.event, CommandCall(""))
    return Request(
        came.person,
        came.place,
        came.event,
        CommandCall(""),
        message=came.message,
        files=came.attachments,
        stale=came.stale,
        written=came.written,
        text=came.text,
        lead=came.lead,
        carries=came.carries,
        device=came.device,
    )


def _prefix(incoming: Incoming) -> str:
    """The prefix of the command as typed, so that examples can be shown in the same form."""
    text, command = incoming.text.strip(), (incoming.command or "").strip()
    if not command:
        return f"{text} " if text else ""
    return text.removesuffix(command) if text.endswith(command) else ""
