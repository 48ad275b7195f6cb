"""The four levels of the guard against loops, and what is no loop."""

from __future__ import annotations

from agent.events import Asked
from agent.models.base import ModelRequest, Purpose
from agent.questions import QuestionKind
from agent.run import Outcome
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, data, models, text

FINISH = call("finish", status="success", summary="done")
HOME = call("key", key="home")


def told(request: ModelRequest) -> str:
    assert request.scene is not None
    return " ".join(request.scene.notices)


async def test_the_four_levels_of_a_simple_task(rig: Rig) -> None:
    """Seen failing with the branch of `check_loop` that asks the person taken out."""
    have, model = models([*[HOME] * 5, FINISH])
    work = Work(rig.agent(have), order("find the hidden page"))
    asked = await work.until(Asked)
    assert asked.question.kind is QuestionKind.ASK
    assert "find the hidden page" in asked.question.text
    assert asked.question.frame in rig.frames.kept
    heard = [told(request) for request in model.asked(Purpose.ACT)]
    assert ["nothing changed" in words for words in heard] == [False, False, True, False, False]
    assert ["find the hidden page" in words for words in heard] == [False, False, False, True, True]
    assert "new plan" in heard[4]
    reminded = model.asked(Purpose.ACT)[3].scene
    assert reminded is not None
    assert reminded.screen.image is not None
    await work.answer("swipe up")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert "swipe up" in told(model.asked(Purpose.ACT)[5])
    assert len(work.steps) == 6


async def test_with_a_plan_the_supervisor_changes_it(rig: Rig) -> None:
    """Seen failing with the branch for plans in `check_loop` taken out: the person is asked instead."""
    have, _ = models(
        [*[HOME] * 4, FINISH],
        intent=[data(kind="complex", need_plan=True)],
        plan=[text("1. search")],
        supervise=[
            data(decision="continue", remaining=["search"], next="search"),
            data(decision="replan", remaining=["look"]),
            data(decision="continue", remaining=["look"], next="look"),
            data(decision="complete"),
        ],
        summarize=[text("Found.")],
    )
    work = Work(rig.agent(have), order("find it", quick=False))
    await work.ended()
    assert {step.subtask for step in work.steps} == {1, 2}
    assert not [event for event in work.events if isinstance(event, Asked)]


async def test_waiting_toggling_and_scrolling_are_no_loops(rig: Rig) -> None:
    """Seen failing with waits counted as other actions are."""
    toggle = [call("open_app", name="Settings")]
    waits = [call("wait", seconds=0) for _ in range(3)]
    scrolls = [call("scroll", direction="down"), call("scroll", direction="up")]
    have, model = models([*toggle, *waits, *scrolls, FINISH])
    await Work(rig.agent(have), order("look around")).ended()
    heard = " ".join(told(request) for request in model.asked(Purpose.ACT))
    assert "nothing changed" not in heard
    assert "circles" not in heard
