"""One decision at a time, on scenes made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.actions import AskUser, EnterSecret, Finish, OpenApp, PressKey, Scroll, Tap, Type, Wait, WaitFor
from agent.control import done_by_hand
from agent.dialects.select import dialect_for
from agent.effect_facts import Answered, Appeared, DoneByHand, NothingChanged, NotWithin, TextNow
from agent.graph.main import prompt_facts as main_facts
from agent.graph.main.state import begun
from agent.models.base import Delta, Message, ModelRequest, Purpose
from agent.models.errors import ModelAnswerUnusable
from agent.offline.pilot import OfflinePilot
from agent.offline.progress import memo_of, taken
from agent.ports.agent import TaskOrder
from agent.ports.stores import GivenFile
from agent.run import NeedsModel
from agent.scene import PastStep, ScreenElement, StepFailure, StepStatus
from devices.geometry import Bounds
from devices.inputs import Key
from devices.wording import words as phone_words
from tests.agent.offline.scenes import SPACE, answer, data, element, next_action, scene, screen, step, touched
from tests.agent.offline.test_grammar import CASES

LAUNCHER = "com.android.launcher3"


def ended(action: object) -> str:
    """The summary of a failure."""
    assert isinstance(action, Finish)
    assert action.status == "failure"
    assert "VLM_API_KEY" in action.summary
    return action.summary


async def test_a_label_is_touched_and_not_the_area_around_it() -> None:
    """The policy reads labels: an area without one would slip by. Seen failing with Row.title giving the area."""
    shown = screen(
        element("button", "", 300), element("text", "A", 300, right=60), element("text", "Send to all", 320, left=100)
    )
    action = await next_action(scene("tap the first row", shown))
    assert touched(action, shown) == "Send to all"


async def test_words_that_nothing_happens_on_are_not_touched() -> None:
    shown = screen(element("text", "Save"))
    assert "Save" in ended(await next_action(scene("tap Save", shown)))


async def test_a_disabled_button_is_not_touched() -> None:
    ended(await next_action(scene("tap Save", screen(element("button", "Save", 300, "disabled")))))


async def test_two_that_fit_equally_are_not_guessed() -> None:
    shown = screen(element("button", "Coffee beans 500"), element("button", "Coffee beans 250", 500))
    summary = ended(await next_action(scene("tap coffee beans", shown)))
    assert "Coffee beans 500, Coffee beans 250" in summary


async def test_what_is_not_in_sight_is_looked_for_up_and_down_and_then_declined() -> None:
    shown = screen(element("list", "", 0, "scrollable"), element("button", "Other"))
    past: list[PastStep] = []
    directions = []
    for _ in range(40):
        action = await next_action(scene("tap Save", shown, past))
        if isinstance(action, Finish):
            break
        assert isinstance(action, Scroll)
        directions.append(action.direction)
        stage = "lookdown" if action.direction == "down" else "lookup"
        past.append(
            step(f"1/1 {stage}: x", "scroll", NothingChanged() if len(past) in {2, 6} else Appeared(words=("x",)))
        )
    assert directions == ["down"] * 3 + ["up"] * 4
    ended(action)


async def test_a_list_without_an_end_is_not_scrolled_for_ever() -> None:
    shown = screen(element("list", "", 0, "scrollable"))
    past = [step("1/1 lookdown: x")] * 8 + [step("1/1 lookup: x")] * 16
    ended(await next_action(scene("tap Save", shown, past)))


async def test_the_keyboard_is_closed_before_looking_further() -> None:
    shown = screen(element("field", "x", 300, "editable", "focused"), keyboard_shown=True)
    assert await next_action(scene("tap Save", shown)) == PressKey(key=Key.BACK)


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (StepStatus.INTERRUPTED, None),
        (StepStatus.DONE, StepFailure(uncertain=True)),
        (StepStatus.DONE, None),
    ],
)
async def test_a_touch_that_may_have_happened_is_not_repeated(status: StepStatus, failure: StepFailure | None) -> None:
    """A person is asked whether it did; only one who says no has it done again."""
    past = [step("1/1 tap: Tapping Pay", "tap 'Pay'", None, failure, status)]
    shown = screen(element("button", "Pay"))
    asked = await next_action(scene("tap Pay", shown, past))
    assert isinstance(asked, AskUser)
    done, again = asked.choices
    yes = step("1/1 sure: x", "ask", Answered(text=done))
    assert isinstance(await next_action(scene("tap Pay", shown, [*past, yes])), Finish)
    no = step("1/1 sure: x", "ask", Answered(text=again))
    assert isinstance(await next_action(scene("tap Pay", shown, [*past, no])), Tap)


async def test_a_touch_that_was_not_sent_is_tried_once_more() -> None:
    past = [step("1/1 tap: Tapping Pay", "tap 'Pay'", None, StepFailure("The link was cut."))]
    shown = screen(element("button", "Pay"))
    assert isinstance(await next_action(scene("tap Pay", shown, past)), Tap)
    assert "The link was cut." in ended(await next_action(scene("tap Pay", shown, past * 2)))


async def test_the_phones_reason_is_told() -> None:
    reason = phone_words("phone.rejected.apps_fit", name="'Foo'", listed="Foo One, Foo Two")
    past = [step("1/1 open: Opening Foo", "open 'Foo'", None, StepFailure(reason))]
    assert str(reason) in ended(await next_action(scene("open Foo", screen(app=LAUNCHER), past)))


async def test_an_app_that_is_not_there_is_said_in_the_persons_words() -> None:
    """Of all the names that were tried only the person's is named, and what comes near to it is offered."""
    tried = [phone_words("phone.rejected.no_app", name=f"'{name}'") for name in ("camera", "相机")]
    past = [step("1/1 open: x", "open", None, StepFailure(reason, unknown_app=True)) for reason in tried]
    action = await next_action(scene("open camera and go home", screen(app=LAUNCHER), past))
    assert isinstance(action, Finish)
    assert action.summary.startswith("There is no app called “camera” on this phone.")
    assert action.needs_model == NeedsModel(choices=("search the web for camera, then go home",))


