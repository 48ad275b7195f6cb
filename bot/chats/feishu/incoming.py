"""Passes each event from people to the intake (the handler of everything that people do in chats) once, and answers
where it happened.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from bot.chats.connection import end
from bot.chats.feishu import limits
from bot.chats.feishu.api import NO_SCOPES, Api, Refused
from bot.chats.feishu.cards import MESSAGE, PLATFORM
from bot.chats.feishu.events import (
    CardEvent,
    ChatEvent,
    Content,
    FeishuModel,
    Fetched,
    FileKey,
    Header,
    MessageEvent,
    content_of,
)
from bot.chats.feishu.limits import Times
from bot.chats.feishu.sending import Sender, refusals
from bot.chats.fetching import Download, Downloads, TooLarge
from bot.chats.incoming import (
    Lateness,
    MessageResponder,
    NotAccepted,
    accepted,
    answer,
    changed,
    message_of,
    not_accepted,
    was_accepted,
)
from bot.domain.address import Address, MessageRef, Person, Place, on_one_line
from bot.domain.chat import ChatError, FloodWait, Intake, Record
from bot.domain.incoming import Attachment, ForeignText, Incoming, Press, Voice, orders_work
from bot.domain.outgoing import Message, Reply, at_once
from bot.texts import language_of, say, speaking
from devices.recent import Recent

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Envelope(FeishuModel):
    """An event of Feishu's schema 2.0, with its content not yet parsed."""

    header: Header
    event: Any = None


ROOT: Final = "opengui"
"""`/opengui do …` means the same as `/do …`."""
_REMEMBERED: Final = 2048
"""Events and people that are remembered, to recognise repeats and know names; our choice."""
_COMMAND: Final = re.compile(r"/(?P<name>\w+)(?:\s+(?P<rest>.*))?$", re.DOTALL)
_KEY: Final = re.compile(r"@_user_\d+|@_all\b")


@dataclass(frozen=True, slots=True)
class App:
    """The app that receives the events: its id, its bot's id and name, and the language of its people."""

    id: str
    bot: str
    name: str
    locale: str
    tenants: frozenset[str] = frozenset()
    """Tenants whose people are heard, besides the one in which the app is installed."""


