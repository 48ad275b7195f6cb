"""What a person is shown of a screen before they allow something."""

from __future__ import annotations

from agent.guards.facts import MAX_AMOUNTS, facts_of
from bot.texts import speaking
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation


def screen(text: str, total: str = "$12.90", person: str = "Anna", clock: str = "12:00") -> Observation:
    return Observation(
        Size(1000, 2000),
        None,
        (
            Element(Bounds(0, 0, 100, 40), text=clock),
            Element(Bounds(100, 120, 500, 180), text=person),
            Element(Bounds(0, 900, 200, 950), text="Total"),
            Element(Bounds(800, 900, 990, 950), text=total),
            Element(Bounds(0, 1800, 800, 1900), text=text, hint="Text message", editable=True),
            Element(Bounds(0, 1500, 800, 1600), text="hunter2", password=True, editable=True),
        ),
        package="com.example",
    )


def test_a_person_reads_text_amount_and_recipient() -> None:
    assert facts_of(screen("hello")).lines == ["Screen: Anna", "Text message: hello", "Amount: Total $12.90"]
    assert facts_of(screen("Text message")).fields == ()
    assert "¥ 1,299" in facts_of(screen("x", total="实付 ¥ 1,299")).amounts[0]


def test_a_chinese_reader_reads_it_in_chinese() -> None:
    """Seen failing with the words before the colons written here."""
    with speaking("zh"):
        assert facts_of(screen("hello")).lines == ["屏幕：Anna", "Text message：hello", "金额：Total $12.90"]


def prices(*labels: str, button: str = "Next") -> Observation:
    rows = [Element(Bounds(0, 400 + 20 * n, 900, 418 + 20 * n), text=label) for n, label in enumerate(labels)]
    rows.append(Element(Bounds(0, 1800, 900, 1900), text=button, clickable=True))
    return Observation(Size(1000, 2000), None, tuple(rows), package="com.example")


def test_no_amount_is_left_out() -> None:
    """Seen failing before: the thirteenth could be another one after the approval."""
    many = [f"Item {n}: ${n}.00" for n in range(1, 20)]
    one, other = facts_of(prices(*many)), facts_of(prices(*many[:14], "Item 15: $900.00", *many[15:]))
    assert one.amounts != other.amounts
    shown = [line for line in one.lines if line.startswith("Amount")]
    assert shown[0] == "Amount: Item 1: $1.00"
    assert shown[-1] == "Amount: Item 19: $19.00"
    assert len(shown) == MAX_AMOUNTS + 1


def test_a_bare_number_is_an_amount_beside_what_pays() -> None:
    """Seen failing before: "5.00" was no amount anywhere."""
    assert facts_of(prices("Total", "5.00", button="Pay now")).amounts == ("5.00",)
    assert facts_of(prices("Total", "5.00", button="Confirm")).amounts == ("5.00",)
    assert facts_of(prices("Version", "5.00", button="Next")).amounts == ()
