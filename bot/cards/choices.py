"""What a question offers to choose from: buttons while they fit, a menu where there are many, else numbers to type."""

from __future__ import annotations

from dataclasses import dataclass

from agent.questions import Question
from bot.cards.buttons import LABEL_LIMIT, VERSION, Deed, button, locator
from bot.chats.outgoing import Button, Menu
from bot.texts import say

CHOICE_BUTTONS = 5
"""More choices than this become a menu: a message on Discord has five rows of buttons."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The choices as a message shows them. `lines` list them with numbers where a label cannot tell all."""

    how: str
    """How to answer, in one sentence."""
    rows: tuple[tuple[Button, ...], ...] = ()
    menu: Menu | None = None
    lines: tuple[str, ...] = ()


def offer_of(question: Question, menu_choices: int) -> Offer:
    """The choices of an open question on a platform whose menus hold `menu_choices`.

    Whatever is shown, an answer in words and the number of a choice are taken too.
    """
    choices = question.choices
    if not choices:
        return Offer(say("asking.ask.how_words"))
    whole = all(len(choice) <= LABEL_LIMIT for choice in choices)
    lines = tuple(f"{number}. {choice}" for number, choice in enumerate(choices, 1))
    if whole and len(choices) <= CHOICE_BUTTONS:
        return Offer(say("asking.ask.how"), tuple((one,) for one in _buttons(question, choices)))
    if len(choices) > menu_choices:
        return Offer(say("asking.ask.how_number"), lines=lines)
    turner = f"{VERSION}:{Deed.PAGE}:{locator(question.id)}"
    menu = Menu(_buttons(question, choices if whole else lines), say("question.choose"), turner)
    return Offer(say("asking.ask.how_menu"), menu=menu, lines=() if whole else lines)


def _buttons(question: Question, labels: tuple[str, ...]) -> tuple[Button, ...]:
    place = locator(question.id)
    return tuple(button(Deed.ANSWER, place, label, choice=str(number)) for number, label in enumerate(labels, 1))