async def test_a_refusal_of_the_policy_ends_the_work() -> None:
    refused = StepFailure("the app is closed to the agent by the policy")
    past = [step("1/1 tap: Tapping Pay", "refused: tap 'Pay'", None, refused, StepStatus.REFUSED)]
    action = await next_action(scene("tap Pay", screen(element("button", "Pay")), past))
    assert isinstance(action, Finish)
    assert "closed to the agent by the policy." in action.summary


async def test_it_says_what_it_is_once_at_the_beginning() -> None:
    """Not after a Deny, and no model is praised where none would have been allowed more."""
    shown = screen(element("button", "Pay"))
    first = await answer(Purpose.ACT, "", scene=scene("tap Pay", shown))
    assert "Offline pilot, no model: Tapping Pay" in first.tool_calls[0].arguments
    past = [step("1/1 tap: x", "not allowed: tap 'Pay'", None, status=StepStatus.NOT_ALLOWED)]
    denied = await next_action(scene("tap Pay", shown, past))
    assert isinstance(denied, Finish)
    assert denied.summary == "It was not allowed. Nothing was done."


async def test_a_person_who_did_it_by_hand_is_believed() -> None:
    """Neither the note of a person who took over nor the step that they did themselves fails the task."""
    shown = screen(element("button", "Pay"))
    past = [step("1/1 tap: x", "tap 'Pay'", DoneByHand())]
    steers = (done_by_hand("Ann"),)
    done = await next_action(scene("tap Pay", shown, past, steering_notes=steers))
    assert isinstance(done, Finish)
    assert done.status == "success"
    assert isinstance(await next_action(scene("tap Pay", shown, steering_notes=steers)), Tap)


