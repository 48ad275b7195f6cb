"""To whom a message goes: the name at the head of a conversation, and nobody where anything else is possible."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.actions import Action, ElementTarget, LongPress, PressKey, Tap, Type
from agent.guards.gate import Gate
from agent.guards.recipients import Message, message_of
from agent.questions import Recipient, StandingYes
from devices.geometry import Bounds, Size
from devices.inputs import Key
from devices.phone import Element, Observation

APP = "com.example.chat"
HELD = Gate("approve", consequence="send", how="words")
TAP = Tap(target=ElementTarget(element=1))


def an_element(left: int, top: int, right: int, bottom: int, **more: object) -> Element:
    return replace(Element(Bounds(left, top, right, bottom), package=APP), **more)  # type: ignore[arg-type]


BACK = an_element(0, 100, 120, 220, description="Back", class_name="android.widget.ImageButton", clickable=True)
TITLE = an_element(140, 110, 700, 210, text="Bob", class_name="android.widget.TextView")
LIST = an_element(0, 240, 1080, 2100, class_name="RecyclerView", scrollable=True)
FIELD = an_element(
    20, 2200, 900, 2340, text="hello", hint="Message", class_name="android.widget.EditText", editable=True, focused=True
)
SEND = an_element(920, 2200, 1060, 2340, description="Send", class_name="android.widget.ImageButton", clickable=True)
SCREEN = (BACK, TITLE, LIST, FIELD, SEND)


def found(*elements: Element, action: Action = TAP, target: Element | None = SEND, gate: Gate = HELD) -> Message | None:
    seen = Observation(Size(1080, 2400), None, elements or SCREEN, package=APP, app_name="Chat")
    return message_of(action, seen, target, None if target is None else target.bounds.centre, gate)


BOB = Recipient(name="Bob", app=APP, app_name="Chat")


def test_the_name_at_the_head_of_a_conversation() -> None:
    assert found() == Message(BOB, "hello")
    presence = an_element(140, 215, 700, 235, text="online")
    assert found(*SCREEN, presence) == Message(BOB, "hello")


def test_enter_in_its_field_sends_too() -> None:
    assert found(action=PressKey(key=Key.ENTER), target=None) == Message(BOB, "hello")
    assert found(action=Type(text="bye", submit=True, clear=True), target=FIELD) == Message(BOB, "bye")
    # What is in the field already goes out with it: nobody knows the whole text.
    assert found(action=Type(text="bye", submit=True), target=FIELD) == Message(BOB, None)


@pytest.mark.parametrize("consequence", ["pay", "delete", "install", "permission", "account", ""])
def test_no_other_consequence_has_a_recipient(consequence: str) -> None:
    """Seen failing without the comparison with the rule."""
    assert found(gate=replace(HELD, consequence=consequence)) is None


def swapped(old: Element, new: Element) -> tuple[Element, ...]:
    return tuple(new if each is old else each for each in SCREEN)


UNKNOWN: dict[str, tuple[Element, ...]] = {
    "no title": tuple(each for each in SCREEN if each is not TITLE),
    "two titles": (*SCREEN, an_element(710, 110, 900, 210, text="Mallory")),
    "a heading": swapped(TITLE, replace(TITLE, text="New message")),
    "a heading in Chinese": swapped(TITLE, replace(TITLE, text="评论")),
    "the app's own name": swapped(TITLE, replace(TITLE, text="Chat")),
    "a title that is a button": swapped(TITLE, replace(TITLE, clickable=True)),
    "a bubble that scrolled up": swapped(LIST, replace(LIST, bounds=Bounds(0, 100, 1080, 2100))),
    "a title without a button beside it": tuple(each for each in SCREEN if each is not BACK),
    "another app's notification": (
        *swapped(TITLE, replace(TITLE, text="")),
        replace(TITLE, package="com.android.systemui"),
    ),
    "hidden signs in it": swapped(TITLE, replace(TITLE, text="Bob\u202e")),
    "more than a person reads": swapped(TITLE, replace(TITLE, text="Bob " * 30)),
    "a field for the recipient": (*SCREEN, an_element(20, 250, 1060, 330, text="Mallory", hint="To", editable=True)),
    "an amount": (*SCREEN, an_element(20, 400, 600, 480, text="$500.00")),
    "a web page": (*SCREEN, an_element(0, 0, 1080, 2400, class_name="android.webkit.WebView")),
    "a send that stands elsewhere": swapped(SEND, replace(SEND, bounds=Bounds(920, 100, 1060, 220))),
}


@pytest.mark.parametrize("why", UNKNOWN)
def test_where_anything_else_is_possible_it_is_nobody(why: str) -> None:
    elements = UNKNOWN[why]
    assert found(*elements, target=next((e for e in elements if e.description == "Send"), None)) is None


def test_a_long_press_or_a_screen_without_a_tree_has_none() -> None:
    assert found(action=LongPress(target=ElementTarget(element=1))) is None
    bare = Observation(Size(1080, 2400), None, None, package=APP)
    assert message_of(TAP, bare, None, SEND.bounds.centre, HELD) is None


def test_a_text_with_something_attached_is_not_the_whole_of_it() -> None:
    """Seen failing without the look at ids: a schedule's text would have let a picture pass with it."""
    shown = an_element(20, 1900, 400, 2180, resource_id=f"{APP}:id/attachment_preview")
    assert found(*SCREEN, shown) == Message(BOB, None)
    attach = an_element(800, 2200, 890, 2340, resource_id=f"{APP}:id/attachment", clickable=True)
    assert found(*SCREEN, attach) == Message(BOB, "hello")


@pytest.mark.parametrize(
    ("yes", "text", "covered"),
    [
        (StandingYes(to="Bob", app=APP), "anything", True),
        (StandingYes(to="Bob", app=APP), None, True),
        (StandingYes(to="Bob", app="com.other"), "anything", False),
        (StandingYes(to="Bob"), "anything", False),
        (StandingYes(to="bob", app=APP), "anything", False),
        (StandingYes(to="", app=APP), "anything", False),
        (StandingYes(to="Bob", text="hello", schedule="3"), "hello", True),
        (StandingYes(to="Bob", text="hello", schedule="3"), "hello ", True),
        (StandingYes(to="Bob", text="hello", schedule="3"), "hello!", False),
        (StandingYes(to="Bob", text="hello", schedule="3"), None, False),
        (StandingYes(to="Bob", text="hello", app="chat", schedule="3"), "hello", True),
        (StandingYes(to="Bob", text="hello", app="Messages", schedule="3"), "hello", False),
        (StandingYes(to="Bob", app=APP, schedule="3"), "hello", False),
        (StandingYes(to="Bob", app=APP, text="hello"), "other", False),
    ],
)
def test_what_a_yes_covers(yes: StandingYes, text: str | None, covered: bool) -> None:
    assert yes.covers(BOB, text) is covered
