"""A task without a phone: its words, what it wants of the phone, and who gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.model_comparison.judging import Need, Wanted


@dataclass(frozen=True)
class Person:
    """Who gave the task. An approval is allowed where all words of `allows` stand in what is asked, and denied else, or
    where there are none; `answers` is said to a question, `code` given where a secret is wanted.
    """

    allows: tuple[str, ...] = ()
    answers: str = ""
    code: str = ""


@dataclass(frozen=True)
class Made:
    """A task without a phone: `before` are fields of the phone that it begins on, `chinese` says that it is a phone in
    Chinese.
    """

    text: str
    need: Need
    wanted: Wanted = field(default_factory=Wanted)
    person: Person = field(default_factory=Person)
    before: Mapping[str, Any] = field(default_factory=dict)
    chinese: bool = False
