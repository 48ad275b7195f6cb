"""Targets that read what platforms deliver, of every kind and none, through their libraries and our adapters."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import telegram
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient
from telegram.request import BaseRequest

from bot.chats.slack.chat import SlackChat
from bot.chats.slack.places import Account
from bot.chats.telegram import updates as reader
from bot.chats.telegram.incoming import Albums, Messages, Presses
from bot.chats.telegram.sending import FloodLimits, Sender
from bot.commands.spec import BY_NAME
from bot.domain.chat import OwnRecord
from bot.people.access import Lists, Policy
from tests.bot.world import a_world
from tests.fakes.telegram import TOKEN
from tests.fuzz.running import Check, on_a_loop
from tests.fuzz.strategies import JSON, WORDS, json_with
from tests.fuzz.target import Target

BOT = 4242
LISTED = 7
GROUP = -100
"""The one group and the one person that are listed; the person only counts there, and privately."""
STRANGERS = (8, -100, 0, 2**52)


class Nowhere(BaseRequest):
    """Knows who the bot is, and refuses everything else: nothing leaves the machine."""

    @property
    def read_timeout(self) -> float | None:
        return 1.0

    async def initialize(self) -> None:
        """Nothing to open."""

    async def shutdown(self) -> None:
        """Nothing to close."""

    async def do_request(self, url: str, *_: Any, **__: Any) -> tuple[int, bytes]:
        """The answer of a server that knows no chat."""
        if url.endswith("/getMe"):
            me = {"id": BOT, "is_bot": True, "first_name": "Bot", "username": "the_bot"}
            return 200, json.dumps({"ok": True, "result": me}).encode()
        return 400, b'{"ok": false, "error_code": 400, "description": "Bad Request: chat not found"}'


class Faults(logging.Handler):
    """What the adapter calls a fault in the program."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it, with its trace."""
        self.told.append(logging.Formatter().format(record))


@asynccontextmanager
async def updates() -> AsyncIterator[Check[tuple[bool, dict[str, Any]]]]:
    """Updates as JSON: never a fault in the program, and whoever is not listed begins, answers and ends nothing."""
    policy = Policy({"telegram": Lists(frozenset(), frozenset({str(GROUP)}), frozenset({str(LISTED)}), frozenset())})
    with tempfile.TemporaryDirectory(prefix="opengui-fuzz-") as name:
        async with (
            a_world(Path(name), policy=policy) as world,
            telegram.Bot(TOKEN, request=Nowhere(), get_updates_request=Nowhere()) as bot,
        ):

            async def online() -> telegram.Bot:
                return bot

            async def moved(_old: str, _new: str) -> None:
                """Nobody asks."""

            sender = Sender(online, FloodLimits(world.clock, moved))
            messages = Messages(
                world.commands, sender, frozenset(BY_NAME), lambda _person, _place: True, moved, Albums(0.001), bool
            )
            taking = reader.Updates(bot, messages, Presses(world.commands, sender, 1.0), "auto", OwnRecord())
            faults = Faults()
            log = logging.getLogger("bot")
            log.addHandler(faults)

            async def check(came: tuple[bool, dict[str, Any]]) -> None:
                backlog, update = came
                before = await world.task_service.recent(5)
                await taking.take([json.loads(json.dumps(update))], backlog=backlog)
                after = await world.task_service.recent(5)
                assert faults.told == [], faults.told.pop()
                if LISTED not in _numbers(update):
                    assert after == before, "a stranger began or changed something"

            try:
                yield check
            finally:
                log.removeHandler(faults)
                await taking.close()


def _numbers(value: object) -> set[object]:
    """Every number in the update, wherever it stands."""
    match value:
        case dict():
            return set().union(*(_numbers(inner) for inner in value.values()))
        case list():
            return set().union(*(_numbers(inner) for inner in value))
        case int():
            return {value}
        case _:
            return set()


