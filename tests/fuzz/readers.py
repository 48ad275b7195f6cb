"""Targets that read a text: models' replies, commands, buttons, and what a phone prints."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from agent.actions import DIALECT_ACTIONS, Drag, PointTarget, Swipe, action_data
from agent.dialects.base import BadReply, Decision
from agent.dialects.printed_calls import MAX_CALLS, printed_calls
from agent.dialects.scene_text import now_text, numbered
from agent.dialects.select import NAMES, dialect_for
from agent.guards.facts import MAX_AMOUNTS, facts_of
from agent.guards.words import ends_with, in_one_line, mentions, plain, says
from agent.models.base import ModelReply, ToolCall
from agent.models.json_answers import objects_in
from agent.scene import Scene, Screen
from bot.cards.buttons import MAX_BYTES, ButtonAction, read_button
from bot.commands.parser import ParseError, parse
from bot.commands.spec import BY_NAME
from bot.domain.schedule import BadRule, next_due
from bot.domain.schedule_words import read_rule
from devices.adb import ui_tree
from devices.adb.apps import parse_activities
from devices.adb.fastlane.server import LaneFailed, result_of
from devices.adb.notifications import parse_notifications
from devices.adb.screenshots import from_jpeg, from_png, from_raw
from devices.adb.shell import command, quote
from devices.adb.state import foreground, parse_state
from devices.errors import CaptureFailed
from devices.geometry import Bounds, Point, Size
from devices.phone import Element, Observation
from tests.agent.dialects.test_random_texts import LONGEST_REASON, PIECES, TEXTS, VALID
from tests.fuzz.strategies import JSON, WORDS, damaged, json_text, json_with, mixed
from tests.fuzz.target import Target

T = TypeVar("T")
SPACE = Size(922, 2048)
KINDS = [model.model_fields["kind"].default for model in DIALECT_ACTIONS]
DIALECTS = [dialect_for(name, "") for name in NAMES if name != "auto"]
ZONE = ZoneInfo("Europe/Berlin")


def plainly(check: Callable[[T], None]) -> Callable[[], AbstractContextManager[Callable[[T], None]]]:
    """For a check that needs nothing around it."""

    @contextmanager
    def opened() -> Iterator[Callable[[T], None]]:
        yield check

    return opened


def replies(text: str) -> None:
    """Every dialect: actions with points inside the picture, or BadReply."""
    for reply in (ModelReply(text), ModelReply(text, (ToolCall(text, "type", text), ToolCall("2", text, "{}")))):
        for dialect in DIALECTS:
            refusal = ""
            try:
                _inside(dialect.parse(reply, SPACE))
            except BadReply as bad:
                refusal = str(bad)
            assert len(refusal.encode()) < LONGEST_REASON


def _inside(decision: Decision) -> None:
    assert decision.actions
    json.dumps([action_data(action) for action in decision.actions], ensure_ascii=False).encode()
    " ".join((decision.thought, decision.summary, *decision.told)).encode()
    for action in decision.actions:
        ends = [action.start, action.end] if isinstance(action, Swipe | Drag) else [getattr(action, "target", None)]
        assert all(SPACE.holds(Point(end.x, end.y)) for end in ends if isinstance(end, PointTarget))


def printed(text: str) -> None:
    """Calls and objects that models print among other words."""
    with suppress(BadReply):
        assert len(printed_calls(text, KINDS).calls) <= MAX_CALLS
    assert all(isinstance(found, dict) for found in objects_in(text))


def commands(line: str) -> None:
    """A command with known options, or a sentence."""
    with suppress(ParseError):
        call = parse(line)
        spec = BY_NAME[call.name]
        assert {*call.options} <= {option.name for option in spec.options} | {spec.argument}


def rules(given: tuple[str, str, float]) -> None:
    """A rule whose next moment lies ahead, or a sentence."""
    kind, words, now = given
    with suppress(BadRule):
        due = next_due(read_rule(f"{kind} {words}", now=now, zone=ZONE), after=now, begun=now)
        assert due is not None
        assert due > now


def buttons(data: str) -> None:
    """Data that was made here, or nothing."""
    read = read_button(data)
    if read is not None:
        assert len(data.encode()) <= MAX_BYTES
        assert read.action in ButtonAction


def quoting(words: list[str]) -> None:
    """One word stays one word, for a lexer and for a shell."""
    assert shlex.split(f"x {' '.join(map(quote, words))}") == ["x", *words]
    printed_back = subprocess.run(
        ["/bin/sh", "-c", command("printf", "%s\\0", *words)], capture_output=True, check=True, env={}
    ).stdout
    assert printed_back == b"".join(word.encode() + b"\0" for word in words or [""])


def trees(output: str) -> None:
    """Elements on the screen, or a reason."""
    for text in (output, f"<hierarchy>{output}</hierarchy>"):
        with suppress(ui_tree.NoHierarchy):
            for element in ui_tree.parse(text, SPACE):
                box = element.bounds
                assert 0 <= box.left < box.right <= SPACE.width
                assert 0 <= box.top < box.bottom <= SPACE.height


def lane_answers(answer: bytes) -> None:
    """The helper's JSON-RPC answers; what it says of the screen is read on."""
    with suppress(LaneFailed):
        trees(str(result_of(answer)))


def printed_by_phones(output: str) -> None:
    """`dumpsys` and `cmd package` of phones that nobody has seen."""
    parse_state(output)
    foreground(output)
    parse_activities(output)
    for told in (output, f"@@uptime\n9\n@@clock\n9\n@@keys\n@@records\n{output}"):
        assert all(one.package == "org.example" for one in parse_notifications(told, "org.example"))


