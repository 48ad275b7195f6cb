import contextlib
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.adb.ui_tree import NoHierarchy, focused_text, parse
from devices.geometry import Bounds, Size

SIZE = Size(1080, 2400)


def node(bounds: str = "[0,0][100,50]", inner: str = "", **attributes: str) -> str:
    words = " ".join(f"{name.replace('_', '-')}={quoteattr(value)}" for name, value in attributes.items())
    return f'<node index="0" {words} bounds="{bounds}">{inner}</node>'


def tree(*nodes: str) -> str:
    head = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">"
    return f"{head}{''.join(nodes)}</hierarchy>UI hierchary dumped to: /dev/tty\n"


def test_an_element_has_what_the_phone_told() -> None:
    (element,) = parse(
        tree(
            node(
                "[10,20][500,120]",
                text="a & <b>",
                content_desc="described",
                resource_id="com.a:id/search",
                package="com.a",
                **{"class": "android.widget.EditText"},
                clickable="true",
                long_clickable="true",
                checkable="true",
                checked="true",
                focused="true",
                scrollable="true",
                enabled="false",
                selected="true",
                hint="Search",
            )
        ),
        SIZE,
    )
    assert element.bounds == Bounds(10, 20, 500, 120)
    assert (element.text, element.description, element.hint) == ("a & <b>", "described", "Search")
    assert (element.resource_id, element.package, element.class_name) == (
        "com.a:id/search",
        "com.a",
        "android.widget.EditText",
    )
    assert element.editable
    assert not element.enabled
    assert all(
        (
            element.clickable,
            element.long_clickable,
            element.checkable,
            element.checked,
            element.focused,
            element.scrollable,
            element.selected,
        )
    )


def test_what_cannot_be_seen_or_used_is_left_out() -> None:
    elements = parse(
        tree(
            node(),
            node("[0,0][0,0]", text="no area"),
            node("[1200,0][1300,50]", text="beside the screen"),
            node("[0,2300][100,2600]", text="half below"),
            node(text="gone", visible_to_user="false"),
            node("bounds", text="no bounds"),
            node(clickable="true", inner=node(text="inside")),
        ),
        SIZE,
    )
    assert [(each.text, each.bounds.bottom) for each in elements] == [("half below", 2400), ("", 50), ("inside", 50)]


@pytest.mark.parametrize(
    "output",
    ["", "ERROR: could not get idle state.\n", "Killed", tree(node(text="a"))[:90], "<hierarchy><node></hierarchy>"],
)
def test_no_hierarchy(output: str) -> None:
    with pytest.raises(NoHierarchy):
        parse(output, SIZE)


def test_an_empty_screen() -> None:
    assert parse('<hierarchy rotation="0" />', SIZE) == ()


def test_a_document_type_is_not_read() -> None:
    """Entities could grow without end or read files. Seen failing with the XML taken from its declaration on."""
    bomb = '<!DOCTYPE h [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><hierarchy'
    with pytest.raises(NoHierarchy):
        parse(
            tree(node(clickable="true").replace("clickable", 'text="&b;" clickable')).replace("<hierarchy", bomb), SIZE
        )


def test_characters_that_xml_forbids_do_not_lose_the_screen() -> None:
    (element,) = parse(tree(node(text="a").replace('"a"', '"a&#0;&#x1f;\x01b&#10;"')), SIZE)
    assert element.text == "ab\n"


@pytest.mark.parametrize(
    "reference", ["&#55357;&#56835;", "&#xD83D;&#xde03;", "&#65535;", "&#xfffe;", "&#x110000;", "&#0;"]
)
def test_a_reference_that_xml_forbids_does_not_lose_the_screen(reference: str) -> None:
    (element,) = parse(tree(node(text="a").replace('"a"', f'"a{reference}b&#x1F603;"')), SIZE)
    assert element.text == "ab\N{SMILING FACE WITH OPEN MOUTH}"


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_survives(text: str) -> None:
    elements = parse(tree(node(text=text, clickable="true")), SIZE)
    assert len(elements) == 1


@given(st.text(max_size=300))
def test_any_output_gives_elements_or_a_reason(output: str) -> None:
    for each in (output, f"<hierarchy>{output}</hierarchy>"):
        with contextlib.suppress(NoHierarchy):
            assert parse(each, SIZE) == ()


def test_the_focused_field() -> None:
    field = {"class": "android.widget.EditText", "focused": "true"}
    assert focused_text(None) is None
    assert focused_text(parse(tree(node(text="x", focused="true")), SIZE)) is None
    assert focused_text(parse(tree(node(text="typed", **field)), SIZE)) == "typed"
    assert focused_text(parse(tree(node(text="Search", hint="Search", **field)), SIZE)) == ""


def test_a_password_is_told_by_its_length_only() -> None:
    """Seen failing with the bullets removed from `field_text`."""
    field = {"class": "android.widget.EditText", "focused": "true", "password": "true"}
    assert focused_text(parse(tree(node(text="hunter2", **field)), SIZE)) == "•••••••"
