"""Amounts of money as text, in the currency in which the operator has set the prices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_currency: ContextVar[str] = ContextVar("currency", default="")


@contextmanager
def counting_in(currency: str) -> Iterator[None]:
    """Context manager: `money` uses this currency until the block ends, also in asyncio tasks begun inside it. ""
    shows no currency.
    """
    before = _currency.set(currency)
    try:
        yield
    finally:
        _currency.reset(before)


def money(amount: float) -> str:
    """Return an amount as text: "0.0123", with a currency sign "$0.0123", with letters "0.0123 EUR"."""
    currency, number = _currency.get(), f"{amount:.4f}"
    if not currency:
        return number
    return f"{number} {currency}" if currency.isalpha() else f"{currency}{number}"
