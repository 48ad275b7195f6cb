"""Costs in the currency that the operator has set."""

from __future__ import annotations

import asyncio

import pytest

from agent.models.base import Usage
from bot.cards.formatting import tokens
from bot.domain.locale import counting_in


@pytest.mark.parametrize(
    ("currency", "told"),
    [("", "cost 0.0123"), ("EUR", "cost 0.0123 EUR"), ("$", "cost $0.0123")],
)
async def test_a_cost_is_told_in_its_currency(currency: str, told: str) -> None:
    async def receipt() -> str:
        return tokens(Usage(input=100, cost=0.01234))

    with counting_in(currency):
        assert (await asyncio.create_task(receipt())).endswith(told)
