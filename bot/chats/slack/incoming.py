"""Handles what people do in Slack: messages, slash commands, and pressed buttons and menus, which are recognised by
their values alone. Answers are given where the person acted.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from slack_sdk.web.async_client import AsyncWebClient

from bot.chats.fetching import Attached, Fetcher, IsAllowed
from bot.chats.incoming import Lateness, MessageResponder, NotAccepted, answer, changed, message_of
from bot.chats.slack import errors
from bot.chats.slack.places import Account, person_of
from bot.chats.slack.sending import Sender
from bot.commands.people import ids_of
from bot.domain.address import MessageRef, Person, on_one_line
from bot.domain.chat import ChatError, FloodWait, Intake
from bot.domain.incoming import ForeignText, Incoming, Press, Voice, orders_work
from bot.domain.outgoing import Message
from bot.texts import language_of, say, speaking
from devices.recent import Recent

logger = logging.getLogger(__name__)

_KINDS: Final = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of messages by people (Events API, message). All others, including edits, are ignored."""

_NUMBER: Final = re.compile(r"\d{1,12}\.\d{1,9}")
"""Id of a message, which is also the time at which it was written: Unix seconds (Web API, ts)."""

_REMEMBERED: Final = 1024
"""People whose profile is remembered; our choice."""

Raw = Mapping[str, Any]


class People:
    """Looks up people in Slack, and decides whether they belong to a workspace that may use the bot at all."""

    def __init__(self, teams: Sequence[str]) -> None:
        """`teams` are the allowed workspaces in addition to the bot's own."""
        self._teams = frozenset(teams)
        self._users: Recent[str, Raw] = Recent(_REMEMBERED)

    async def known(self, client: AsyncWebClient, account: Account, user: str, *teams: object) -> Person | None:
        """Return the person with the id `user`. None for a bot, for somebody whose workspace is unknown, and for people
        of a workspace that may not use the bot, as in shared channels; they are refused even if a list allows the
        channel. `teams` are the workspaces that the event names.
        """
        told = self._users.get(user)
        if told is None:
            try:
                async with errors.translated("a look at a person"):
                    told = (await client.users_info(user=user, include_locale=True))["user"]
                self._users[user] = told
            except (ChatError, FloodWait) as refused:
                logger.info("Name and language of a person stay unknown: %s", refused)
                told = {}
        named = {str(team) for team in (told.get("team_id"), *teams) if team}
        ours = bool(named) and named <= self._teams | {account.team}
        return person_of(user, told) if ours and not told.get("is_bot") else None


def _file(raw: Raw) -> Attached:
    """Return a file as Slack describes it. One that is stored elsewhere or hidden has no URL."""
    hosted = raw.get("mode") not in {"external", "tombstone", "hidden_by_limit"} and not raw.get("is_external")
    url = str(raw.get("url_private_download") or raw.get("url_private") or "") if hosted else ""
    return Attached(str(raw.get("name") or "file"), int(raw.get("size") or 0), url)


def _shared(event: Raw) -> list[Raw]:
    """The messages of others that a person forwards below their own text."""
    return [one for one in event.get("attachments") or () if one.get("is_share") or one.get("is_msg_unfurl")]


