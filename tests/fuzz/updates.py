"""Targets that read what chat platforms deliver: updates of every kind and none, through our adapters."""

from __future__ import annotations

import json
import logging
import re
import string
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import telegram
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from telegram.request import BaseRequest

from bot.chats.feishu.api import Api, Refused
from bot.chats.feishu.frames import Frame
from bot.chats.feishu.incoming import App, Events
from bot.chats.feishu.limits import Times
from bot.chats.feishu.sending import Sender as FeishuSender
from bot.chats.telegram import updates as reader
from bot.chats.telegram.editing import Editor
from bot.chats.telegram.flood_control import Silence
from bot.chats.telegram.incoming import Albums, Messages
from bot.chats.telegram.responses import Presses
from bot.chats.telegram.sending import Sender, ShownPictures
from bot.commands.spec import BY_NAME
from bot.domain.address import Address
from bot.people.access import Lists, Policy
from tests.bot.world import a_world
from tests.fakes.feishu import APP
from tests.fakes.feishu.wire import WireFrame
from tests.fakes.telegram import TOKEN
from tests.fuzz.running import Check, on_a_loop
from tests.fuzz.strategies import JSON, WORDS, json_text, json_with
from tests.fuzz.target import Target

BOT = 4242
LISTED = 7
GROUP = -100
"""The one group and the one person that are listed; the person only counts there, and privately."""
OU_LISTED = "ou_listed"
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

            silence, shown = Silence(world.clock, moved), ShownPictures()
            sender, editor = Sender(online, silence, shown), Editor(online, silence, shown)
            messages = Messages(
                world.commands, sender, frozenset(BY_NAME), lambda _person, _place: True, moved, Albums(0.001), bool
            )
            taking = reader.Updates(bot, messages, Presses(world.commands, sender, editor, 1.0), "auto")
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


