"""Text that is typed: whatever of it a phone takes for a key was judged as that key before."""

from __future__ import annotations

import base64
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent import actions as act
from agent.events import Asked
from agent.graph.executor.action_spec import InputAction
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.executor.targets import ResolvedTarget, spoken_as
from agent.guards.keys import keys_of
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from agent.observing import ScreenView, screen_of
from agent.questions import QuestionKind
from bot.store.store import Store
from bot.tasks.leases import PhoneLeases
from bot.tasks.manual_input import ManualInput, NeedsApproval
from devices.adb.input_commands import typing_commands
from devices.errors import UntypableText
from devices.geometry import Bounds
from devices.inputs import TypeText
from devices.phone import Element, Observation
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.instant_phone import SIZE, InstantPhone
from tests.fakes.scripted_model import call, models
from tests.fixtures.databases import open_store

LINE_ENDS = ["\n", "\r", "\r\n", "\n\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]
CONTROLS = ["\x00", "\x08", "\x1b", "\x7f", "\x9b", "\ud800"]
TEXTS = st.lists(st.one_of(st.sampled_from([*LINE_ENDS, *CONTROLS, "\t", " "]), st.text(max_size=8)), max_size=8).map(
    "".join
)
FIELD = Element(Bounds(0, 2000, 900, 2200), hint="Text message", editable=True, focused=True)
SEND = Element(Bounds(900, 2000, 1080, 2200), description="Send", clickable=True)
PAGE = Observation(SIZE, None, (FIELD, SEND), package="org.example", activity="Chat")


def view() -> ScreenView:
    return ScreenView(PAGE, *screen_of(PAGE, PAGE.size))


def input_of(action: act.Type) -> TypeText:
    """What is sent to the phone for this action."""
    spec = BUILT_IN.spec_of(action)
    assert isinstance(spec, InputAction)
    made = spec.to_input(action, ResolvedTarget(FIELD, None), view())
    assert isinstance(made, TypeText)
    return made


def presses_enter(line: str) -> bool:
    """Whether this command line of a driver does: its key event, a line end that Android's own keyboard has a key for,
    or one that the broadcast keyboard commits (Chromium makes a key of it).
    """
    words = shlex.split(line)
    match words[:2]:
        case ["input", "keyevent"]:
            return "KEYCODE_ENTER" in words
        case ["input", "text"]:
            return any(end in words[2] for end in LINE_ENDS)
        case _:
            committed = base64.b64decode(words[-1]).decode()
            return any(end in committed for end in LINE_ENDS)


def moves_focus(line: str) -> bool:
    words = shlex.split(line)
    return "KEYCODE_TAB" in words or (words[1] != "keyevent" and "\t" in words[-1])


@given(TEXTS, st.booleans())
@example("hello\r", False)
@example("\t\r", False)
@example("a\u2028b", False)
@example("a\n\n", False)
def test_whatever_any_driver_presses_was_judged(text: str, submit: bool) -> None:
    """Seen failing with `Type` keeping its text as it came: "hello\\r" was judged as letters and pressed Enter."""
    action = act.Type(text=text, submit=submit)
    judged, made = keys_of(action), input_of(action)
    for broadcast in (False, True):
        try:
            lines = typing_commands(made.text, broadcast=broadcast)
        except UntypableText:
            continue
        enter = made.submit or any(map(presses_enter, lines))
        assert judged.enter or not enter
        tabs = [number for number, line in enumerate(lines) if moves_focus(line)]
        more = made.submit or (bool(tabs) and tabs[0] + 1 < len(lines))
        assert judged.moved or not (tabs and not broadcast and more)


@given(TEXTS, st.booleans())
def test_an_input_that_another_action_made_is_judged_by_what_it_presses(text: str, submit: bool) -> None:
    """Seen failing with drivers that change line ends: the text of an action from outside was judged as it came."""
    physical = TypeText(text, submit=submit)
    action, _ = spoken_as(physical, view())
    for broadcast in (False, True):
        try:
            lines = typing_commands(text, broadcast=broadcast)
        except UntypableText:
            continue
        assert keys_of(action).enter or not (submit or any(map(presses_enter, lines)))


@given(TEXTS)
def test_a_text_is_made_once(text: str) -> None:
    """What is kept, read again and replayed is what was judged."""
    action = act.Type(text=text)
    assert act.Type.model_validate(action.model_dump()) == action


@pytest.mark.parametrize("end", LINE_ENDS, ids=repr)
@pytest.mark.parametrize("before", ["hello", "\t", "hello\tyou"], ids=repr)
def test_every_line_end_waits_for_a_person_beside_send(end: str, before: str) -> None:
    """Seen failing with `keys_of` looking for "\\n" in the text as the model wrote it."""
    spot = TouchTarget("org.example", None, (FIELD, SEND))
    for text in (f"{before}{end}", f"{before}{end}and more"):
        assert Policy.default().gate(act.Type(text=text), spot).verdict == "approve"
    assert Policy.default().gate(act.Type(text=before), spot).verdict in {"allow", "approve"}


class ChatPhone(InstantPhone):
    """Shows a conversation."""

    def page(self) -> Observation:
        return PAGE


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path)
    yield opened
    await opened.close()


@pytest.mark.parametrize("end", LINE_ENDS, ids=repr)
async def test_by_hand_it_needs_a_yes_as_well(store: Store, end: str) -> None:
    """Seen failing: a message was sent through the API with the right to operate alone."""
    phone = ChatPhone()
    operating = ManualInput(PhoneLeases(store.leases, phone), phone, Policy.default(), store.journal)
    with pytest.raises(NeedsApproval):
        await operating.touch("instant", act.Type(text=f"hello{end}"), "one")
    assert not phone.sent


def test_the_question_names_the_key() -> None:
    """Seen failing with Enter taken out of the text after the question was written."""
    spec = BUILT_IN.spec_of(act.Type(text="hi\r"))
    assert str(spec.describe(act.Type(text="hi\r"), view())) == str(
        spec.describe(act.Type(text="hi", submit=True), view())
    )
    assert spec.asked is not None
    asked = spec.asked(act.Type(text="one\u2028two\tthree"), view(), None)
    assert "one⏎two⇥three" in asked


@pytest.mark.parametrize("end", ["\r", "\r\n", "\x0b", "\u2028"], ids=ascii)
async def test_a_run_sends_no_message_by_a_line_end(rig: Rig, end: str) -> None:
    """Seen failing with `GUARD=rules` and `auto`: "hello\\r" stood sent in the conversation, and nobody was asked."""
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("thread", person="Alice")
    before = rig.phone.truth.messages
    have, _ = models([call("type", text=f"hello{end}"), call("finish", status="failure", summary="stopped")])
    work = Work(rig.agent(have), order("look at the conversation"))
    asked = (await work.until(Asked)).question
    assert asked.kind is QuestionKind.APPROVE
    assert "hello" in asked.text + asked.detail
    await work.answer("deny")
    await work.ended()
    assert rig.inputs() == []
    assert rig.phone.truth.messages == before