class Messages:
    """Turns each Slack message into an Incoming, and sends the reply below the message."""

    def __init__(
        self,
        intake: Intake,
        sender: Sender,
        fetcher: Fetcher,
        people: People,
        welcome: IsAllowed,
        language: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._is_allowed = welcome
        self._intake = intake
        self._sender = sender
        self._fetcher = fetcher
        self._people = people
        self._language = language
        self._clock = clock
        self._lateness = Lateness(clock)

    async def handle(self, event: Raw, client: AsyncWebClient, account: Account) -> None:
        """Pass a person's message to the intake (the handler of everything that people do in chats). Bots, notices,
        edits and people of workspaces that may not use the bot are ignored. Raises NotAccepted if Slack must deliver
        the message again.
        """
        user, channel, number = (str(event.get(key) or "") for key in ("user", "channel", "ts"))
        if event.get("bot_id") or str(event.get("subtype") or "") not in _KINDS or user in {"", account.id}:
            return
        if event.get("edited"):
            return  # editing a mention sends it again as the same message
        if not channel or not _NUMBER.fullmatch(number):
            return
        teams = (event.get(key) for key in ("user_team", "source_team", "team"))
        person = await self._people.known(client, account, user, *teams)
        if person is not None:
            with speaking(language_of(self._language, person.language)):
                await self._process(event, client, account, person)

    async def _process(self, event: Raw, client: AsyncWebClient, account: Account, person: Person) -> None:
        channel, thread = str(event["channel"]), str(event.get("thread_ts") or "")
        own = account.ref(channel, event)
        place = account.place(channel, own.address.thread)
        shared = _shared(event)
        foreign = ForeignText(on_one_line(str(shared[0].get("author_name") or ""))) if shared else None
        texts = [event.get("text"), *(one.get("text") for one in shared)]
        text = "\n".join(account.readable(str(one)) for one in texts if one)
        command = account.command_in(text) if foreign is None else None
        raw = [*(event.get("files") or ()), *(file for one in shared for file in one.get("files") or ())]
        spoken = _voice(raw, self._fetcher) if not text.strip() else None
        wordless = bool(raw) and not text.strip() and spoken is None
        if not text.strip() and not raw:
            return
        # In a private chat a text may still become a task by a press, with its files.
        wanted = (command is not None or place.private) and not wordless and spoken is None
        meant: list[Raw] = list(raw) if wanted else []
        above: Sequence[Raw] | None = ()
        if orders_work(command) and thread and event.get("parent_user_id") != account.id:
            above = await _files_above(client, channel, thread)
            meant += above or ()
        files, lost = await self._fetcher.fetch(person, place, [_file(one) for one in meant])
        if above is None:
            lost = "\n".join(filter(None, [lost, say("chats.unseen")]))
        written = float(own.message)
        incoming = Incoming(
            person=person,
            place=place,
            event=f"{channel}:{own.message}",
            text=text,
            command=command,
            reply_to=MessageRef(account.place(channel).address, thread) if thread and foreign is None else None,
            to_bot=place.private and event.get("parent_user_id") == account.id,
            message=own,
            attachments=files,
            stale=self._lateness.is_stale(written, command),
            written=written,
            voice=spoken,
            lead=f"@{account.name} ",
            carries=bool(raw) and spoken is None,
            foreign=foreign,
            wordless=f"@{account.name} do" if wordless else "",
        )
        reply = await self._intake.message(incoming)
        if reply.again:
            raise NotAccepted
        await answer(MessageResponder(self._sender, person), own, reply, lost)

    async def slash(self, payload: Raw, client: AsyncWebClient, account: Account) -> None:
        """Pass a slash command to the intake (the handler of everything that people do in chats), and answer it so that
        only its sender sees the answer.
        """
        user, channel, name = (str(payload.get(key) or "") for key in ("user_id", "channel_id", "command"))
        person = await self._people.known(client, account, user, payload.get("team_id"))
        url = str(payload.get("response_url") or "")
        if person is None:
            await refuse(self._sender, url, "", self._language)
            return
        with speaking(language_of(self._language, person.language)):
            place, command = account.place(channel), account.readable(str(payload.get("text") or "")).strip()
            reply = await self._intake.message(
                Incoming(
                    person=person,
                    place=place,
                    event=str(payload.get("trigger_id") or ""),
                    text=f"{name} {command}",
                    command=command,
                    written=self._clock(),
                    lead=f"{name} ",
                )
            )
            # The bot only stays silent where others read along; here Slack would show nothing at all.
            welcome = self._is_allowed(person, place)
            silence = say("slack.received") if welcome else f"{say('intake.refused')}\n{ids_of(person, place)}"
            said = message_of(reply) or Message(body=silence)
            if said.files:
                private = await self._sender.private(place.address, person)
                await self._sender.send(private, said, nonce=f"slash:{payload.get('trigger_id')}", turn=reply.turn)
            else:
                await self._sender.whisper(url, said, "")


async def refuse(sender: Sender, url: str, thread: str, language: str) -> None:
    """Tell a person of another workspace, or a bot, that they may not use this bot. `url` is the address for the answer
    that came with their request.
    """
    with speaking(language_of(language, "")):
        await sender.whisper(url, Message(body=say("slack.stranger")), thread)


def _voice(raw: Sequence[Raw], fetcher: Fetcher) -> Voice | None:
    """Return an audio clip as a voice note, which is downloaded only when it is transcribed."""
    spoken = next((one for one in raw if one.get("subtype") == "slack_audio"), None)
    if spoken is None:
        return None
    file = _file(spoken)
    ending = str(spoken.get("filetype") or "mp4")
    seconds = float(spoken.get("duration_ms") or 0) / 1000
    return Voice(f"voice.{ending}", seconds, file.size, partial(fetcher.recording, file))


async def _files_above(client: AsyncWebClient, channel: str, thread: str) -> list[Raw] | None:
    """List the files of a thread's first message, which everybody in the thread sees; None if it cannot be read."""
    try:
        async with errors.translated("a look at the thread"):
            found = await client.conversations_replies(channel=channel, ts=thread, limit=1)
    except (ChatError, FloodWait) as refused:
        logger.info("Files of a thread's first message stay behind: %s", refused)
        return None
    first: Raw = next(iter(found.get("messages") or ()), {})
    return list(first.get("files") or ())


class Presses:
    """Answers every press of every button, known or not."""

    def __init__(self, intake: Intake, sender: Sender, people: People, language: str) -> None:
        self._intake = intake
        self._sender = sender
        self._people = people
        self._language = language

    async def handle(self, payload: Raw, client: AsyncWebClient, account: Account) -> None:
        """Pass a press to the intake (the handler of everything that people do in chats), update the pressed message,
        and show the person what the message does not say.

        If only one person sees the pressed message, Slack sends its place but not its content.
        """
        user, channel = payload.get("user") or {}, str((payload.get("channel") or {}).get("id") or "")
        shown_at: Raw = payload.get("container") or {}
        alone = bool(shown_at.get("is_ephemeral"))
        place = {"ts": shown_at.get("message_ts") or "", "thread_ts": shown_at.get("thread_ts") or ""}
        message: Raw = payload.get("message") or place
        action: Raw = next(iter(payload.get("actions") or ()), {})
        if payload.get("type") != "block_actions" or not channel or not message.get("ts") or not user.get("id"):
            return
        ref = account.ref(channel, message)
        person = await self._people.known(client, account, str(user["id"]), user.get("team_id"))
        url, thread = str(payload.get("response_url") or ""), str(message.get("thread_ts") or "")
        if person is None:
            await refuse(self._sender, url, thread, self._language)
            return
        with speaking(language_of(self._language, person.language)):
            event = str(payload.get("trigger_id") or "")
            press = Press(person, account.place(channel, ref.address.thread), event, _data(action), ref)
            reply = await self._intake.press(press)
            if alone and reply.shown is not None:
                await self._sender.whisper(url, reply.shown, thread, replace_original=True)
            strip = partial(self._sender.without_buttons, shown=message)
            shows = reply.shown is not None if alone else await changed(reply, ref, self._sender.edit, strip)
            said = message_of(reply)
            if said is not None and (not shows or reply.dead):
                await self._sender.whisper(url, said, thread)


def _data(action: Raw) -> str:
    chosen = action.get("selected_option") or action
    return str(chosen.get("value") or "")