async def test_a_steer_is_a_step_and_what_is_none_is_asked_about() -> None:
    shown = screen(element("button", "Pay"), element("button", "Save", 500))
    past = [step("1/2 tap: x")]
    followed = await next_action(scene("tap Pay", shown, past, steering_notes=("go on", "then tap Save")))
    assert touched(followed, shown) == "Save"
    asked = await next_action(scene("tap Pay", shown, past, steering_notes=("the blue one",)))
    assert isinstance(asked, AskUser)
    assert "the blue one" in asked.question
    for said, expected in ((asked.choices[-1], Finish), ("tap Save", Tap)):
        answered = [*past, step("1/1 steer: x", "ask", Answered(text=said))]
        assert isinstance(
            await next_action(scene("tap Pay", shown, answered, steering_notes=("the blue one",))), expected
        )


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("install WhatsApp", ("search the web for WhatsApp",)),
        ("how much storage is left on the phone?", ("open Storage",)),
        ("还有多少存储空间", ("打开存储",)),
        ("who is the mayor of Berlin", ("search the web for who is the mayor of Berlin",)),
        ("why is my phone so slow", ()),
        ("手机为什么这么慢", ()),
    ],
)
async def test_what_takes_a_model_ends_at_once_with_what_comes_near(text: str, choices: tuple[str, ...]) -> None:
    action = await next_action(scene(text, screen(element("button", "Save"), app=LAUNCHER)))
    assert isinstance(action, Finish)
    assert action.needs_model == NeedsModel(choices=choices)


async def test_an_app_by_its_other_names() -> None:
    past = [step("1/1 open: x", "open '设置'", None, StepFailure("x"))]
    assert await next_action(scene("打开设置", screen(app=LAUNCHER))) == OpenApp(name="设置")
    assert await next_action(scene("打开设置", screen(app=LAUNCHER), past)) == OpenApp(name="settings")


async def test_an_app_that_does_not_come_to_the_front_is_not_open() -> None:
    ended(await next_action(scene("open Foo", screen(app=LAUNCHER), [step("1/1 open: x", "open 'Foo'")])))


async def test_a_screen_without_elements() -> None:
    dark = screen()
    blind = type(dark)(SPACE, None, None)
    past = [step("1/1 blind: x")] * 3
    assert isinstance(await next_action(scene("tap Save", blind)), Wait)
    assert "does not tell me" in ended(await next_action(scene("tap Save", blind, past)))


async def test_a_page_that_does_not_come() -> None:
    shown = screen(element("text", "Please wait…"))
    past = [step("1/1 loading: x")] * 3
    assert await next_action(scene("read the screen", shown)) == WaitFor(what="gone", text="Please wait…", seconds=15)
    assert "in time" in ended(await next_action(scene("read the screen", shown, past)))


async def test_a_pop_up_that_does_not_go_away() -> None:
    shown = screen(
        element("text", "Update", 800, left=100, right=800), element("button", "Yes", 900, left=100, right=800)
    )
    past = [step("1/1 dismiss: x")] * 3
    assert await next_action(scene("scroll down", shown)) == PressKey(key=Key.BACK)
    assert "Update" in ended(await next_action(scene("scroll down", shown, past)))


async def test_a_message_with_ok_alone_is_confirmed() -> None:
    shown = screen(
        element("text", "Saved", 800, left=100, right=800), element("button", "Got it", 900, left=100, right=800)
    )
    assert touched(await next_action(scene("scroll down", shown)), shown) == "Got it"


async def test_no_clause_takes_for_ever() -> None:
    past = [step("1/1 scroll: x")] * 40
    shown = screen(element("list", "", 0, "scrollable"))
    assert "more steps" in ended(await next_action(scene("scroll down", shown, past)))


async def test_nothing_to_scroll_is_no_success() -> None:
    past = [step("1/1 scroll: x", "scroll down", NothingChanged())]
    ended(await next_action(scene("scroll down", screen(element("text", "x")), past)))
    done = await next_action(scene("scroll to the bottom", screen(element("text", "x")), past))
    assert isinstance(done, Finish)
    assert done.status == "success"


