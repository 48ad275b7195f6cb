"""A comparison task before it gets a phone: its text, the wanted state of the phone, and the person who gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.model_comparison.judging import Need, Wanted


@dataclass(frozen=True)
class Person:
    """The simulated person who gave the task. An approval is allowed if the question contains all texts in `allows`,
    and denied otherwise or if there are none; `answers` is the reply to a question, `code` to a request for a secret.
    """

    allows: tuple[str, ...] = ()
    answers: str = ""
    code: str = ""


@dataclass(frozen=True)
class Made:
    """A task without a phone. `before` has fields of its `PhoneBefore`; `chinese` asks for a phone in Chinese."""

    text: str
    need: Need
    wanted: Wanted = field(default_factory=Wanted)
    person: Person = field(default_factory=Person)
    before: Mapping[str, Any] = field(default_factory=dict)
    chinese: bool = False
