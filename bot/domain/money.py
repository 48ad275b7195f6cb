"""Amounts of money as people read them, in the currency of the prices that the operator has set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_currency: ContextVar[str] = ContextVar("currency", default="")


@contextmanager
def counting_in(currency: str) -> Iterator[None]:
    """Show every amount in this currency until the block ends, also in asyncio tasks begun inside it; "" shows no
    currency.
    """
    before = _currency.set(currency)
    try:
        yield
    finally:
        _currency.reset(before)


def money(amount: float) -> str:
    """An amount in words, such as "0.0123", "$0.0123" with a sign, or "0.0123 EUR" with letters."""
    currency, number = _currency.get(), f"{amount:.4f}"
    if not currency:
        return number
    return f"{number} {currency}" if currency.isalpha() else f"{currency}{number}"
