"""Which numbers are money, in whatever currency."""

from __future__ import annotations

import pytest

from agent.guards.amounts import has_amount, is_amount


@pytest.mark.parametrize(
    "label",
    [
        *("$5", "US$ 1,299.00", "€ 5,00", "5 €", "£3.20", "¥ 1,299", "₹500", "1 000 ₽", "₩5000", "₿0.01", "￥12"),
        *("12 zł", "12,50zł", "199 kr", "kr 199", "kr. 199,00", "99 Kč", "Rs 500", "Rs.500", "50.000 ₫", "฿90", "₺20"),
        *("₴300", "500円", "2 500 Ft", "0.5 BTC", "PLN 20", "20PLN", "AED 30", "100美元", "5,000원", "₦100", "₱50"),
        *("Rp 50.000", "RM12.90", "R$ 5,00", "100 руб.", "250 грн", "20 лв", "15 lei", "CHF 12.-"),
        *(
            "TRY 20.00",
            "20 TRY",
            "٥٠ ريال",
            "١٢٫٥٠ د.إ",
            "$\u200b5.00",
            "\u200f50 ر.س",
            "5 dollars",
            "Pay 20 euros now",
            "20 usd",
        ),
        "$５.００",
    ],
)
def test_money(label: str) -> None:
    """Seen failing before for most of them: ten signs and eight codes were all that was known."""
    assert has_amount(label)


@pytest.mark.parametrize(
    "label",
    [
        *("12:30", "Top 10", "TOP 10", "ALL 5 ITEMS", "TRY 2 TIMES", "6 ft", "5 km", "Chapter 12", "3 items", "50 %"),
        *("Android 14", "2026-11-22", "krill 5", "Version 5.00", "5.00", "10 corals", "Rsync 3", "Formel 1", ""),
    ],
)
def test_other_numbers(label: str) -> None:
    assert not has_amount(label)


def test_a_bare_number_with_two_decimals_where_something_is_paid() -> None:
    assert all(is_amount(each, bare=True) for each in ("5.00", "1.299,00", "1 299,00", "-12,50", "12345.67"))
    assert not any(is_amount(each, bare=True) for each in ("5", "5.0", "5.000", "12:30", "Version 5.00", "1.2.34"))
    assert not is_amount("5.00")
