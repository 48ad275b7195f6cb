"""Collects the facts that a person is shown before they approve an action: what exactly would be sent or paid."""

from __future__ import annotations

from dataclasses import dataclass

from agent.guards.amounts import has_amount, is_amount
from agent.guards.rules import RuleName, shipped
from agent.guards.touch_target import beside, is_button
from agent.guards.words import ends_with, plain, says
from agent.wording import sentence
from devices.phone import Element, Observation

TOP_SHARE = 0.13
"""The top share of a screen, below the status bar, where apps name the person or subject."""
STATUS_BAR_SHARE = 0.04
MAX_AMOUNTS = 12
"""How many amounts a person is shown: the first and the last ones, because totals are at the bottom."""
MAX_NAMED = 100
"""How many amounts are shown together with the words next to them. A page with more is a price list, or made to
mislead.
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What an action would send or pay, according to the screen.

    `about` are the words at the top of the screen, such as the recipient of a message. `fields` are pairs of a field's
    name ("" if it has none) and its text. `amounts` are all lines that contain money.
    """

    about: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    amounts: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """The facts as lines for a person to read."""
        shown, left = list(self.amounts), len(self.amounts) - MAX_AMOUNTS
        if left > 0:
            shown[MAX_AMOUNTS // 2 : -MAX_AMOUNTS // 2] = [sentence("ask.more_amounts", number=left)]
        return [
            *([sentence("ask.screen", words=" · ".join(self.about))] if self.about else []),
            *(sentence("ask.field", field=name or sentence("ask.text_field"), text=text) for name, text in self.fields),
            *(sentence("ask.amount", amount=amount) for amount in shown),
        ]


def facts_of(observation: Observation) -> Facts:
    """Return the facts that a screen shows, without password fields. Other secrets must already be covered in
    `observation`.
    """
    elements = observation.elements or ()
    return Facts(
        about=about_of(observation),
        fields=tuple(
            (e.hint or e.description or e.short_id.replace("_", " "), e.text)
            for e in elements
            if e.editable and not e.password and e.text not in {"", e.hint}  # an empty field shows its hint as its text
        ),
        amounts=tuple(_amounts(elements)),
    )


def about_of(observation: Observation) -> tuple[str, ...]:
    """Return the labels at the top of a screen, at most three, such as the recipient of a message."""
    height = observation.size.height
    top = [
        e
        for e in observation.elements or ()
        if e.label
        and not is_button(e)
        and not e.editable
        and height * STATUS_BAR_SHARE < e.bounds.centre.y < height * TOP_SHARE
    ]
    return tuple(dict.fromkeys(" ".join(e.label.split()) for e in top))[:3]


def _amounts(elements: tuple[Element, ...]) -> list[str]:
    """Return every label that contains money, with the words next to it in its row."""
    paid = any(is_button(e) and pays(label) for e in elements for label in (e.text, e.description) if label)
    lines: dict[str, None] = {}
    for element in elements:
        if element.editable:
            continue
        for label in (" ".join(words.split()) for words in (element.text, element.description, element.hint)):
            if is_amount(label, bare=paid):
                lines.setdefault(_with_caption(label, element, elements) if len(lines) < MAX_NAMED else label)
            elif has_amount(label):
                lines.setdefault(label)
    return list(lines)


def pays(label: str) -> bool:
    """Whether a button with this caption pays or may confirm a payment, so that a number without a currency near it
    counts as money.
    """
    rules = shipped()
    pay = rules.approve[RuleName.PAY]
    return (
        plain(label) in map(plain, rules.confirm.labels)
        or any(says(label, word, button=True, unless=pay.unless) for word in pay.labels)
        or any(ends_with(label, word) for word in pay.endings)
    )


def _with_caption(label: str, amount: Element, elements: tuple[Element, ...]) -> str:
    left = [e for e in elements if e is not amount and _is_caption_of(e, amount)]
    nearest = max(left, key=lambda e: e.bounds.right, default=None)
    return f"{' '.join(nearest.label.split())} {label}" if nearest is not None else label


def _is_caption_of(word: Element, amount: Element) -> bool:
    return (
        bool(word.text)
        and not word.editable
        and beside(word, amount)
        and word.bounds.right <= amount.bounds.left
        and not has_amount(word.text)
    )
