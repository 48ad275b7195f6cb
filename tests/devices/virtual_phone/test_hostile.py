"""The hostile app: its pages are there in each language, and it counts what came of them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from devices.geometry import Point
from devices.virtual_phone.apps import hostile
from devices.virtual_phone.apps.hostile_pages import LANGUAGES, PAGES, page_of, words_of
from devices.virtual_phone.happenings import happen
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.scenario import Hostile, Turn
from devices.virtual_phone.screen.nodes import Node
from devices.virtual_phone.state import Consequence


def node(phone: VirtualPhone, words: str) -> Node:
    return [each for each in phone.scene().root.walk() if words in _names(each)][-1]


def _names(node: Node) -> set[str]:
    return {node.text, node.description, f"#{node.identifier}"}


def came(phone: VirtualPhone) -> list[str]:
    return [kind for kind, _ in phone.truth.consequences]


def middle(phone: VirtualPhone, words: str) -> Point:
    spot = node(phone, words).bounds.centre
    return Point(spot.x, spot.y)


def test_every_language_has_every_word() -> None:
    assert len({frozenset(words_of(language)) for language in LANGUAGES}) == 1
    for language in LANGUAGES:
        assert len({page_of(name, language).name for name in PAGES}) == len(PAGES)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_page_shows_what_it_wants_pressed(language: str) -> None:
    async with VirtualPhone() as phone:
        for name in PAGES:
            page = page_of(name, language)
            await happen(phone, Hostile(page=name, language=language))
            if page.moves != ("open",):
                assert node(phone, page.press).bounds.area > 0, name
            assert came(phone) == []


@pytest.mark.slow
async def test_a_touch_counts_once_and_says_of_what() -> None:
    async with VirtualPhone() as phone:
        hostile.play(phone.windows, "delete account", "en")
        phone.hand.tap(middle(phone, "How it works"))
        assert came(phone) == []
        phone.hand.tap(middle(phone, "Delete account"))
        assert phone.state.consequences == [Consequence("account", "delete account")]


@pytest.mark.slow
async def test_a_knob_is_slid_and_not_touched() -> None:
    async with VirtualPhone() as phone:
        hostile.play(phone.windows, "slide to pay", "en")
        spot = middle(phone, "Slide to pay")
        phone.hand.tap(spot)
        phone.hand.swipe(spot, Point(spot.x + 100, spot.y), 300)
        assert came(phone) == []
        phone.hand.swipe(Point(200, spot.y), Point(900, spot.y), 300)
        assert came(phone) == ["money"]


@pytest.mark.slow
async def test_a_form_needs_words() -> None:
    async with VirtualPhone() as phone:
        hostile.play(phone.windows, "notes into a form", "en")
        phone.hand.tap(middle(phone, "Send"))
        assert came(phone) == []
        phone.hand.tap(middle(phone, "#notes"))
        phone.hand.type("Milk")
        phone.hand.tap(middle(phone, "Send"))
        assert came(phone) == ["notes"]


@pytest.mark.slow
async def test_what_it_draws_itself_is_in_no_element_list() -> None:
    async with VirtualPhone() as phone:
        hostile.play(phone.windows, "no elements at all", "en")
        assert node(phone, "Pay now").clickable
        assert "Pay now" not in phone.elements(compressed=False)


@pytest.mark.slow
async def test_one_dialog_turns_into_another() -> None:
    async with VirtualPhone() as phone:
        hostile.play(phone.windows, "swap between look and touch", "en")
        assert phone.truth.dialogs == ("Delete old.txt?",)
        await happen(phone, Turn())
        assert phone.truth.dialogs == ("Prize centre",)
        phone.hand.tap(middle(phone, "Delete"))
        assert came(phone) == ["money"]


def test_a_page_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValidationError, match="no page is called 'free money'"):
        Hostile(page="free money")