def _fields(**fields: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    """With all of these fields, or with some and more. The library checks no kinds, so those are as Telegram's."""
    return st.one_of(st.fixed_dictionaries(fields), st.fixed_dictionaries(fields), _some(**fields))


def _some(**fields: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    known = st.fixed_dictionaries({}, optional=fields)
    return st.builds(lambda one, more: {**more, **one}, known, st.dictionaries(WORDS, JSON, max_size=1))


_person = _fields(
    id=st.sampled_from([LISTED, *STRANGERS]),
    is_bot=st.just(False) | st.booleans(),
    first_name=WORDS,
    language_code=st.sampled_from(["en", "zh-hans", ""]) | WORDS,
)
_chat = _fields(
    id=st.sampled_from([GROUP, LISTED, *STRANGERS]),
    type=st.sampled_from(["private", "group", "supergroup", "channel"]),
    is_forum=st.booleans(),
    title=WORDS,
)
_text = st.builds(
    lambda slash, name, rest: f"{slash}{name} {rest}",
    st.sampled_from(["/", "", "/opengui ", "/do@the_bot ", "//"]),
    st.sampled_from(sorted(BY_NAME)) | WORDS,
    WORDS,
)
_file = _fields(
    file_id=WORDS, file_unique_id=WORDS, file_size=st.integers(0, 2**33), file_name=WORDS, duration=st.integers(0, 99)
)
_basic = {
    "message_id": st.integers(1, 9),
    "date": st.just(1_700_000_000) | st.integers(0, 2**40),
    "chat": _chat,
    "from": _person,
    "text": _text,
}
_message = _fields(**_basic) | _some(
    **_basic,
    message_thread_id=st.integers(0, 9),
    is_topic_message=st.booleans(),
    reply_to_message=_fields(**_basic),
    caption=_text,
    document=_file,
    voice=_file,
    photo=st.lists(_fields(file_id=WORDS, file_unique_id=WORDS, width=st.integers(), height=st.integers()), max_size=2),
    media_group_id=st.sampled_from(["a", "b"]),
    sender_chat=_chat,
    via_bot=_person,
    migrate_to_chat_id=st.integers(),
    forum_topic_created=st.fixed_dictionaries({}),
    entities=st.lists(_fields(type=WORDS, offset=st.integers(), length=st.integers()), max_size=2),
)
_query = _fields(id=WORDS, chat_instance=WORDS, data=WORDS, message=_message) | _some(
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


class Deaf(Api):
    """Feishu's API where every call is refused: nothing leaves the machine."""

    def __init__(self) -> None:
        """Without a session."""
        self.app = APP

    async def call(self, method: str, path: str, body: object = None, **_: Any) -> dict[str, Any]:
        """The answer of an app that may do nothing. Ids in addresses stay ids."""
        del method, body
        assert re.fullmatch(r"[\w/.=?-]*", path), path
        raise Refused(99991672, "Access denied.", 400, 0.0)

    async def download(self, path: str, room: int) -> bytes | None:
        """As above."""
        return None if room < 0 else str(await self.call("GET", path)).encode()


@asynccontextmanager
async def events() -> AsyncIterator[Check[bytes]]:
    """Events of Feishu as JSON, whole and damaged: never a fault in the program, and strangers move nothing."""
    policy = Policy({"feishu": Lists(frozenset(), frozenset(), frozenset({OU_LISTED}), frozenset())})
    with tempfile.TemporaryDirectory(prefix="opengui-fuzz-") as name:
        async with a_world(Path(name), policy=policy) as world:
            api = Deaf()

            async def online() -> Api:
                return api

            async def lost(_place: Address) -> None:
                """Nobody asks."""

            taking = Events(
                api,
                App(APP, "ou_bot", "OpenGUI", "en"),
                world.commands,
                FeishuSender(online),
                frozenset(BY_NAME),
                "auto",
                lambda _person, _place: True,
                lost,
                Times(answer=5.0),
            )
            faults = Faults()
            log = logging.getLogger("bot")
            log.addHandler(faults)

            async def check(event: bytes) -> None:
                before = await world.task_service.recent(5)
                await taking.take(event)
                after = await world.task_service.recent(5)
                assert faults.told == [], faults.told.pop()
                if OU_LISTED.encode() not in event:
                    assert after == before, "a stranger began or changed something"

            try:
                yield check
            finally:
                log.removeHandler(faults)
                await taking.close()


def frame(data: bytes) -> None:
    """Frames of Feishu's long connection: those that are none say so, the others come back as they are."""
    try:
        found = Frame.parse(data)
    except ValueError:
        return
    assert Frame.parse(found.serialize()) == found


_ou = st.sampled_from([OU_LISTED, "ou_stranger", "ou_bot"]) | WORDS
_content = st.builds(
    json_text, json_with(text=_text, image_key=WORDS, file_key=WORDS, file_name=WORDS, duration=JSON)
) | st.builds(
    lambda parts: json_text({"content": [parts]}),
    st.lists(
        json_with(tag=st.sampled_from(["text", "at", "img", "a"]), text=WORDS, user_id=WORDS, image_key=WORDS),
        max_size=3,
    ),
)
_feishu_message = {
    "message_id": st.sampled_from(["om_1", "om_2", "../om"]) | WORDS,
    "chat_id": st.sampled_from(["oc_1", "oc_2"]),
    "chat_type": st.sampled_from(["p2p", "group"]),
    "create_time": st.sampled_from(["1700000000000", 0, "x"]),
    "message_type": st.sampled_from(["text", "post", "image", "file", "audio", "media", "merge_forward", "system"]),
    "content": _content | WORDS,
}
_header = {
    "event_id": st.uuids().map(str),
    "app_id": st.just(APP),
    "tenant_key": st.sampled_from(["t1", "t2"]),
    "create_time": st.just("1700000000000"),
}
_event = st.one_of(
    st.builds(
        lambda header, message, who, tenant: {
            "header": {**header, "event_type": "im.message.receive_v1"},
            "event": {
                "message": message,
                "sender": {"sender_id": {"open_id": who}, "sender_type": "user", "tenant_key": tenant},
            },
        },
        _fields(**_header),
        _fields(**_feishu_message)
        | _some(**_feishu_message, root_id=WORDS, parent_id=WORDS, thread_id=WORDS, mentions=JSON),
        _ou,
        st.sampled_from(["t1", "t2", None]),
    ),
    st.builds(
        lambda header, who, value, option: {
            "header": {**header, "event_type": "card.action.trigger"},
            "event": {
                "operator": {"open_id": who, "tenant_key": "t1"},
                "action": {"value": value, "option": option},
                "context": {"open_message_id": "om_1", "open_chat_id": "oc_1"},
            },
        },
        _fields(**_header),
        _ou,
        json_with(data=WORDS, at=_ou) | st.none(),
        WORDS | st.none(),
    ),
    json_with(header=json_with(**_header), event=JSON),
)
_wire = st.builds(
    lambda method, headers, payload, number: WireFrame(method, headers, payload, number % 2**31, number).encode(),
    st.integers(0, 2),
    st.dictionaries(st.text(string.ascii_lowercase, max_size=5), st.text(string.printable, max_size=9), max_size=3),
    st.binary(max_size=20),
    st.integers(0, 2**63),
)

UPDATES: tuple[Target[Any], ...] = (
    Target("updates of Telegram", st.tuples(st.booleans(), _update), on_a_loop(updates), brief=150),
    Target(
        "events of Feishu",
        _event.map(json_text).map(lambda text: text.encode(errors="replace")),
        on_a_loop(events),
        brief=150,
    ),
    Target("frames of Feishu", _wire | st.binary(max_size=60), lambda: nullcontext(frame), brief=300),
)
