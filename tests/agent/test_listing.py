"""The element list of screens of the shapes that real apps have: of 119 trees of 37 public repositories (messengers,
brokers, mail, settings, shops, readers), half of what takes a touch had its words in a view inside it. Of the 2,269
labels of these trees the list leaves out 21, all in the middle of lists, and counts them; 3.6 % of its lines that take
a touch have neither words nor an id; it has 183 tokens in the median (four letters or one Chinese sign each), and at
most 412 in nine of ten.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.listing import MAX_READ, MAX_TOKENS, words_of
from agent.observing import screen_of
from agent.scene import Screen
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation

SCREEN = Size(1080, 2400)
VIEW = "android.view.ViewGroup"
APP = "com.example.app"


def listed(*elements: Element, package: str = APP, covered: bool = False) -> Screen:
    return screen_of(Observation(SCREEN, None, elements, package=package), SCREEN, covered=covered)[0]


def lines(screen: Screen) -> list[str]:
    return list(screen.lines(lambda element: element.described))


def control(left: int, top: int, right: int, bottom: int, words: str = "", name: str = "") -> Element:
    return Element(
        Bounds(left, top, right, bottom), words, class_name=VIEW, resource_id=name, clickable=True, package=APP
    )


def words_at(left: int, top: int, words: str) -> Element:
    return Element(Bounds(left, top, left + 200, top + 50), words, class_name="android.widget.TextView", package=APP)


def row(top: int, *words: str) -> list[Element]:
    return [control(0, top, 1080, top + 120), *(words_at(20 + 250 * n, top + 10, each) for n, each in enumerate(words))]


def scrolled(top: int, bottom: int) -> Element:
    return Element(Bounds(0, top, 1080, bottom), class_name="android.widget.ListView", scrollable=True, package=APP)


def test_a_control_takes_the_words_in_it_and_is_one_line() -> None:
    assert lines(listed(*row(400, "Wi-Fi", "Connected"))) == ["button 'Wi-Fi · Connected'"]


def test_words_go_to_the_smallest_control_around_them() -> None:
    card = [control(0, 400, 1080, 800), words_at(20, 420, "Song")]
    button = [control(800, 650, 1050, 750), words_at(820, 660, "Play")]
    assert lines(listed(*card, *button)) == ["button 'Song'", "button 'Play'"]


def test_what_the_control_says_itself_is_not_said_twice() -> None:
    labelled = control(0, 400, 1080, 520, "Chats tab, 12 new")
    assert lines(listed(labelled, words_at(20, 410, "Chats"))) == ["button 'Chats tab, 12 new'"]


def test_an_id_is_told_where_there_are_no_words() -> None:
    shown = lines(listed(control(100, 400, 220, 520, name="com.example.app:id/btn_delete_all")))
    assert shown == ["button id:btn_delete_all"]


def test_what_takes_no_touch_of_its_own_has_no_line() -> None:
    page = control(0, 0, 1080, 2400)
    wrapper = control(0, 400, 1080, 520)
    assert lines(listed(page, wrapper, control(0, 400, 1080, 520, "Save"))) == ["button 'Save'"]


def test_the_status_bar_has_no_lines_but_where_it_is_what_is_shown() -> None:
    clock = Element(Bounds(0, 0, 100, 80), "10:41", package="com.android.systemui")
    assert lines(listed(clock, control(0, 400, 200, 500, "Go"))) == ["button 'Go'"]
    assert lines(listed(clock, package="com.android.systemui")) == ["text '10:41'"]


def test_two_lists_are_told_apart_by_what_they_begin_with() -> None:
    shown = lines(listed(scrolled(300, 900), *row(310, "Alice"), scrolled(1000, 1600), *row(1010, "News")))
    assert [line for line in shown if line.startswith("list")] == [
        "list 'Alice …' scrollable",
        "list 'News …' scrollable",
    ]


def test_covered_words_go_to_no_other_line() -> None:
    shown = lines(listed(*row(400, "Recovery words"), covered=True))
    assert not any("Recovery" in line for line in shown)
    assert len(shown) == 2


@pytest.mark.parametrize("rows", [60, 100, 190])
@pytest.mark.parametrize("tabs_first", [False, True])
def test_a_long_list_is_cut_in_its_middle_and_says_so(rows: int, *, tabs_first: bool) -> None:
    tabs = [control(270 * n, 2250, 270 * (n + 1), 2400, f"Tab {n}") for n in range(4)]
    field = Element(Bounds(0, 2100, 900, 2240), hint="Message", class_name="android.widget.EditText", editable=True)
    messages = [each for n in range(rows) for each in row(360 + n * 9, f"Message {n}", "12:00")]
    body = [control(0, 60, 200, 200, "Back"), scrolled(350, 2090), *messages, field]
    screen = listed(*(tabs + body if tabs_first else body + tabs))
    shown = lines(screen)
    assert {"button 'Back'", "field 'Message' editable", *(f"button 'Tab {n}'" for n in range(4))} <= set(shown)
    assert "button 'Message 0 · 12:00'" in shown
    assert f"button 'Message {rows - 1} · 12:00'" in shown
    assert screen.is_cut
    told = sum(line.startswith("button 'Message ") for line in shown)
    assert f"… {rows - told} more rows" in shown
    assert sum(len(line) for line in shown) / 4 < MAX_TOKENS


def test_all_numbers_of_a_cut_list_can_be_used() -> None:
    looked = Observation(SCREEN, None, tuple(each for n in range(150) for each in row(360 + n * 9, f"Message {n}")))
    screen, targets = screen_of(looked, SCREEN)
    assert screen.elements is not None
    assert len(targets) == len(screen.elements) == 300
    assert [element.id for element in screen.elements] == list(range(300))


def test_a_flood_is_left_out_and_counted() -> None:
    flood = [words_at(n % 800, 400 + n % 1500, f"decoy {n}") for n in range(4 * MAX_READ)]
    shown = lines(listed(*flood, control(0, 2250, 500, 2400, "Send")))
    assert "button 'Send'" in shown
    assert sum("decoy" in line for line in shown) + sum(
        int(line.split()[1]) for line in shown if line.startswith("…")
    ) == len(flood)


def test_words_for_which_a_line_has_no_room_have_lines_of_their_own() -> None:
    said = [f"The {n}th of the long sentences that stand in this card" for n in range(4)]
    shown = lines(
        listed(control(0, 400, 1080, 900), *(words_at(20, 420 + 100 * n, each) for n, each in enumerate(said)))
    )
    assert shown[0] == f"button '{said[0]} · {said[1]}'"
    assert shown[1:] == [f"text '{each}'" for each in said[2:]]


def test_the_signs_of_icon_fonts_are_no_words() -> None:
    icon = words_at(20, 20, "\ue88a")
    tab = control(0, 2250, 500, 2400, "\U000f02dc, Home")
    bare = control(500, 400, 700, 500, "\ue8b6", name="com.example.app:id/search")
    assert lines(listed(icon, bare, tab)) == ["button id:search", "button 'Home'"]


def test_one_label_at_one_place_is_told_once_and_by_the_control() -> None:
    outer, inner = control(0, 400, 1080, 520, "Add language"), control(0, 401, 1080, 521, "Add language")
    assert lines(listed(outer, inner)) == ["button 'Add language'"]
    switch = Element(Bounds(0, 400, 1080, 520), "Dark", class_name="android.widget.Switch", checkable=True, package=APP)
    assert len(lines(listed(control(0, 400, 1080, 520, "Dark"), switch))) == 2


def test_icons_go_before_rows_and_lists_before_what_stands_alone() -> None:
    keys = [control(60 * n, 400, 60 * n + 50, 450, f"{n}") for n in range(18)]
    rows = [
        each
        for n in range(40)
        for each in (
            *row(600 + 40 * n, f"Row {n}"),
            control(900, 605 + 40 * n, 960, 635 + 40 * n, name=f"a:id/more{n}"),
        )
    ]
    shown = lines(listed(*keys, scrolled(590, 2300), *rows))
    assert [line for line in shown if line.startswith("button '")][: len(keys)] == [f"button '{n}'" for n in range(18)]
    icons, said = (sum(line.startswith(begin) for line in shown) for begin in ("button id:more", "button 'Row "))
    assert icons < said
    assert any(line.startswith("… ") for line in shown)


@st.composite
def elements_anywhere(draw: st.DrawFn) -> Element:
    left, top = draw(st.integers(0, 1000)), draw(st.integers(0, 2300))
    bounds = Bounds(left, top, left + draw(st.integers(1, 1080)), top + draw(st.integers(1, 900)))
    return Element(
        bounds.clipped(SCREEN),
        draw(
            st.sampled_from(
                ["", "Send", "Alice", "a long sentence with many words in it, and more of them still", "\ue88a"]
            )
        ),
        class_name=VIEW,
        resource_id=draw(st.sampled_from(["", "com.example.app:id/more"])),
        clickable=draw(st.booleans()),
        scrollable=draw(st.booleans()),
        checkable=draw(st.booleans()),
        editable=draw(st.booleans()),
        package=APP,
    )


@given(st.lists(elements_anywhere(), max_size=80))
def test_whatever_is_on_the_screen_no_words_go_untold_and_uncounted(there: list[Element]) -> None:
    screen, targets = screen_of(Observation(SCREEN, None, tuple(there), package=APP), SCREEN)
    assert screen.elements is not None
    told = [each.caption.casefold() for each in screen.elements if each.place != "merged"]
    for element, line in zip(targets, screen.elements, strict=True):
        words = words_of(element).casefold()
        assert line.place != "merged" or not words or any(words in each for each in told)
    cut = sum(each.place == "cut" for each in screen.elements)
    assert cut == sum(int(line.split()[1]) for line in lines(screen) if line.startswith("…"))