class Events:
    """Handles events in JSON. `welcome` decides whose files are downloaded; `lost` is called for chats that were
    dissolved or from which the bot was removed.
    """

    def __init__(
        self,
        api: Api,
        app: App,
        intake: Intake,
        sender: Sender,
        names: Collection[str],
        language: str,
        welcome: Callable[[Person, Place], bool],
        lost: Callable[[Address], Awaitable[None]],
        times: Times,
        record: Record,
    ) -> None:
        self._api, self._app, self._intake, self._sender = api, app, intake, sender
        self._names = frozenset(names)
        self._language = language_of(language, app.locale)
        self._is_allowed, self._on_lost, self._times, self._lateness = welcome, lost, times, Lateness()
        self._record = record
        self._people = People(api)
        self._downloads = Downloads("Feishu", limits.INCOMING_BYTES)
        self._seen: Recent[str, None] = Recent(_REMEMBERED)
        self._message_tasks: Recent[str, asyncio.Task[bool]] = Recent(_REMEMBERED)
        """Messages, and what becomes of each; one that was not accepted is handled when it comes again."""
        self._foreign_messages: Recent[str, None] = Recent(_REMEMBERED)
        """Messages that the bot has not sent."""
        self._background_tasks: set[asyncio.Task[Any]] = set()

    async def take(self, payload: bytes) -> dict[str, Any] | None:
        """Begin to handle an event, and return the answer if it is ready within `Times.answer`: a notice for a press,
        None for anything else. Raises NotAccepted if Feishu must deliver the event again because the record (the stored
        data) does not answer.
        """
        try:
            event = Envelope.model_validate_json(payload)
            header = event.header
            if header.app_id != self._app.id or not header.event_id:
                return None
            with speaking(self._language):
                match header.event_type:
                    case "im.message.receive_v1":
                        await self._handle_message_once(MessageEvent.model_validate(event.event), header)
                    case "card.action.trigger" if self._first_time(header.event_id):
                        return await self._press(CardEvent.model_validate(event.event), header)
                    case "im.chat.member.bot.deleted_v1" | "im.chat.disbanded_v1":
                        chat = ChatEvent.model_validate(event.event)
                        self._spawn(self._on_lost(Address(PLATFORM, self._app.id, chat.chat_id, header.tenant_key)))
        except (ValidationError, RecursionError) as odd:
            logger.warning("An event from Feishu could not be decoded and was ignored: %s", type(odd).__name__)
        return None

    async def close(self) -> None:
        """Cancel the handling of events that is in progress."""
        await end(self._background_tasks, 2.0)

    async def _handle_message_once(self, event: MessageEvent, header: Header) -> None:
        name = event.message.message_id
        work = self._message_tasks.get(name)
        if work is None or (work.done() and not was_accepted(work)):
            work = self._message_tasks[name] = self._spawn(self._message(event, header))
        await asyncio.wait({work}, timeout=self._times.answer)
        if await not_accepted({work}, self._record):
            raise NotAccepted

    def _spawn(self, work: Awaitable[None]) -> asyncio.Task[bool]:
        return self._tracked(accepted(work, "Feishu"))

    def _tracked(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)
        return task

    def _is_allowed_tenant(self, tenant: str, header: Header) -> bool:
        """Whether people of this tenant are heard; by default, those of other companies in a shared chat are not."""
        return bool(tenant) and (tenant == header.tenant_key or tenant in self._app.tenants)

    async def _message(self, event: MessageEvent, header: Header) -> None:
        """Pass on a person's message. Apps and other companies are ignored. Raises NotAccepted."""
        said, sender = event.message, event.sender
        person_id = sender.sender_id.open_id
        if sender.sender_type != "user" or not person_id or not self._is_allowed_tenant(sender.tenant_key, header):
            return
        private = said.chat_type == "p2p"
        thread = (said.root_id or said.message_id) if said.thread_id else ""
        chat = person_id if private else said.chat_id
        place = Place(Address(PLATFORM, self._app.id, chat, "" if private else header.tenant_key, thread), private)
        own = MessageRef(place.address, said.message_id)
        person = await self._person(person_id)
        content = content_of(said.message_type, said.content)
        welcome = self._is_allowed(person, place)
        foreign, command, text, lost = None, None, content.text, ""
        if said.message_type == "merge_forward":
            # Only bundles are marked as forwarded: Feishu presents a single forwarded message as the sender's own.
            foreign = ForeignText()
            inner = await self._messages(said.message_id) if welcome else ()
            if inner is None and private:
                await MessageResponder(self._sender, person).tell(
                    own, Message(body=say("chats.unseen")), f"lost:{own.message}", at_once
                )
            content, lost = _forwarded(inner or ())
            text = content.text
        else:
            command, text = self._command(text, event, private=private)
        spoken = self._voice(said.message_id, content) if not text else None
        wordless = bool(content.files) and not text.strip() and spoken is None
        if not text.strip() and spoken is None and command is None and not (wordless and private):
            return
        reply_to, above = await self._above(event, place, welcome=welcome, orders=orders_work(command))
        files: tuple[Attachment, ...] = ()
        if welcome and (command is not None or private) and not wordless and spoken is None:
            meant = [*(above or ()), *((said.message_id, one) for one in content.files)]
            files, left = await self._downloads.fetch([self._download(*one) for one in meant])
            lost = "\n".join(filter(None, [lost, left, say("chats.unseen") if above is None else ""]))
        written = said.create_time / 1000
        reply = await self._intake.message(
            Incoming(
                person=person,
                place=place,
                event=said.message_id,
                text=text if command is None else f"/{command}",
                command=command,
                reply_to=reply_to,
                to_bot=reply_to is not None and reply_to.message in self._sender.own,
                message=own,
                attachments=files,
                stale=self._lateness.is_stale(written, command),
                written=written,
                voice=spoken,
                lead="/" if private else f"@{self._app.name} /",
                carries=bool(content.files) and spoken is None,
                foreign=foreign,
                wordless="/do" if wordless else "",
            )
        )
        if reply.again:
            raise NotAccepted
        await answer(MessageResponder(self._sender, person), own, reply, lost)

    def _command(self, text: str, event: MessageEvent, *, private: bool) -> tuple[str | None, str]:
        """Return the command, None if there is none, and the text without a mention of the bot at its start.

        In groups people must mention the bot to be heard, even to answer. So in a thread or a reply, text after a
        mention is only a command if it begins with a command's name.
        """
        known: Mapping[str, str] = {
            one.key: "" if one.id.open_id == self._app.bot else f"@{on_one_line(one.name)}"
            for one in event.message.mentions
        }
        text = text.strip()
        mentioned = False
        while (lead := _KEY.match(text)) and known.get(lead[0]) == "":
            mentioned, text = True, text[lead.end() :].lstrip()
        ids = {one.key: f"<@{one.id.open_id}>" for one in event.message.mentions}
        plain = _KEY.sub(lambda key: known.get(key[0], key[0]), text).strip()
        found = _COMMAND.match(text)
        name = found["name"] if found is not None else text.split(maxsplit=1)[0] if text.strip() else ""
        if found is not None:
            rest = (found["rest"] or "").strip()
            if name.lower() == ROOT:
                command = rest
            elif name.lower() in self._names or private or mentioned:
                command = f"{name} {rest}".strip()
            else:
                return None, plain
        elif mentioned and (
            name.lower() in self._names or not (event.message.thread_id or event.message.parent_id) or not text
        ):
            command = text
        else:
            return None, plain
        # A task gets people's names, commands about people get their ids.
        return _KEY.sub(lambda key: (known if orders_work(command) else ids).get(key[0], key[0]), command), plain

    async def _above(
        self, event: MessageEvent, place: Place, *, welcome: bool, orders: bool
    ) -> tuple[MessageRef | None, list[tuple[str, FileKey]] | None]:
        """Return the message that this one answers, and its files if they are wanted (None: it cannot be read). In a
        thread every message answers the root, which counts only if the root is the bot's.
        """
        said, own, ref = event.message, self._sender.own, None
        parent = said.parent_id
        if not parent:
            return None, []
        found: Sequence[Fetched] | None = ()
        if welcome and parent not in own and (orders or parent not in self._foreign_messages):
            found = await self._messages(parent)
            for above in (found or ())[:1]:
                (own if above.sender.id == self._app.id else self._foreign_messages)[parent] = None
        if not said.thread_id or parent != said.root_id:
            ref = MessageRef(place.address, parent)
        elif parent in own:
            ref = MessageRef(replace(place.address, thread=""), parent)
        if not orders or parent in own:
            return ref, []
        if found is None:
            return ref, None
        return ref, [(parent, one) for above in found[:1] for one in above.content.files]

    async def _messages(self, message: str) -> list[Fetched] | None:
        """Fetch a message and those that it bundles; None if the bot cannot read it."""
        try:
            async with refusals("read"):
                answer = await self._api.call("GET", f"im/v1/messages/{message}")
            return [Fetched.model_validate(one) for one in answer["data"]["items"][: limits.FORWARDED + 1]]
        except (ChatError, FloodWait, ValidationError, LookupError, TypeError) as error:
            logger.info("A message could not be read: %s", error if isinstance(error, ChatError) else type(error))
            return None

    def _voice(self, message: str, content: Content) -> Voice | None:
        if not content.spoken or not content.files:
            return None
        spoken = self._download(message, content.files[0])
        return Voice("voice.ogg", content.spoken, 0, partial(self._downloads.recording, spoken))

    def _download(self, message: str, file: FileKey) -> Download:
        path = f"im/v1/messages/{message}/resources/{file.key}?type={'image' if file.image else 'file'}"

        async def read(room: int) -> bytes:
            async with refusals("read"):
                data = await self._api.download(path, room)
            if data is None:
                raise TooLarge
            return data

        return Download(file.name, 0, read)

    async def _press(self, event: CardEvent, header: Header) -> dict[str, Any] | None:
        """Pass a press to the intake and return its notice, or None if that takes long. The result is then sent below
        the message, unless the message itself shows it.
        """
        who, value = event.operator, event.action.value or {}
        data = event.action.option or str(value.get("data", ""))
        if not who.open_id or not data or not self._is_allowed_tenant(who.tenant_key, header):
            return None
        at = str(value.get("at", ""))
        if at == who.open_id:
            place = Place(Address(PLATFORM, self._app.id, at), private=True)
        else:
            thread = at if MESSAGE.fullmatch(at) else ""
            place = Place(Address(PLATFORM, self._app.id, event.context.open_chat_id, header.tenant_key, thread))
        ref = MessageRef(place.address, event.context.open_message_id)
        stale = self._lateness.is_late(header.written)

        async def ask() -> Reply:
            person = await self._person(who.open_id)
            return await self._intake.press(Press(person, place, header.event_id, data, ref, stale))

        asked = self._tracked(ask())  # includes looking up the name, because all of it must be in time
        await asyncio.wait({asked}, timeout=self._times.answer)
        in_time = asked.done()
        self._spawn(self._finish(asked, ref, header.event_id, Person(PLATFORM, who.open_id), in_time=in_time))
        if in_time and (toast := asked.result().toast):
            return {"toast": {"type": "info", "content": toast[: limits.TOAST]}}
        return None

    async def _finish(
        self, asked: asyncio.Future[Reply], ref: MessageRef, event: str, person: Person, *, in_time: bool
    ) -> None:
        reply = await asked
        shows = await changed(reply, ref, self._sender.edit, self._sender.without_buttons)
        late = not in_time and (reply.dead or not shows)
        said = message_of(reply) if late else reply.message
        if said is not None and not reply.task:
            await MessageResponder(self._sender, person).tell(ref, said, f"press:{event}", reply.turn)

    async def _person(self, person: str) -> Person:
        return Person(PLATFORM, person, await self._people.name(person), self._app.locale)

    def _first_time(self, event: str) -> bool:
        if event in self._seen:
            return False
        self._seen[event] = None
        return True


