"""What a person is shown before they allow an action: exactly what would go out, and a digest to hold it against."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import blake2s

from agent.guards.touching import beside, is_button
from devices.phone import Element, Observation

TOP_SHARE = 0.13
"""The part of a screen, below the status bar, where apps write whom or what it is about."""
STATUS_BAR_SHARE = 0.04
MAX_AMOUNTS = 12
_CURRENCY = r"[$€£¥₹₽₩₿￥]|\b(?:usd|eur|gbp|cny|rmb|chf|jpy|inr)\b|元"
# Both have an end: a label of ten thousand digits is else looked through from each of them to the last.
_NUMBER = r"\d[\d.,\u00a0' ]{0,30}"
_GAP = r"\s{0,8}"
AMOUNT = re.compile(rf"(?:{_CURRENCY}){_GAP}{_NUMBER}|{_NUMBER}{_GAP}(?:{_CURRENCY})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Facts:
    """What an action would send or pay, as the screen has it.

    `fields` are pairs of a field's name and its text; `amounts` the lines with money in them; `about` the words at
    the top of the screen, such as the person a message goes to.
    """

    app: str
    about: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    amounts: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """For a person to read."""
        return [
            *([f"Screen: {' · '.join(self.about)}"] if self.about else []),
            *(f"{name}: {text}" for name, text in self.fields),
            *(f"Amount: {amount}" for amount in self.amounts),
        ]

    @property
    def digest(self) -> str:
        """The same for the same facts, another one as soon as a letter of them has changed."""
        told = json.dumps([self.app, self.about, self.fields, self.amounts], ensure_ascii=False)
        return blake2s(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def facts_of(seen: Observation) -> Facts:
    """The facts of a screen. Fields for passwords are left out; whoever shows facts has covered secrets before."""
    elements = seen.elements or ()
    return Facts(
        app=seen.package,
        about=tuple(_about(elements, seen.size.height)),
        fields=tuple((_name(e), e.text) for e in elements if e.editable and not e.password and _filled(e)),
        amounts=tuple(_amounts(elements))[:MAX_AMOUNTS],
    )


def _filled(field: Element) -> bool:
    """An empty field shows its hint as text."""
    return bool(field.text) and field.text != field.hint


def _name(field: Element) -> str:
    return field.hint or field.description or field.resource_id.rsplit("/", 1)[-1].replace("_", " ") or "Text"


def _about(elements: tuple[Element, ...], height: int) -> list[str]:
    top = [
        e
        for e in elements
        if e.label
        and not is_button(e)
        and not e.editable
        and height * STATUS_BAR_SHARE < e.bounds.centre.y < height * TOP_SHARE
    ]
    return list(dict.fromkeys(" ".join(e.label.split()) for e in top))[:3]


def _amounts(elements: tuple[Element, ...]) -> list[str]:
    """Every label with money in it, with the words that stand beside it in its row."""
    lines: dict[str, None] = {}
    for element in elements:
        label = " ".join(element.label.split())
        if element.editable or not AMOUNT.search(label):
            continue
        if AMOUNT.fullmatch(label):
            left = [e for e in elements if e is not element and _names(e, element)]
            nearest = max(left, key=lambda e: e.bounds.right, default=None)
            label = f"{' '.join(nearest.label.split())} {label}" if nearest is not None else label
        lines.setdefault(label)
    return list(lines)


def _names(word: Element, amount: Element) -> bool:
    return (
        bool(word.text)
        and not word.editable
        and beside(word, amount)
        and word.bounds.right <= amount.bounds.left
        and not AMOUNT.search(word.text)
    )
