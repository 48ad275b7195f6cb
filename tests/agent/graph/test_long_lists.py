"""Lists longer than the screen, which code scrolls through in one action of the model."""

from __future__ import annotations

import pytest

from agent.events import Asked
from agent.graph.executor.long_lists import list_area
from agent.models.base import ModelRequest, Purpose
from agent.questions import QuestionKind
from agent.run import Outcome
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation
from devices.virtual_phone.state import Note
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.graph.test_main import FINISH
from tests.fakes.scripted_model import call, models

OPEN = call("open_app", name="Notes")
COUNT = 60


def with_notes(rig: Rig) -> list[str]:
    """Many notes on the phone, some of which look the same; their titles in the order of the app."""
    titles = [f"Shopping {n}" if n % 4 else "Shopping" for n in range(COUNT)]
    rig.phone.state.notes[:] = [Note(100 + n, title, "") for n, title in enumerate(titles)]
    rig.phone.changed()
    return titles


def read(request: ModelRequest) -> list[str]:
    """The lines that were read for the model last."""
    return request.messages[-1].text.rpartition("<read>\n")[2].partition("\n</read>")[0].splitlines()


async def test_a_long_list_is_read_in_one_action(rig: Rig) -> None:
    titles = with_notes(rig)
    asked, model = models([OPEN, call("read_list"), FINISH])
    end = await Work(rig.agent(asked), order("how many notes are there?")).ended()
    assert end.outcome is Outcome.SUCCEEDED
    rows = read(model.asked(Purpose.ACT)[2])
    assert f"You have read {len(rows)} rows of the list, to its end." in model.asked(Purpose.ACT)[2].messages[-1].text
    told = [row for row in rows if row.startswith("Shopping")]
    assert told == titles[::-1]
    assert {line.split()[1] for line in rig.inputs() if line.startswith("input")} <= {"swipe", "touchscreen"}


async def test_words_are_scrolled_to_and_the_model_sees_them(rig: Rig) -> None:
    with_notes(rig)
    asked, model = models([OPEN, call("scroll_to", text="shopping 41"), call("scroll_to", text="Shopping 23"), FINISH])
    await Work(rig.agent(asked), order("which note is it?")).ended()
    shown = model.asked(Purpose.ACT)[3].scene
    assert shown is not None
    assert any("Shopping 23" in line.text for line in shown.screen.elements or ())
    assert "found after" in model.asked(Purpose.ACT)[3].messages[-1].text


async def test_what_is_not_there_is_told_after_the_end(rig: Rig) -> None:
    with_notes(rig)
    asked, model = models([OPEN, call("scroll_to", text="Holidays"), FINISH])
    await Work(rig.agent(asked), order("which note is it?")).ended()
    assert "not there: the list was scrolled to its end" in model.asked(Purpose.ACT)[2].messages[-1].text


async def test_each_scroll_has_a_receipt_of_its_own(rig: Rig) -> None:
    """Seen failing with receipts that only count within one call."""
    with_notes(rig)
    asked, _ = models([OPEN, call("scroll_to", text="shopping 41"), call("scroll_to", text="Shopping 23"), FINISH])
    await Work(rig.agent(asked), order("which note is it?")).ended()
    receipts = [entry.receipt for entry in rig.phone.journal.entries if entry.receipt]
    assert len(receipts) == len(set(receipts)) > 2


@pytest.mark.parametrize("kind", ["scroll_to", "read_list"])
async def test_covered_words_are_neither_searched_nor_read(rig: Rig, kind: str) -> None:
    """Whether a word is on such a page would be told by where the search ends. Seen failing with a search of them."""
    arguments = {"text": "orbit"} if kind == "scroll_to" else {}
    asked, model = models([call("open_app", name="Vault"), call(kind, **arguments), FINISH])
    await Work(rig.agent(asked), order("look into the vault")).ended()
    words = model.asked(Purpose.ACT)[2].messages[-1].text
    assert "its words are covered. They are not searched" in words
    assert "found after" not in words
    assert "orbit" not in words.replace("'orbit'", "")


async def test_rows_that_no_model_has_seen_on_a_screen_do_not_leave_unasked(rig: Rig) -> None:
    """Seen failing (nobody is asked) while only what was shown as a screen counted."""
    with_notes(rig)
    rig.phone.state.notes[COUNT // 2] = Note(999, "Zanzibar quokka harbour", "")
    leave = call("open_url", url="https://example.org/?q=Zanzibar+quokka+harbour")
    back = call("scroll_to", text="Shopping 59", direction="up")
    asked, _ = models([OPEN, call("read_list"), back, leave, FINISH])
    work = Work(rig.agent(asked), order("how many notes are there?"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    await work.answer("no")
    await work.ended()


async def test_where_nothing_scrolls_nothing_is_touched(rig: Rig) -> None:
    asked, model = models([call("read_list"), FINISH])
    await Work(rig.agent(asked), order("what is there?")).ended()
    assert "nothing on this screen scrolls down" in model.asked(Purpose.ACT)[1].messages[-1].text
    assert rig.inputs() == []


@pytest.mark.parametrize(
    ("kind", "down", "right"),
    [
        ("androidx.recyclerview.widget.RecyclerView", True, True),
        ("android.widget.ListView", True, False),
        ("android.widget.ScrollView", True, False),
        ("android.widget.HorizontalScrollView", False, True),
        ("androidx.viewpager.widget.ViewPager", False, True),
        ("android.widget.SeekBar", False, False),
        ("com.google.android.material.slider.Slider", False, False),
        ("android.widget.NumberPicker", False, False),
        ("android.widget.EditText", False, False),
        ("android.webkit.WebView", False, False),
    ],
)
def test_what_is_a_list(kind: str, down: bool, right: bool) -> None:
    """Moving a slider or a picker sets a value: nobody has asked for that."""
    place = Bounds(0, 100, 1080, 900)
    elements = (Element(place, class_name=kind, scrollable=True), Element(place, text="words"))
    seen = Observation(Size(1080, 2400), None, elements)
    assert (list_area(seen, "down") == place, list_area(seen, "right") == place) == (down, right)
