"""Values that code compares: numbers as people of many places write them, and what is no value."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.task_results import (
    ListValue,
    NumberValue,
    ResultSchema,
    TextValue,
    Unreadable,
    YesNoValue,
    numbers_in,
    read_value,
    same,
)


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("$12.90", "12.90", "$"),
        ("US$ 45", "45", "$"),
        ("EUR 45", "45", "€"),
        ("12,90 €", "12.90", "€"),
        ("1.234,50 €", "1234.50", "€"),
        ("1.234 €", "1234", "€"),
        ("1 234,5 kr", "1234.5", "kr"),
        ("100\u00a0000 ₽", "100000", "₽"),
        ("1'234.50 CHF", "1234.50", "CHF"),
        ("Rs. 12,34,567", "1234567", "₹"),
        ("R$ 5,00", "5.00", "R$"),
        ("₺45,99", "45.99", "₺"),
        ("45元", "45", "¥"),
        ("￥４５", "45", "¥"),
        ("1.2万", "12000", ""),
        ("1,234", "1234", ""),
        ("0.125", "0.125", ""),
        ("١٢٫٥", "12.5", ""),
        ("−5 °C", "-5", "°C"),
        ("45%", "45", "%"),
        ("5k", "5000", ""),
        ("Price: 45.-", "45", ""),
        ("5 km away", "5", "km"),
    ],
)
def test_numbers_as_people_write_them(text: str, number: str, unit: str) -> None:
    assert numbers_in(text) == (NumberValue(number=Decimal(number), unit=unit),)


@pytest.mark.parametrize("text", ["", "none", "2.500", "2.500 km", "1.2.3", "USB3", "A5", "v1.5", "1,23,4"])
def test_what_is_no_number_or_could_be_two(text: str) -> None:
    assert numbers_in(text) == ()


@pytest.mark.parametrize(
    ("text", "unit", "found"),
    [
        ("was $60, now $45", "$", None),
        ("$45 and again $45.00", "", "45"),
        ("2026-11-23", "", None),
        ("12:30", "", None),
        ("10–20 €", "€", "20"),
        ("45", "$", "45"),
        ("45 €", "$", None),
        ("45 left, $60", "$", "60"),
        ("45 of them", "$", "45"),
        ("5 miles", "km", None),
        ("5 KM", "km", "5"),
        ("JPY 500", "¥", "500"),
        ("500 g for $12.90", "$", "12.90"),
    ],
)
def test_one_number_of_a_unit_or_none(text: str, unit: str, found: str | None) -> None:
    schema = ResultSchema(name="price", type="number", unit=unit)
    if found is None:
        with pytest.raises(Unreadable):
            read_value(text, schema)
        return
    value = read_value(text, schema)
    assert isinstance(value, NumberValue)
    assert value.number == Decimal(found)


GROUPINGS = [(",", "."), (".", ","), (" ", ","), ("\u202f", ","), ("'", "."), ("", ".")]


@given(
    st.integers(0, 10**12),
    st.integers(0, 99),
    st.sampled_from(GROUPINGS),
    st.sampled_from(["{} €", "€{}", "EUR {}", "the price is {} euros today"]),
    st.booleans(),
)
def test_every_amount_is_read_as_it_was_meant(
    whole: int, cents: int, signs: tuple[str, str], form: str, negative: bool
) -> None:
    group, point = signs
    text = f"{'-' if negative else ''}{whole:,}".replace(",", group) + f"{point}{cents:02}"
    meant = Decimal(f"{whole}.{cents:02}") * (-1 if negative else 1)
    assert numbers_in(form.format(text)) == (NumberValue(number=meant, unit="€"),)


@given(st.text(max_size=200), st.sampled_from(["number", "text", "yes-no", "list"]), st.sampled_from(["", "$", "km"]))
def test_any_text_is_a_value_of_that_form_or_unreadable(text: str, kind: str, unit: str) -> None:
    schema = ResultSchema.model_validate({"name": "x", "type": kind, "unit": unit})
    try:
        value = read_value(text, schema)
    except Unreadable:
        return
    assert value.type == kind
    assert same(value, value)
    assert type(value).model_validate_json(value.model_dump_json()) == value


@given(st.text(alphabet="0123456789.,'  -€$k万", max_size=60))
def test_what_looks_like_numbers_never_fails(text: str) -> None:
    for each in numbers_in(text):
        assert each.number.is_finite()


def test_what_makes_no_difference() -> None:
    assert same(TextValue(text="Out for  delivery"), TextValue(text="out for delivery"))
    assert same(ListValue(items=("a", "B")), ListValue(items=("b", "a")))
    assert same(NumberValue(number=Decimal("12.90"), unit="$"), NumberValue(number=Decimal("12.9")))
    assert not same(NumberValue(number=Decimal(12), unit="$"), NumberValue(number=Decimal(12), unit="€"))
    assert not same(YesNoValue(yes=True), YesNoValue(yes=False))
