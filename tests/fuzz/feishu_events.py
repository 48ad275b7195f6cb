"""Targets that read what Feishu delivers: events of every kind and none, and the frames of its connection."""

from __future__ import annotations

import logging
import re
import string
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from bot.chats.feishu.api import Api, Refused
from bot.chats.feishu.connection import Frame
from bot.chats.feishu.incoming import App, Events
from bot.chats.feishu.limits import Times
from bot.chats.feishu.sending import Sender as FeishuSender
from bot.commands.spec import BY_NAME
from bot.domain.address import Address
from bot.domain.chat import OwnRecord
from bot.people.access import Lists, Policy
from tests.bot.world import a_world
from tests.fakes.feishu import APP
from tests.fakes.feishu.wire import WireFrame
from tests.fuzz.running import Check, on_a_loop
from tests.fuzz.strategies import JSON, WORDS, json_text, json_with
from tests.fuzz.target import Target
from tests.fuzz.updates import Faults, fields, some, typed_text

OU_LISTED = "ou_listed"


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
                OwnRecord(),
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
    json_text, json_with(text=typed_text, image_key=WORDS, file_key=WORDS, file_name=WORDS, duration=JSON)
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
        fields(**_header),
        fields(**_feishu_message)
        | some(**_feishu_message, root_id=WORDS, parent_id=WORDS, thread_id=WORDS, mentions=JSON),
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
        fields(**_header),
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

FEISHU: tuple[Target[Any], ...] = (
    Target(
        "events of Feishu",
        _event.map(json_text).map(lambda text: text.encode(errors="replace")),
        on_a_loop(events),
        brief=150,
    ),
    Target("frames of Feishu", _wire | st.binary(max_size=60), lambda: nullcontext(frame), brief=300),
)
