"""A comparison task before it gets a phone: its text, the wanted state of the phone, and the person who gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.model_comparison.judging import Need, Wanted


@dataclass(frozen=True)
class Person:
    """The simulated person who gave the task."""

    allows: tuple[str, ...] = ()
    """An approval is given if the question contains all these texts; without any, every approval is denied."""
    answers: str = ""
    """The reply to a question."""
    code: str = ""
    """The reply to a request for a secret."""


@dataclass(frozen=True)
class Made:
    """A comparison task without a phone."""

    text: str
    need: Need
    wanted: Wanted = field(default_factory=Wanted)
    person: Person = field(default_factory=Person)
    before: Mapping[str, Any] = field(default_factory=dict)
    """Values for the fields of its `PhoneBefore`."""
    chinese: bool = False
    """Whether it needs a phone in Chinese."""
