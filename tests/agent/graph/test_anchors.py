"""What was approved is held against what is there when it is done: names and amounts always count, clocks do not."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent.graph.executor.anchors import anchor_of, relocated
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.binding import approval_context
from agent.observing import ScreenView, screen_of
from devices.geometry import Bounds, Point, Size
from devices.phone import Element, Observation
from devices.virtual_phone.android import switch
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.state import Dialog

SIZE = Size(1000, 2000)
SEND = Element(Bounds(850, 1800, 990, 1900), text="Send", class_name="android.widget.Button", clickable=True)


def label(top: int, text: str, left: int = 0, wide: int = 600, **more: Any) -> Element:
    return Element(Bounds(left, top, left + wide, top + 60), text=text, **more)


def screen(*elements: Element) -> Observation:
    return Observation(SIZE, None, elements, package="com.example")


def sight_of(seen: Observation) -> ScreenView:
    return ScreenView(seen, *screen_of(seen, seen.size))


def approved(seen: Observation, element: Element, before: Observation | None = None) -> dict[str, Any]:
    """The anchor as a checkpoint keeps it."""
    anchor = anchor_of(ResolvedTarget(element, element.bounds.centre), sight_of(seen), before=before)
    kept: dict[str, Any] = json.loads(json.dumps(anchor))
    return kept


def chat(
    text: str = "hello", *, person: str = "Anna", status: str = "online", said: str = "See you", advert: str = "Shoes"
) -> Observation:
    return screen(
        label(20, "12:00", wide=100),
        label(100, person),
        label(170, status),
        label(500, said),
        label(1930, advert, resource_id="com.example:id/advert"),
        Element(Bounds(0, 1800, 800, 1900), text=text, hint="Text message", editable=True),
        SEND,
    )


def transfer(person: str = "Anna", iban: str = "DE89 3704", total: str = "$12.90") -> Observation:
    """A page whose button stands far below what it is about."""
    return screen(
        label(100, "Transfer"), label(700, person), label(800, iban), label(900, total), label(1500, "Fees"), SEND
    )


@given(st.text(min_size=1), st.text(min_size=1))
def test_every_letter_of_a_text_counts(one: str, other: str) -> None:
    """Seen failing with fields left out of `words_of`."""
    same = relocated(approved(chat(one), SEND), chat(other)) is not None
    assert same == (one == other)


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(transfer(person="Mallory"), id="another person in the middle of the screen"),
        pytest.param(transfer(iban="DE12 5001"), id="another account"),
        pytest.param(transfer(total="$129.00"), id="another amount"),
        pytest.param(chat(), id="another page"),
    ],
)
def test_another_object_is_not_what_was_approved(now: Observation) -> None:
    """Seen failing before: what stood in the middle of a screen was bound by its amounts alone."""
    anchor = approved(transfer(), SEND)
    assert relocated(anchor, transfer()) is not None
    assert relocated(anchor, now) is None


def test_names_that_change_places_are_another_thing() -> None:
    seen = screen(label(100, "Transfer"), label(700, "Anna"), label(800, "Bob"), SEND)
    swapped = screen(label(100, "Transfer"), label(700, "Bob"), label(800, "Anna"), SEND)
    assert relocated(approved(seen, SEND), swapped) is None


def test_what_a_messenger_writes_of_the_other_person_does_not_count() -> None:
    anchor = approved(chat(status="online"), SEND)
    for status in ("typing…", "last seen today at 12:04", "正在输入…"):
        assert relocated(anchor, chat(status=status)) is not None
    assert relocated(anchor, chat(status="Mallory")) is None
    assert relocated(anchor, chat(person="Bob", status="typing…")) is None


def test_what_was_seen_changing_does_not_count_but_what_was_not_does() -> None:
    """Seen failing with `restless_places` always empty."""
    before, seen = chat(advert="Shoes for all"), chat(advert="Hats for all")
    anchor = approved(seen, SEND, before)
    assert relocated(anchor, chat(advert="Coats for all")) is not None
    assert relocated(anchor, chat(advert="Pay $900 now")) is None
    assert relocated(anchor, chat(advert="Hats for all", said="Give it to Mallory")) is None
    assert relocated(approved(seen, SEND), chat(advert="Coats for all")) is None


def test_the_words_that_a_person_is_told_count_however_they_moved() -> None:
    """Seen failing with `_firm` left empty: a page that flickers had any name approved."""
    before, seen = transfer(person="Anna"), transfer(person="Bob")
    assert "Bob" in approval_context(seen, SEND).words
    anchor = approved(seen, SEND, before)
    assert relocated(anchor, transfer(person="Bob")) is not None
    assert relocated(anchor, transfer(person="Mallory")) is None


def files(*names: str) -> Observation:
    """A list whose rows have the same button."""
    rows = [
        each
        for number, name in enumerate(names)
        for each in (
            label(300 + 200 * number, name),
            Element(
                Bounds(850, 300 + 200 * number, 990, 360 + 200 * number),
                description="Delete",
                class_name="android.widget.ImageButton",
                clickable=True,
            ),
        )
    ]
    return screen(label(100, "Files"), Element(Bounds(0, 200, 1000, 1900), scrollable=True), *rows)


def test_a_row_is_known_by_its_own_words() -> None:
    """Seen failing before: the nearest button of the list was taken, whatever its row was called."""
    seen = files("old.txt", "photos", "letters")
    first = next(e for e in seen.elements or () if e.label == "Delete")
    near = approval_context(seen, first)
    assert (near.kind, near.words) == ("row", ["old.txt"])
    anchor = approved(seen, first)
    assert relocated(anchor, seen) is not None
    assert relocated(anchor, files("photos", "letters")) is None
    assert relocated(anchor, files("photos", "old.txt", "letters")) is None


def test_a_field_is_the_same_by_whichever_way_the_tree_came() -> None:
    """Plain adb tells no hints: an empty field then has its hint as text, and a name that is made of its id.

    Seen failing before: the name and the text of the field were others on the second look.
    """
    plain = Element(Bounds(0, 1000, 800, 1100), text="Message", class_name="android.widget.EditText", editable=True)
    for told in (replace(plain, hint="Message"), replace(plain, text="", hint="Message")):
        anchor = approved(screen(label(100, "New"), plain, SEND), SEND)
        assert relocated(anchor, screen(label(100, "New"), told, SEND)) is not None
        assert relocated(anchor, screen(label(100, "New"), replace(told, text="Hi"), SEND)) is None


def test_windows_of_others_do_not_count() -> None:
    """The fast lane tells the status bar and the keyboard as well."""
    bar = label(10, "12:01", package="com.android.systemui")
    own = [replace(e, package="com.example") for e in transfer().elements or ()]
    anchor = approved(screen(*own), own[-1])
    assert relocated(anchor, screen(bar, *own)) is not None


def test_an_approval_of_an_earlier_version_is_asked_anew() -> None:
    """Seen failing with the look at "window" in `found_again` taken out."""
    seen = chat()
    kept = {
        "package": "com.example",
        "size": [1000, 2000],
        "facts": "0" * 32,
        "element": ["", "android.widget.Button", "Send"],
        "editable": False,
        "bounds": [850, 1800, 990, 1900],
        "within": [70, 50],
    }
    assert relocated(kept, seen) is None
    assert (
        relocated({"package": "com.example", "size": [1000, 2000], "facts": "", "screen": "", "point": None}, seen)
        is None
    )
    assert relocated(kept, seen, facts=False) is not None  # a secret that a person has given for its field


ALLOW = Point(760, 1350)
SAME = ("Pay?", "$50.00 to DE12")


async def drawn(text: tuple[str, str], *, dark: bool, jpeg: bool = False) -> Observation:
    """A dialog as the phone draws it, without a tree; as plain adb sends it, or as the fast lane does."""
    phone = VirtualPhone()
    switch(phone.state, "dark", on=dark)
    phone.windows.launch("notes")
    phone.state.dialogs.append(Dialog(*text, ["Deny", "Allow"]))
    image = (await phone.frame()).image.convert("RGB")
    if jpeg:
        sent = io.BytesIO()
        image.save(sent, "JPEG", quality=80)
        image = Image.open(sent).convert("RGB")
    return Observation(Size(*image.size), image, None, package="com.example")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("text", "same"),
    [
        (SAME, True),
        (("Pay?", "$80.00 to DE12"), False),
        (("Pay?", "$50.00 to DE13"), False),
        (("Pay?", "$30.00 to DE12"), False),
        (("Buy?", "$50.00 to DE12"), False),
        (("Delete the whole photo library?", ""), False),
    ],
)
async def test_a_picture_is_the_same_however_it_came_and_another_digit_is_another(
    text: tuple[str, str], same: bool, dark: bool
) -> None:
    """Seen failing before: a picture of twelve by sixteen cells showed no other digit."""
    anchor = anchor_of(ResolvedTarget(None, ALLOW), sight_of(await drawn(SAME, dark=dark)))
    assert len(json.dumps(anchor)) < 2000
    for jpeg in (False, True):
        assert (relocated(anchor, await drawn(text, dark=dark, jpeg=jpeg)) is not None) == same


def test_without_words_and_picture_nobody_can_tell() -> None:
    dark = Observation(SIZE, None, None, package="com.example", secure=True)
    assert relocated(anchor_of(ResolvedTarget(None, ALLOW), sight_of(dark)), dark) is None


@pytest.mark.parametrize("change", [lambda e: replace(e, checked=True), lambda e: replace(e, text="Also in the cloud")])
def test_what_is_ticked_in_a_dialog_counts(change: Callable[[Element], Element]) -> None:
    box = label(1000, "Here only", checkable=True)
    seen = screen(label(900, "Delete old.txt?"), box, SEND)
    assert approval_context(seen, SEND).kind == "dialog"
    assert relocated(approved(seen, SEND), screen(label(900, "Delete old.txt?"), change(box), SEND)) is None