async def test_the_field_under_a_label() -> None:
    shown = screen(
        element("text", "City", 300), element("field", "", 410, "editable"), element("field", "", 800, "editable")
    )
    action = await next_action(scene("type Rome into the city field", shown))
    assert isinstance(action, Type)
    assert action.target is not None
    assert touched(action, shown) == ""
    assert "Street" in ended(await next_action(scene("type x into the Street field", shown)))


async def test_text_that_does_not_show_is_no_success() -> None:
    past = [step("1/1 type: x", "type 'Rome'", NothingChanged())]
    ended(await next_action(scene("type Rome", screen(element("field", "City", 300, "editable")), past)))
    ended(await next_action(scene("type Rome", screen(), [step("1/1 type: x", "type 'Rome'", None, StepFailure("x"))])))


async def test_a_code_waits_for_a_field_and_is_sent_off_only_when_nothing_else_does_it() -> None:
    shown = screen(element("field", "6-digit code", 300, "editable"), element("button", "Verify", 500))
    action = await next_action(scene("enter the code", shown))
    assert isinstance(action, EnterSecret)
    assert action.submit
    action = await next_action(scene("enter the code and tap Verify", shown))
    assert isinstance(action, EnterSecret)
    assert not action.submit
    ended(await next_action(scene("enter the code", screen(element("button", "Verify")))))
    refused = screen(element("field", "6-digit code", 300, "editable"), element("text", "Wrong code. Try again.", 500))
    ended(await next_action(scene("enter the code", refused, [step("1/1 secret: x")])))


async def test_questions_are_turned_to_the_person() -> None:
    asked = await next_action(scene("ask me which colour I want for my bike", screen()))
    assert asked == AskUser(question="Please tell me which colour you want for your bike.")
    assert await next_action(scene("ask me 'Red or blue?'", screen())) == AskUser(question="Red or blue?")
    ended(await next_action(scene("ask me why", screen(), [step("1/1 ask: x", "ask", None)])))


async def test_an_answer_is_used() -> None:
    past = [step("1/2 ask: Asking", "ask 'x'", Answered(text="Add to cart"))]
    shown = screen(element("button", "Add to cart"))
    assert touched(await next_action(scene("ask me what to tap and then tap it", shown, past)), shown) == "Add to cart"


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        ("read the Price", [element("text", "$3"), element("text", "$4", 500)], "do not see"),
        ("read the third row", [], "no 3 rows"),
        ("read the screen", [], "nothing to read"),
        ("read Coffee beans", [element("text", "Coffee beans 5"), element("text", "Coffee beans 2", 500)], "More than"),
        ("wait until Results appears", [element("text", "x")], "did not appear"),
        ("search cats in the notes app", [element("text", "x")], "nothing to search"),
        ("turn on Sync", [element("switch", "Sync", 300, "unchecked")], "did not move"),
        ("turn on Sync", [element("text", "x")], "no switch"),
        ("disable the 9:15 alarm", [element("text", "07:00"), element("switch", "", 300, "checked")], "no alarm at"),
        ("write a note saying hi", [element("text", "x")], "no button for a new note"),
        ("send a message to Bob saying hi", [element("text", "x")], "no way to write to Bob"),
        ("sign in as anna", [element("text", "x")], "no sign-in page"),
        ("open the address foo.example", [], "could not open"),
        ("press enter", [], "could not be pressed"),
    ],
)
async def test_what_cannot_be_done_is_said(text: str, shown: list[ScreenElement], said: str) -> None:
    """The app was opened, what comes first was tried, and then there is nothing to be seen."""
    tried = {
        "wait": [step("1/1 wait: x", "wait", NotWithin(seconds=20))],
        "search": [step("1/2 open: x"), step("2/2 search: x", "", None)] * 2,
        "turn": [step("1/1 open: x"), *[step("1/1 switch: x"), step("1/1 switch: x")]],
        "open": [step("1/1 url: x", "open", None, StepFailure("x"))],
        "press": [step("1/1 press: x", "press", None, StepFailure("x"))],
    }
    past = tried.get(text.split(maxsplit=1)[0], [] if text.startswith("read") else [step("1/1 open: x")])
    if text.startswith("search"):
        past = [step("1/2 open: x")]
    assert said in ended(await next_action(scene(text, screen(*shown), past)))


