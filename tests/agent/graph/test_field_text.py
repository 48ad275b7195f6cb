"""The text of a field as a whole: read, changed at once, copied and pasted by a model through the real graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from agent.actions import Action, Finish, ListApps, OpenApp, PressKey, Scroll, SumUp
from agent.dialects.select import NAMES as NAMES_OF_DIALECTS
from agent.dialects.select import dialect_for
from agent.effect_facts import TextNow
from agent.events import Asked, Step
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.executor.context import RunMemory
from agent.graph.executor.field_text import (
    CUT_TEXT,
    EDIT_TEXT,
    NOT_COPIED,
    CopyText,
    CutText,
    EditText,
    PasteText,
    ReadText,
    SameText,
    field_in,
    read_field,
)
from agent.graph.executor.long_lists import ReadList, ScrollTo
from agent.graph.executor.matters import acts
from agent.graph.executor.outgoing import sources_of
from agent.graph.executor.phone_files import Files
from agent.graph.executor.phone_tools import ShowAll
from agent.graph.executor.state import CopiedText, ExecutorState
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.controls import pastes_unknown
from agent.guards.leaving import address_carries
from agent.guards.touch_target import TouchTarget, Words
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.observing import ScreenView, screen_of
from agent.questions import QuestionKind
from agent.run import Outcome
from agent.tools.spec import ActionError
from devices.geometry import Bounds, Size
from devices.inputs import Key, TypeText
from devices.phone import Element, Observation
from devices.virtual_phone.state import Dialog, Note
from tests.agent.graph.dying import DyingSaver, Lives
from tests.agent.graph.rig import LIMIT, Rig, Work, order, rig_on
from tests.agent.graph.test_main import FINISH
from tests.fakes.scripted_model import call, models, text
from tests.fixtures.adb import AdbServer

NAMES = ("amber", "birch", "cedar", "delta", "ember")
DOCUMENT = "\n".join(
    f"Line {n}: the {NAMES[n % 5]} report is due on day {n}, as agreed with team {n}." for n in range(55)
)
GIVE_UP = call("finish", status="failure", summary="It cannot be done.")
SECRET_WORDS = "Zanzibar quokka harbour"


def edit_note(rig: Rig, body: str, title: str = "Plan") -> None:
    """A note with this text, open in its app with the focus in the text."""
    rig.phone.state.notes[:] = [Note(7, title, body)]
    rig.phone.windows.launch("notes")
    activity = rig.phone.windows.open("edit", number="7")
    activity.fields = {"title": title, "body": body}
    rig.phone.windows.focus("body")
    rig.phone.changed()


def body(rig: Rig) -> str:
    activity = rig.phone.windows.activity
    assert activity is not None
    return activity.fields["body"]


def read(request: ModelRequest) -> str:
    """What was read for the model last."""
    return request.messages[-1].text.rpartition("<read>\n")[2].partition("\n</read>")[0]


async def test_three_changes_in_a_long_document_take_three_requests(rig: Rig) -> None:
    assert 3_000 < len(DOCUMENT) < 4_000
    edit_note(rig, DOCUMENT)
    changes = [
        ["day 3, as", "day 30, as"],
        ["the cedar report is due on day 27", "the oak report is late"],
        ["team 54.", "team 54.\nEnd"],
    ]
    asked, model = models([call("read_text"), call("edit_text", changes=changes), FINISH])
    work = Work(rig.agent(asked), order("mend the plan"))
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    made = [each for step in work.steps for each in step.record.actions if each.kind == "edit_text"]
    assert [each.is_left_to_model for each in made] == [True]
    _, second, third = model.asked(Purpose.ACT)
    assert read(second) == DOCUMENT
    wanted = DOCUMENT
    for old, new in changes:
        wanted = wanted.replace(old, new)
    assert body(rig) == wanted
    assert "holds exactly the text that was typed" in third.messages[-1].text
    assert len(third.messages[-1].text) < len(DOCUMENT) + 3_000, "the text is not told again as a whole"


async def test_any_script_is_changed_through_the_fast_lane(adb_server: AdbServer) -> None:
    document = "\n".join(f"第{n}行：报告在{n}日交。" for n in range(90))
    async with rig_on(adb_server, fast_lane=True) as rig:
        rig.phone.state.adb_keyboard_installed = False
        phone = rig.phones.get(rig.phones.list()[0].id)
        await phone.prepare()
        async with asyncio.timeout(LIMIT):
            while phone.info.lane != "fast":
                await asyncio.sleep(0)
        edit_note(rig, document)
        changes = [["报告在7日交", "报告在17日交\n（改）"], ["第88行：", ""]]
        asked, model = models([call("edit_text", changes=changes), FINISH])
        await Work(rig.agent(asked), order("改一下")).ended()
        assert body(rig) == document.replace("报告在7日交", "报告在17日交\n（改）").replace("第88行：", "")
        assert [entry.name for entry in rig.phone.journal.entries if entry.receipt] == ["setText"]
    assert "holds exactly the text that was typed" in model.asked(Purpose.ACT)[1].messages[-1].text


async def test_a_change_without_one_clear_place_changes_nothing(rig: Rig) -> None:
    edit_note(rig, "milk, eggs, milk")
    asked, model = models(
        [
            call("edit_text", changes=[["eggs", "rice"], ["milk", "tea"]]),
            call("edit_text", changes=[["bread", "tea"]]),
            call("edit_text", text="tea"),
            FINISH,
        ]
    )
    await Work(rig.agent(asked), order("mend the list")).ended()
    _, second, third, _ = model.asked(Purpose.ACT)
    assert "'milk' occurs 2 times in the text" in second.messages[-1].text
    assert "'bread' occurs 0 times" in third.messages[-1].text
    assert body(rig) == "tea"


async def test_a_text_is_copied_and_pasted_into_another_app(rig: Rig) -> None:
    edit_note(rig, "Platform 9, seat 12")
    asked, model = models(
        [
            call("copy_text"),
            call("open_app", name="Account"),
            call("paste_text"),
            call("cut_text"),
            call("paste_text"),
            FINISH,
        ]
    )
    await Work(rig.agent(asked), order("carry it over")).ended()
    cut, pasted = model.asked(Purpose.ACT)[4:]
    assert "the field now reads ''" in cut.messages[-1].text or "User name" in cut.messages[-1].text
    assert "the field now reads 'Platform 9, seat 12'" in pasted.messages[-1].text
    activity = rig.phone.windows.activity
    assert activity is not None
    assert activity.fields["user_name"] == "Platform 9, seat 12"


async def test_a_text_that_is_no_field_is_copied_by_its_words(rig: Rig) -> None:
    rig.phone.state.notes[:] = [Note(7, "Trip", "Gate 41 closes at nine")]
    asked, _ = models(
        [
            call("open_app", name="Notes"),
            call("copy_text", of="gate 41"),
            call("open_app", name="Account"),
            call("paste_text"),
            FINISH,
        ]
    )
    await Work(rig.agent(asked), order("carry it over")).ended()
    activity = rig.phone.windows.activity
    assert activity is not None
    assert activity.fields["user_name"] == "Gate 41 closes at nine"


async def test_what_was_not_copied_in_the_task_is_not_pasted(rig: Rig) -> None:
    """Seen failing with the phone's own paste key in place of the text that was copied."""
    edit_note(rig, "milk")
    asked, model = models([call("paste_text"), GIVE_UP])
    await Work(rig.agent(asked), order("paste it")).ended()
    assert NOT_COPIED in model.asked(Purpose.ACT)[1].messages[-1].text
    assert (body(rig), rig.inputs()) == ("milk", [])


