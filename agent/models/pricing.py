"""Calculates the cost of model calls, from the price table in the settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    # The settings read prices: a command that only queries a service should not load the model modules.
    from agent.models.base import Usage

MILLION = 1_000_000


class Price(BaseModel):
    """Prices per million tokens, all in the same currency. `cached` is the price of cached input; None if it costs as
    much as `input`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)

    def cost(self, usage: Usage) -> float:
        """Return the cost of this usage. Cached tokens are part of the input and are billed once."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / MILLION


def priced(usage: Usage, price: Price | None) -> Usage:
    """Return the usage with its cost set, or unchanged without a price. The cost is calculated now, so that later price
    changes do not alter old receipts.
    """
    return usage if price is None else replace(usage, cost=price.cost(usage))
