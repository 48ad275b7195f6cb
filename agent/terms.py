"""On what terms a task is worked on: with which models, in which dialect, within which limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from agent.dialects.base import Dialect
from agent.graph.main.limits import TaskLimits
from agent.models.base import Models


@dataclass(frozen=True)
class Terms:
    """What may be set otherwise while tasks work. Who has taken some keeps them to the end."""

    models: Models
    dialect: Dialect
    image_window: int
    """How many of the latest pictures the acting model is shown."""
    limits: TaskLimits = field(default_factory=TaskLimits)
    deep_thinking: bool = False
    """Whether the planner weighs several ways first."""


class TermsSource(Protocol):
    """Where the terms of this moment are. Models that were replaced are closed when nobody has them any more."""

    def take(self) -> Terms:
        """Those of this moment, to be given back."""
        ...

    def give_back(self, terms: Terms) -> None:
        """Nothing is asked of their models any more by whoever took them."""
        ...


@dataclass(frozen=True)
class FixedTerms:
    """Implements TermsSource where nothing changes."""

    terms: Terms

    def take(self) -> Terms:
        """See TermsSource."""
        return self.terms

    def give_back(self, terms: Terms) -> None:
        """See TermsSource."""