class People:
    """Looks up people's names, which events do not contain. Without the permission for that, people are shown by their
    ids.
    """

    def __init__(self, api: Api, clock: Callable[[], float] = time.monotonic) -> None:
        self._api, self._clock = api, clock
        self._names: Recent[str, str] = Recent(_REMEMBERED)
        self._not_before = 0.0

    async def name(self, person: str) -> str:
        """Return the name of the person with this id, "" if it cannot be read or that takes too long."""
        if person not in self._names and self._clock() >= self._not_before:
            try:
                async with asyncio.timeout(limits.NAME_SECONDS):
                    answer = await self._api.call("GET", f"contact/v3/users/{person}?user_id_type=open_id")
                self._names[person] = on_one_line(str(answer["data"]["user"]["name"]))[:64]
            except Refused as refused:
                self._names[person] = ""
                if refused.code in NO_SCOPES:
                    self._not_before = self._clock() + limits.NAME_AGAIN_SECONDS
                    logger.info("Feishu tells no names of people; give the app contact:user.base:readonly.")
            except (ChatError, FloodWait, TimeoutError) as away:
                pause = away.seconds if isinstance(away, FloodWait) else limits.NAME_AWAY_SECONDS
                self._not_before = self._clock() + pause
                logger.info("Somebody's name was not told: %s", type(away).__name__)
            except (LookupError, TypeError) as odd:
                logger.info("Somebody's name was not told: %s", type(odd).__name__)
        return self._names.get(person, "")


def _forwarded(bundle: Sequence[Fetched]) -> tuple[Content, str]:
    """Return the text of all messages in a bundle, and a sentence for each file, because none can be downloaded."""
    inner = [one.content for one in bundle if one.upper_message_id]
    lost = [say("chats.file_lost", name=file.name, platform="Feishu") for one in inner for file in one.files]
    return Content("\n".join(filter(None, (one.text for one in inner)))), "\n".join(lost)