def fields(**each: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    """With all of these fields, or with some and more. The library checks no kinds, so those are as Telegram's."""
    return st.one_of(st.fixed_dictionaries(each), st.fixed_dictionaries(each), some(**each))


def some(**each: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    known = st.fixed_dictionaries({}, optional=each)
    return st.builds(lambda one, more: {**more, **one}, known, st.dictionaries(WORDS, JSON, max_size=1))


_person = fields(
    id=st.sampled_from([LISTED, *STRANGERS]),
    is_bot=st.just(False) | st.booleans(),
    first_name=WORDS,
    language_code=st.sampled_from(["en", "zh-hans", ""]) | WORDS,
)
_chat = fields(
    id=st.sampled_from([GROUP, LISTED, *STRANGERS]),
    type=st.sampled_from(["private", "group", "supergroup", "channel"]),
    is_forum=st.booleans(),
    title=WORDS,
)
typed_text = st.builds(
    lambda slash, name, rest: f"{slash}{name} {rest}",
    st.sampled_from(["/", "", "/opengui ", "/do@the_bot ", "//"]),
    st.sampled_from(sorted(BY_NAME)) | WORDS,
    WORDS,
)
_file = fields(
    file_id=WORDS, file_unique_id=WORDS, file_size=st.integers(0, 2**33), file_name=WORDS, duration=st.integers(0, 99)
)
_basic = {
    "message_id": st.integers(1, 9),
    "date": st.just(1_700_000_000) | st.integers(0, 2**40),
    "chat": _chat,
    "from": _person,
    "text": typed_text,
}
_message = fields(**_basic) | some(
    **_basic,
    message_thread_id=st.integers(0, 9),
    is_topic_message=st.booleans(),
    reply_to_message=fields(**_basic),
    caption=typed_text,
    document=_file,
    voice=_file,
    photo=st.lists(fields(file_id=WORDS, file_unique_id=WORDS, width=st.integers(), height=st.integers()), max_size=2),
    media_group_id=st.sampled_from(["a", "b"]),
    sender_chat=_chat,
    via_bot=_person,
    migrate_to_chat_id=st.integers(),
    forum_topic_created=st.fixed_dictionaries({}),
    entities=st.lists(fields(type=WORDS, offset=st.integers(), length=st.integers()), max_size=2),
)
_query = fields(id=WORDS, chat_instance=WORDS, data=WORDS, message=_message) | some(
    id=WORDS, chat_instance=WORDS, data=WORDS, message=_message, **{"from": _person}, inline_message_id=WORDS
)
_update = st.builds(
    lambda number, body: {"update_id": number, **body},
    st.integers(0, 2**31),
    st.one_of(
        st.builds(lambda message: {"message": message}, _message),
        st.builds(lambda query, by: {"callback_query": {**query, "from": by}}, _query, _person),
        json_with(message=_message, callback_query=_query, edited_message=_message, poll=JSON, chat_member=JSON),
    ),
)


class SlackNowhere(AsyncWebClient):
    """Tells who people are, and nothing else: nothing leaves the machine."""

    async def api_call(self, api_method: str, **options: Any) -> Any:
        """A person of the bot's own workspace, and nothing of the rest."""
        if api_method != "users.info":
            raise OSError("nothing is there")
        return {"user": {"id": options["params"]["user"], "team_id": "T1"}}


@asynccontextmanager
async def envelopes() -> AsyncIterator[Check[dict[str, Any]]]:
    """Envelopes as JSON: never a fault in the program, and who is not listed begins, answers and ends nothing."""
    policy = Policy({"slack": Lists(frozenset(), frozenset({"C1"}), frozenset({"U7"}), frozenset())})
    with tempfile.TemporaryDirectory(prefix="opengui-fuzz-") as name:
        async with a_world(Path(name), policy=policy) as world:
            chat = SlackChat("xoxb-1", "xapp-1", world.commands)
            chat._client = SlackNowhere()
            chat._account = Account({"user_id": "U0", "team_id": "T1", "user": "opengui"})
            chat._online.set()
            faults = Faults()
            log = logging.getLogger("bot")
            log.addHandler(faults)

            async def check(envelope: dict[str, Any]) -> None:
                before = await world.task_service.recent(5)
                request = SocketModeRequest.from_dict(json.loads(json.dumps(envelope)))
                if request is not None:
                    await chat._handle(request)
                after = await world.task_service.recent(5)
                assert faults.told == [], faults.told.pop()
                if "U7" not in json.dumps(envelope):
                    assert after == before, "a stranger began or changed something"

            try:
                yield check
            finally:
                log.removeHandler(faults)


_slack_user = st.sampled_from(["U7", "U8", "U0", "W9", ""])
_slack_text = st.builds(
    lambda lead, name, rest: f"{lead}{name} {rest}",
    st.sampled_from(["<@U0> ", "@opengui ", "", "<@U0", "&lt;@U0&gt; "]),
    st.sampled_from(sorted(BY_NAME)) | WORDS,
    WORDS,
)
_slack_file = fields(id=WORDS, name=WORDS, size=st.integers(0, 2**33), url_private=WORDS, subtype=WORDS, mode=WORDS)
_slack_basic = {
    "type": st.sampled_from(["message", "app_mention"]),
    "channel": st.sampled_from(["C1", "C2", "D7", ""]),
    "user": _slack_user,
    "text": _slack_text,
    "ts": st.integers(1, 9).map(lambda number: f"1700000000.{number:06d}") | WORDS,
}
_slack_message = fields(**_slack_basic) | some(
    **_slack_basic,
    thread_ts=WORDS,
    parent_user_id=_slack_user,
    subtype=st.sampled_from(["file_share", "message_changed", "bot_message", ""]),
    bot_id=WORDS,
    team=st.sampled_from(["T1", "T2"]),
    files=st.lists(_slack_file, max_size=2),
    attachments=st.lists(fields(is_share=st.booleans(), text=_slack_text, author_name=WORDS), max_size=2),
    blocks=st.lists(fields(type=WORDS, elements=st.just([])), max_size=2),
)
_slack_press = fields(
    type=st.sampled_from(["block_actions", "view_submission"]),
    user=fields(id=_slack_user, team_id=st.sampled_from(["T1", "T2"])),
    channel=fields(id=st.sampled_from(["C1", "D7"])),
    message=_slack_message,
    actions=st.lists(fields(value=WORDS, selected_option=fields(value=WORDS)), max_size=2),
    trigger_id=WORDS,
    response_url=WORDS,
)
_slack_slash = fields(
    command=WORDS, text=_slack_text, user_id=_slack_user, channel_id=st.just("C1"), trigger_id=WORDS, response_url=WORDS
)
_envelope = st.one_of(
    st.builds(lambda event: {"type": "events_api", "payload": {"event": event}}, _slack_message),
    st.builds(lambda payload: {"type": "interactive", "payload": payload}, _slack_press),
    st.builds(lambda payload: {"type": "slash_commands", "payload": payload}, _slack_slash),
    st.builds(
        lambda kind, payload: {"type": kind, "payload": payload}, WORDS, st.dictionaries(WORDS, JSON, max_size=2)
    ),
).map(lambda one: {"envelope_id": "e", **one})

UPDATES: tuple[Target[Any], ...] = (
    Target("updates of Telegram", st.tuples(st.booleans(), _update), on_a_loop(updates), brief=150),
    Target("envelopes of Slack", _envelope, on_a_loop(envelopes), brief=150),
)