def pictures(data: bytes) -> None:
    """A picture of the size that it tells, or CaptureFailed; never a black one in its place."""
    for read in (from_raw, from_png, from_jpeg):
        with suppress(CaptureFailed):
            assert read(data).size.width > 0


def labels(text: str) -> None:
    """What stands on a button is read in any case, and the same again."""
    read = plain(text)
    for word in ("pay", "支付"):
        for means in (partial(says, button=True), ends_with, mentions):
            assert means(text, word) == means(text, word.upper()), read
    line = Element(Bounds(0, 100, 500, 200), text=text)
    assert len(facts_of(Observation(Size(500, 1000), None, (line,))).amounts) <= MAX_AMOUNTS
    now_text(Scene("", "", Screen(Size(500, 1000), None, None), 1, 2, notices=(text,)), numbered)


def one_line(text: str) -> None:
    """What a person is shown before an approval: one line, nothing that hides."""
    assert len(in_one_line(text).splitlines()) <= 1


NODE = (
    '<?xml version="1.0"?><hierarchy rotation="0"><node text="a &amp; b" class="android.widget.EditText"'
    ' clickable="true" bounds="[0,0][100,50]"><node content-desc="&#10;x" bounds="[-5,2][2000,3000]" /></node>'
    "</hierarchy>UI hierchary"
)
WINDOW = (
    "@@window\n  mCurrentFocus=Window{a1 u0 com.android.settings/com.android.settings.Settings}\n"
    "  mFocusedApp=ActivityRecord{b2 u0 com.android.settings/.Settings t7}\n  mCurrentRotation=ROTATION_90\n"
    "@@power\n  mWakefulness=Awake\n@@policy\n  mShowingLockscreen=true isStatusBarKeyguard=true\n"
)
RAW = bytes.fromhex("02000000 02000000 01000000 00000000") + b"abcd" * 4
_cron = st.lists(st.sampled_from(["*", "*/5", "1-5", "31", "MON", "L", "#", "0"]), min_size=3, max_size=6).map(" ".join)
_when = mixed("tomorrow", "09:30", " ", "2026-11-21", "T", "in", "2", "hours", "days", "every", "month", "25:61", "Z")

READERS: tuple[Target[Any], ...] = (
    Target(
        "model replies",
        TEXTS | damaged(*VALID) | st.lists(PIECES, max_size=60).map("".join),
        plainly(replies),
        found=(
            '{"name": "note", "arguments": {"text": "\\ud83d"}}',
            f"Action: {'n' * 5000}()",
            f'do(action="{"n" * 5000}")',
        ),
    ),
    Target(
        "printed calls",
        mixed(
            '{"name": "tap", "arguments": ', "<tool_call>", "</tool_call>", "```json\n", "{", "}", "[", "]", '"', "\\"
        )
        | JSON.map(json_text)
        | damaged(*VALID),
        plainly(printed),
        found=('{"a":' * 3000, "[" * 3000),
    ),
    Target(
        "commands",
        mixed(*BY_NAME, "--", "--device", "--quick", "=", " ", "\u2014", "\u2013", '"', "'", "\n", "#12"),
        plainly(commands),
    ),
    Target(
        "schedules",
        st.tuples(st.sampled_from(["at", "every", "cron"]), _when | _cron, st.floats(0, 4e9)),
        plainly(rules),
    ),
    Target(
        "callback ids",
        st.lists(st.sampled_from(["1", ":", "2", *(deed.value for deed in ButtonAction)]) | WORDS, max_size=8).map(
            "".join
        ),
        plainly(buttons),
        found=("1:stop:\ud800", "1:\ud800:1:allow", "1:stop:²"),
    ),
    Target(
        "quoting",
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40), min_size=1, max_size=4),
        plainly(quoting),
        brief=25,
    ),
    Target(
        "uiautomator trees", damaged(NODE) | mixed("<node ", "/>", ' bounds="[0,0][9,9]"', ' text="'), plainly(trees)
    ),
    Target(
        "fast lane answers",
        json_with(jsonrpc=st.just("2.0"), result=damaged(NODE), error=json_with(message=WORDS))
        .map(json_text)
        .map(str.encode)
        | st.binary(max_size=60),
        plainly(lane_answers),
        found=(
            b"[" * 100_000,
            b'{"result": "<hierarchy><node text=\\"\\ud800\\" bounds=\\"[0,0][9,9]\\"/></hierarchy>"}',
        ),
    ),
    Target(
        "what phones print",
        damaged(WINDOW) | mixed("@@window\n", "mCurrentFocus=", "{", "}"),
        plainly(printed_by_phones),
    ),
    Target(
        "pictures",
        st.binary(max_size=80) | st.builds(lambda n, b: RAW[:n] + b, st.integers(0, 33), st.binary(max_size=9)),
        plainly(pictures),
    ),
    Target(
        "labels",
        mixed("Pay", "_", ".", " ", "支", "付", "\u0430", "\ufe0f", "-", most=60),
        plainly(labels),
        found=(
            "_" * 60 + "ab",
            *(10_000 * each + "a" for each in (".", "a ", "你 ", "1", "1,", "$ ")),
            "<" + " " * 10_000,
        ),
    ),
    Target("shown before an approval", mixed("\n", "Amount: $1", "\r", "\v", "\f"), plainly(one_line)),
)