@pytest.mark.parametrize("how", [call("paste_text"), call("edit_text", text=SECRET_WORDS)])
async def test_what_would_leave_by_a_paste_is_asked(rig: Rig, how: ModelReply) -> None:
    """Seen failing with `gate` taking only what is called Type for typing: nobody is asked."""
    edit_note(rig, SECRET_WORDS)
    asked, _ = models([call("copy_text"), call("open_app", name="Browser"), how, FINISH])
    work = Work(rig.agent(asked), order("look something up"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert "takes words from Notes out of the phone" in question.detail
    assert SECRET_WORDS in question.detail
    await work.answer("no")
    await work.ended()
    assert not any("Zanzibar" in line for line in rig.inputs())


async def test_what_was_allowed_to_be_pasted_is_pasted_once(rig: Rig) -> None:
    edit_note(rig, SECRET_WORDS)
    asked, model = models(
        [call("copy_text"), call("open_app", name="Browser"), call("paste_text"), call("key", key="enter"), FINISH]
    )
    work = Work(rig.agent(asked), order("look something up"))
    await work.until(Asked)
    await work.answer("allow")
    await work.ended()
    assert len([event for event in work.events if isinstance(event, Asked)]) == 1
    assert f"the field now reads {SECRET_WORDS!r}" in model.asked(Purpose.ACT)[3].messages[-1].text


@pytest.mark.parametrize(
    "label", ["Paste", "PASTE", "粘贴", "Einfügen", "Coller", "貼り付け", "Dán", "Paste as plain text"]
)
async def test_the_phones_own_paste_is_asked_about(rig: Rig, label: str) -> None:
    """What lies on its clipboard is not known. Seen failing without `pastes_unknown`: nobody is asked."""
    rig.phone.state.dialogs.append(Dialog("Text", "Choose.", [label, "Cancel"]))
    await _asked_about_paste(rig, lambda r: call("tap", element=_of(r, label)))


def test_a_name_is_no_paste() -> None:
    """Seen failing where accents did not count: in Vietnamese one says Dán."""
    chat = Element(Bounds(0, 0, 100, 100), text="Dan")
    assert not pastes_unknown(TouchTarget("com.example", chat), [Words(chat, "Dan", button=True)])


def _finger(request: ModelRequest, tool: str) -> ModelReply:
    assert request.scene is not None
    box = next(e.bounds for e in request.scene.screen.elements or () if e.text == "Paste")
    middle = box.centre
    points = {"start_x": middle.x, "start_y": middle.y, "end_x": middle.x + 40, "end_y": middle.y}
    return call(tool, **points)


@pytest.mark.parametrize(
    "press",
    [
        lambda r: call("type", element=_of(r, "Paste"), text="hello"),
        lambda r: call("long_press", element=_of(r, "Paste")),
        lambda r: call("double_tap", element=_of(r, "Paste")),
        lambda r: _finger(r, "swipe"),
        lambda r: _finger(r, "drag"),
    ],
)
async def test_whatever_presses_paste_is_asked_about(rig: Rig, press: Callable[[ModelRequest], ModelReply]) -> None:
    """Seen failing with a look at taps, long presses and keys alone."""
    rig.phone.state.dialogs.append(Dialog("Text", "Choose.", ["Paste", "Cancel"]))
    await _asked_about_paste(rig, press)


async def _asked_about_paste(rig: Rig, press: Callable[[ModelRequest], ModelReply]) -> None:
    asked, _ = models([press, GIVE_UP])
    work = Work(rig.agent(asked), order("fill it in"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert "clipboard" in question.detail
    await work.answer("no")
    await work.ended()
    assert rig.inputs() == []


@pytest.mark.parametrize("label", ["Pasteboard", "Copy and paste", "Toothpaste"])
async def test_what_only_sounds_like_paste_is_not(rig: Rig, label: str) -> None:
    rig.phone.state.dialogs.append(Dialog("Text", "Choose.", [label, "Cancel"]))
    asked, _ = models([lambda r: call("tap", element=_of(r, label)), FINISH])
    work = Work(rig.agent(asked), order("fill it in"))
    await work.ended()
    assert not any(isinstance(event, Asked) for event in work.events)


def _of(request: ModelRequest, label: str) -> int:
    assert request.scene is not None
    return next(e.id for e in request.scene.screen.elements or () if e.text == label)


def test_what_was_copied_counts_as_words_of_its_app() -> None:
    """Seen failing with the words that were seen alone: of an app only the newest are kept."""
    copied: CopiedText = {"app": "org.example.notes", "text": SECRET_WORDS}
    state: ExecutorState = {
        "order": {"task": "look something up"},
        "safety": {"seen_words": {}, "released_texts": [], "copied": copied},
        "conversation": {"user_messages": [], "notes": []},
    }
    reason = address_carries("https://example.org/?q=Zanzibar+quokka+harbour", sources_of(state, RunMemory()))
    assert reason is not None
    assert "org.example.notes" in reason


@pytest.mark.parametrize("kind", ["read_text", "copy_text", "cut_text"])
async def test_nothing_is_taken_out_of_a_field_for_codes(rig: Rig, kind: str) -> None:
    """Seen failing without `_moved_gate` and the look at the field in `read_text` and `copy_text`."""
    rig.phone.windows.launch("account")
    rig.phone.windows.open("code", user="robin").fields["code"] = "246810"
    rig.phone.windows.focus("code")
    rig.phone.changed()
    asked, model = models([call(kind), call("paste_text"), GIVE_UP])
    await Work(rig.agent(asked), order("look at it")).ended()
    _, second, third = model.asked(Purpose.ACT)
    assert "password or code" in second.messages[-1].text
    assert NOT_COPIED in third.messages[-1].text
    assert rig.inputs() == []


@pytest.mark.parametrize(("kind", "arguments"), [("read_text", {}), ("copy_text", {"of": "orbit"}), ("copy_text", {})])
async def test_covered_words_are_neither_read_nor_copied(rig: Rig, kind: str, arguments: dict[str, str]) -> None:
    """Seen failing with what the phone tells in place of what may be told."""
    asked, model = models([call("open_app", name="Vault"), call(kind, **arguments), call("paste_text"), FINISH])
    await Work(rig.agent(asked), order("look into the vault")).ended()
    told = model.asked(Purpose.ACT)
    assert "its words are covered" in told[2].messages[-1].text
    assert NOT_COPIED in told[3].messages[-1].text


def place(text: str, **more: object) -> Element:
    return Element(Bounds(0, 100, 500, 900), text=text, class_name="android.widget.EditText", editable=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("field", [place("a •••••• b"), place("••••"), place("1", password=True)])
def test_a_field_with_something_covered_is_not_read(field: Element) -> None:
    """Seen failing without the look for bullets."""
    with pytest.raises(ActionError, match="password or code"):
        read_field(Observation(Size(500, 1000), None, (field,)), covered=False)


def test_a_list_with_dots_is_read() -> None:
    """Seen failing with every dot taken for a password."""
    field = place("• milk\n• eggs")
    assert read_field(Observation(Size(500, 1000), None, (field,)), covered=False) == (field, "• milk\n• eggs")


def test_a_field_that_may_tell_a_part_is_not_changed_in_parts() -> None:
    """The rest would be lost. Seen failing without the look at its class."""
    drawn = replace(place("one"), class_name="org.example.Canvas", focused=True)
    seen = Observation(Size(500, 1000), None, (drawn,))
    screen, targets = screen_of(seen, seen.size)
    sight = ScreenView(seen, screen, targets)
    change, whole = EditText(changes=(("one", "two"),)), EditText(text="two")
    with pytest.raises(ActionError, match="A change would lose the rest"):
        EDIT_TEXT.to_input(change, ResolvedTarget(None, None), sight)
    with pytest.raises(ActionError, match="A change would lose the rest"):
        CUT_TEXT.to_input(CutText(), ResolvedTarget(None, None), sight)
    assert EDIT_TEXT.to_input(whole, ResolvedTarget(None, None), sight) == TypeText("two", clear=True)


def test_which_field_is_meant() -> None:
    first, second = place("one"), place("two")
    assert field_in((first,)) is first
    assert field_in((first, second)) is None
    assert field_in((first, replace(second, focused=True))) == replace(second, focused=True)


def test_a_text_is_only_replaced_while_it_is_what_the_change_was_made_of() -> None:
    """Seen failing with a field that only has to be there: what somebody has typed meanwhile is lost."""
    seen = Observation(Size(500, 1000), None, (place("one"),))
    judged = SameText(place("one"), "one", seen, lambda each: each)
    assert judged.tells_same((place("one"),))
    assert not judged.tells_same((place("one and more"),))
    assert not judged.tells_same(())
    assert not judged.tells_same((place("one", resource_id="org.example:id/other"),))
    assert not judged.tells_same((replace(place("one"), class_name="org.example.EditText"),))


@pytest.mark.parametrize(("focused", "same"), [(False, False), (True, True)])
def test_a_field_that_is_touched_lies_where_it_lay(focused: bool, same: bool) -> None:
    """Seen failing with the text alone: what has come to lie there is touched."""
    seen = Observation(Size(500, 1000), None, (place("one"),))
    judged = SameText(place("one", focused=focused), "one", seen, lambda each: each)
    assert judged.tells_same((replace(place("one"), bounds=Bounds(0, 600, 500, 900)),)) is same
    assert judged.tells_same((replace(place("one"), bounds=Bounds(0, 200, 500, 900)),))


@pytest.mark.parametrize("how", [call("edit_text", changes=[["milk", "tea"]]), call("cut_text")])
async def test_a_text_that_somebody_has_changed_meanwhile_is_kept(rig: Rig, how: ModelReply) -> None:
    """Also where elements come slowly. Seen failing with a picture that shows the same."""

    def changed(_: ModelRequest) -> ModelReply:
        activity = rig.phone.windows.activity
        assert activity is not None
        activity.fields["body"] = "milk, eggs"
        rig.phone.changed()
        return how

    edit_note(rig, "milk")
    asked, _ = models([changed, FINISH])
    await Work(rig.agent(asked), order("mend the list")).ended()
    assert body(rig) == "milk, eggs"


async def test_a_text_is_kept_that_may_be_cut(rig: Rig) -> None:
    """Seen failing with a text that is only kept once the phone has confirmed that it is cut."""
    edit_note(rig, "Platform 9")
    rig.phone.faults.set(hang="KEYCODE_DEL")
    asked, _ = models([call("cut_text"), call("open_app", name="Account"), call("paste_text"), FINISH])
    work = Work(rig.agent(asked), order("carry it over"))
    async with asyncio.timeout(LIMIT):
        while not rig.journal.rows:
            await asyncio.sleep(0)
    await work.agent.pause("7")
    rig.phone.faults.set(hang="")
    await work.agent.resume("7")
    await work.ended()
    assert next(entry.state for entry in rig.journal.rows.values()) == "uncertain"
    activity = rig.phone.windows.activity
    assert activity is not None
    assert activity.fields["user_name"] == "Platform 9"


async def test_a_text_that_was_cut_outlives_its_process(rig: Rig, tmp_path: Path) -> None:
    """It dies after the cut, before the checkpoint. Seen failing without the text in the journal: it was lost."""
    edit_note(rig, "Platform 9")
    lives, task = Lives(tmp_path / "checkpoints.sqlite3"), order("carry it over")
    for saver, script in (
        (DyingSaver(await lives.connect(), "execute_action", "has run", 1), [call("cut_text")]),
        (DyingSaver(await lives.connect()), [call("open_app", name="Account"), call("paste_text"), FINISH]),
    ):
        rig.saver = saver
        asked, _ = models(script)
        await lives.live(rig.agent(asked), task, saver)
        await saver.conn.close()
    activity = rig.phone.windows.activity
    assert activity is not None
    assert activity.fields["user_name"] == "Platform 9"


@pytest.mark.parametrize(
    ("action", "changes"),
    [
        (SumUp(instruction="in short"), False),
        (Finish(status="success", summary="x"), False),
        (Scroll(direction="down"), False),
        (PressKey(key=Key.BACK), False),
        (PressKey(key=Key.ENTER), True),
        (OpenApp(name="x"), True),
        (ReadText(), False),
        (CopyText(), False),
        (ListApps(), False),
        (ScrollTo(text="x"), False),
        (ReadList(), False),
        (ShowAll(), False),
        (Files(do="list", path="/sdcard/"), False),
        (Files(do="make_folder", path="/sdcard/a"), True),
        (EditText(text="x"), True),
        (CutText(), True),
        (PasteText(), True),
    ],
)
def test_what_only_looks_is_no_deed(action: Action, changes: bool) -> None:
    """Seen failing with looks that count as deeds: a claim that something was done needs one."""
    assert acts(action, BUILT_IN.spec_of(action)) is changes


async def test_the_cursor_goes_to_the_end_and_all_is_selected(rig: Rig) -> None:
    edit_note(rig, "milk\neggs")
    go, select = (call("key", key=key) for key in ("end", "select_all"))
    script = [call("key", key="left"), go, call("type", text=", tea"), select, call("type", text="rice"), FINISH]
    asked, _ = models(script)
    work = Work(rig.agent(asked), order("mend the list"))
    await work.ended()
    effects = [fact for event in work.events if isinstance(event, Step) for fact in event.effect]
    texts = [fact.text for fact in effects if isinstance(fact, TextNow)]
    assert texts == ["milk\neggs, tea", "rice"]


async def test_a_tab_is_no_text(rig: Rig) -> None:
    edit_note(rig, "milk")
    asked, model = models([call("edit_text", text="a\tb"), FINISH])
    await Work(rig.agent(asked), order("mend it")).ended()
    assert "has a tab" in model.asked(Purpose.ACT)[1].messages[-1].text
    assert body(rig) == "milk"


@pytest.mark.parametrize("given", [[["a", "b"]], ["a", "b"], [{"new": "b", "old": "a"}]])
def test_pairs_as_models_write_them(given: object) -> None:
    assert EditText.model_validate({"changes": given}) == EditText(changes=(("a", "b"),))


@pytest.mark.parametrize(
    "given", [{}, {"text": "a", "changes": [["a", "b"]]}, {"changes": [["", "b"]]}, {"changes": [["a"]]}]
)
def test_what_is_no_change_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        EditText.model_validate(given)


@pytest.mark.parametrize("dialect", [name for name in NAMES_OF_DIALECTS if name not in {"auto", "tools"}])
def test_pairs_are_read_in_every_dialect(dialect: str) -> None:
    made = dialect_for(dialect, "").offering(BUILT_IN.models)
    printed = {
        "ui-tars": "Thought: t\nAction: {}",
        "ui-tars-1.5": "Thought: t\nAction: {}",
        "autoglm": '<answer>do(action="edit_text", changes={})</answer>',
    }
    pairs = '[["old, \\"one\\"", "new"], ["two", "line\\nend"]]'
    match dialect:
        case "autoglm":
            reply = printed[dialect].format(pairs)
        case "ui-tars" | "ui-tars-1.5":
            reply = printed[dialect].format(f"edit_text(changes={pairs})")
        case "gelab":
            reply = f"<THINK>t</THINK>\nexplain:e\taction:edit_text\tchanges:{pairs}\tsummary:s"
        case _:
            arguments = f'{{"action": "edit_text", "changes": {pairs}}}'
            reply = f'<tool_call>{{"name": "mobile_use", "arguments": {arguments}}}</tool_call>'
    (action,) = made.parse(text(reply), Size(500, 1000)).actions
    assert action == EditText(changes=(('old, "one"', "new"), ("two", "line\nend")))