async def test_the_switch_itself_is_touched_when_its_row_did_nothing() -> None:
    shown = screen(
        element("button", "", 300),
        element("text", "Sync", 300, right=400),
        element("switch", "", 300, "unchecked", left=700),
    )
    first = await next_action(scene("turn on Sync", shown, [step("1/1 open: x")]))
    assert touched(first, shown) == "Sync"
    past = [step("1/1 open: x"), step("1/1 switch: x", "tap 'Sync'", NothingChanged())]
    assert isinstance(await next_action(scene("turn on Sync", shown, past)), WaitFor)
    past.append(step("1/1 settle: x", "wait", NotWithin(seconds=5)))
    second = await next_action(scene("turn on Sync", shown, past))
    assert isinstance(second, Tap)
    assert second.target != first.target  # type: ignore[attr-defined]  # it is a tap: see touched


async def test_what_was_read_is_kept_when_a_later_clause_fails() -> None:
    past = [step("1/2 note: x", "note 'Price: $3'", None)]
    action = await next_action(scene("read the price and tap Save", screen(), past, notes=("Price: $3",)))
    ended(action)
    assert isinstance(action, Finish)
    assert action.data == "Price: $3"


async def test_waiting_goes_in_pieces() -> None:
    shown = screen(element("text", "x"))
    assert await next_action(scene("wait 25 seconds", shown)) == Wait(seconds=10)
    past = [step("1/1 wait: x")] * 2
    assert await next_action(scene("wait 25 seconds", shown, past)) == Wait(seconds=5)
    done = await next_action(scene("wait 25 seconds", shown, past + past[:1]))
    assert isinstance(done, Finish)


async def test_a_search_button_reveals_the_field() -> None:
    shown = screen(element("button", "Search settings"))
    past = [step("1/2 open: x")]
    assert touched(await next_action(scene("open settings and search wifi", shown, past)), shown) == "Search settings"


async def test_an_app_that_saves_by_itself_is_left_with_back() -> None:
    text = "write a note saying hi"
    past = [step("1/1 open: x"), step("1/1 new: x"), step("1/1 text: x", "type", TextNow(text="hi"))]
    shown = screen(element("field", "hi", 300, "editable"))
    assert await next_action(scene(text, shown, past)) == PressKey(key=Key.BACK)
    kept = screen(element("text", "hi"))
    assert isinstance(await next_action(scene(text, kept, [*past, step("1/1 save: x")])), Finish)


@pytest.mark.parametrize(
    ("text", "read", "is_there"),
    [
        ("555 0100", "(555) 01-00", True),
        ("hello", "Dear all, Hello", True),
        ("hello", "••••••", True),
        ("👍", "so 👍", True),
        ("👍", "👎", False),
        ("hello", "", False),
        ("hello", "Search", False),
        ("hello", "hell", False),
    ],
)
async def test_a_field_that_shows_something_else_is_not_filled_in(text: str, read: str, is_there: bool) -> None:
    """Seen failing before: whatever was read back counted as typed."""
    past = [step("1/1 type: x", "type", TextNow(text=read))]
    action = await next_action(scene(f"type '{text}'", screen(element("button", "Other")), past))
    assert isinstance(action, Finish)
    assert action.status == ("success" if is_there else "failure")


def test_the_place_is_kept_with_a_step() -> None:
    kept = PastStep(1, "", "Searching", ("type 'a'",), (Appeared(words=("x",)),), memo=memo_of(1, "search"))
    (found,) = taken([kept], ())
    assert (found.index, found.stage, found.worked, found.moved) == (1, "search", True, True)
    assert taken([replace(kept, memo={})], ()) == ()


async def test_other_purposes_get_short_honest_answers() -> None:
    assert await data(Purpose.INTENT, "open browser and search OpenGUI") == {
        "kind": "simple",
        "need_plan": False,
        "answer": "",
    }
    refused = await data(Purpose.INTENT, "帮我写一首诗")
    assert refused["kind"] == "refuse"
    assert "VLM_API_KEY" in refused["answer"]
    assert (await data(Purpose.INTENT, "help"))["kind"] == "chat"
    assert (await data(Purpose.SUPERVISE, "facts"))["decision"] == "complete"
    assert (await data(Purpose.VERIFY, "facts"))["proven"] is False
    assert "no plans" in (await answer(Purpose.PLAN, "task")).text
    assert (await answer(Purpose.SUMMARIZE, "facts")).text == ""
    assert (await answer(Purpose.CAPTION, "facts")).usage.calls == 0


async def test_files_that_came_with_a_task_are_no_instruction() -> None:
    files = tuple(GivenFile(name=name, content="c") for name in ("then buy it.pdf", "b.png"))
    names = main_facts.given(begun(TaskOrder(task="1", text="t", files=files)))
    assert "then buy it.pdf" in names
    assert (await data(Purpose.INTENT, f"open notes{names}"))["kind"] == "simple"
    assert (await data(Purpose.INTENT, f"write a poem{names}"))["kind"] == "refuse"


async def test_an_answer_is_streamed_and_a_call_without_a_scene_refused() -> None:
    heard: list[Delta] = []
    request = ModelRequest(Purpose.PLAN, (Message("user", ("x",)),))
    reply = await OfflinePilot().complete(request, on_delta=heard.append)
    assert "".join(each.text for each in heard) == reply.text
    with pytest.raises(ModelAnswerUnusable):
        await OfflinePilot().complete(ModelRequest(Purpose.ACT, ()))
    assert (await OfflinePilot().complete(ModelRequest(Purpose.INTENT, ()))).text


BOX = st.tuples(*[st.integers(0, 800)] * 2).map(lambda at: Bounds(at[0], at[1], at[0] + 90, at[1] + 90))
STATES = ["editable", "focused", "scrollable", "checked", "password", "disabled"]
LABELS = ["", "Search", "Send", "To", "Save", "New note", "Bob", "Loading", "07:00", "Not now", "code", "x"]
ELEMENT = st.builds(
    ScreenElement,
    st.just(0),
    st.sampled_from(["button", "text", "field", "switch", "list", "image"]),
    st.sampled_from(LABELS),
    BOX,
    st.sets(st.sampled_from(STATES)).map(tuple),
)
STAGES = [
    *("open", "tap", "type", "search", "lookdown", "secret", "new", "text", "save", "send", "ask", "switch", "user"),
    *("steer", "sure"),
]
STEERS = ["go on", "tap Bob", "hm", done_by_hand("Ann")]
STEP = st.builds(
    step,
    st.builds(lambda n, stage: f"{n}/2 {stage}: x", st.integers(1, 9), st.sampled_from(STAGES)),
    st.sampled_from(["tap 'x'", "not allowed: tap 'x'", "interrupted: x"]),
    st.sampled_from(["", "new: 'x'", NothingChanged(), "answer: y", "the field now reads 'x'"]),
)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.sampled_from([text for text, _ in CASES]),
    st.lists(ELEMENT, max_size=12),
    st.lists(STEP, max_size=6),
    st.lists(st.sampled_from(STEERS), max_size=2),
)
async def test_every_scene_gets_an_answer_that_its_dialect_reads(
    text: str, elements: list[ScreenElement], past: list[PastStep], steers: list[str]
) -> None:
    reply = await answer(Purpose.ACT, "", scene=scene(text, screen(*elements), past, steering_notes=tuple(steers)))
    decision = dialect_for("auto", "offline").parse(reply, SPACE)
    assert len(decision.actions) == 1
    assert len(decision.summary.split()) <= 10
