"""Apps that forbid pictures: no model gets their words until a person lets it read them, once a task."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.events import Asked, Step
from agent.guards.reading import GuardMode
from agent.models.base import ModelReply, ModelRequest, Models, Purpose
from agent.questions import QuestionKind
from agent.run import Outcome
from tests.agent.graph.dying import DyingSaver, Lives
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.graph.test_secrets import kept, secret
from tests.fakes.scripted_model import ScriptedModel, call, data, models, text

WORDS = "maple river candle orbit"
HINT = "the lake of 1987"
OPEN = call("open_app", name="Vault")
FINISH = call("finish", status="success", summary="done")
READ = call("read_words", app="org.example.vault")


def sent(model: ScriptedModel) -> str:
    """Every word that any model was sent."""
    return "\n".join(repr((request.messages, request.tools, request.scene)) for request in model.requests)


def element(of: str) -> Callable[[ModelRequest], int]:
    """The number of the element with this id."""

    def found(request: ModelRequest) -> int:
        assert request.scene is not None
        return next(e.id for e in request.scene.screen.elements or () if f"id:{of}" in e.text)

    return found


def tap(of: str) -> object:
    return lambda request: call("tap", element=element(of)(request))


async def test_words_are_covered_and_roles_and_ids_are_told(rig: Rig) -> None:
    """Seen failing with `covered` of `screen_of` always false: the recovery words went to the model."""
    have, model = models([OPEN, FINISH])
    assert (await Work(rig.agent(have), order("look into the vault")).ended()).outcome is Outcome.SUCCEEDED
    scene = model.asked(Purpose.ACT)[1].scene
    assert scene is not None
    assert (scene.screen.secure, scene.screen.covered, scene.screen.image) == (True, True, None)
    assert ("button", "•••••• id:close") in [(e.role, e.text) for e in scene.screen.elements or ()]
    assert "words of its elements are covered" in repr(model.asked(Purpose.ACT)[1].messages)
    assert WORDS not in sent(model)


@pytest.mark.parametrize("guard", ["rules", "auto", "strict"])
async def test_no_way_round_tells_them(rig: Rig, guard: GuardMode) -> None:
    """Notes, sums, waits, effects, what is tapped, the reader and the check. Seen failing with each of `told` of
    `ScreenView` in `_phone_context` and `ActionRegistry.describe`, `to_tell` in `_effect`, and `covered` in the
    reader taken out.
    """
    acts = [
        OPEN,
        call("note", text="seen", screen=True),
        call("wait", seconds=0),
        call("wait_for", what="change", seconds=0.1),
        tap("summary"),
        call("sum_up", instruction="all words"),
        call("key", key="home"),
        FINISH,
    ]
    have, model = models(acts, summarize=[text("nothing")], guard=[text('{"consequence": "none"}')])
    work = Work(rig.agent(have, guard=guard), order("look into the vault"))
    await work.ended()
    assert WORDS not in sent(model)
    assert "4417" not in sent(model)
    told = json.dumps([event.model_dump(mode="json") for event in work.events if isinstance(event, Step)])
    assert WORDS not in told
    assert not any(WORDS in repr(entry) for entry in rig.journal.rows.values())


async def test_elements_are_touched_by_their_ids(rig: Rig) -> None:
    have, model = models([OPEN, tap("close"), FINISH])
    end = await Work(rig.agent(have), order("close the vault")).ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert rig.phone.state.front != "vault"
    assert WORDS not in sent(model)


async def test_a_person_lets_them_be_read_once_a_task(rig: Rig) -> None:
    """Seen failing without `let_read` in `_read_words`: they stayed covered."""
    have, model = models([OPEN, READ, call("key", key="home"), OPEN, FINISH])
    work = Work(rig.agent(have), order("what are my recovery words?"))
    asked = (await work.until(Asked)).question
    assert asked.kind is QuestionKind.APPROVE
    assert "read the words in Vault (org.example.vault)" in asked.text
    assert WORDS not in sent(model)
    assert WORDS not in repr(asked)
    await work.answer("allow")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    requests = model.asked(Purpose.ACT)
    assert [WORDS in repr(request.messages) for request in requests[:3]] == [False, False, True]
    assert len([event for event in work.events if isinstance(event, Asked)]) == 1
    assert requests[2].scene is not None
    assert requests[2].scene.screen.image is None


async def test_a_no_is_kept(rig: Rig) -> None:
    have, model = models([OPEN, READ, READ, FINISH])
    work = Work(rig.agent(have), order("what are my recovery words?"))
    await work.until(Asked)
    await work.answer("deny")
    await work.ended()
    assert len([event for event in work.events if isinstance(event, Asked)]) == 1
    assert WORDS not in sent(model)


async def test_it_is_bound_to_the_app_and_asked_where_words_are_covered_alone(rig: Rig) -> None:
    other = call("read_words", app="org.example.other")
    have, model = models([READ, OPEN, other, FINISH])
    work = Work(rig.agent(have), order("look into the vault"))
    await work.ended()
    assert not [event for event in work.events if isinstance(event, Asked)]
    assert sent(model).count("Not asked: no words of") >= 2


async def test_the_next_task_asks_anew(rig: Rig) -> None:
    have, _ = models([OPEN, READ, FINISH])
    work = Work(rig.agent(have), order("what are my recovery words?"))
    await work.until(Asked)
    await work.answer("allow")
    await work.ended()
    have, model = models([OPEN, FINISH])
    await Work(rig.agent(have), order("look into the vault", task="8")).ended()
    assert WORDS not in sent(model)


async def test_a_password_is_typed_on_a_page_whose_words_are_covered(rig: Rig) -> None:
    """The field is found by its role, a person gives the password, and neither it nor the hint is told."""
    rig.phone.windows.launch("vault")
    rig.phone.windows.open("unlock")
    rig.phone.windows.focus("password")
    have, model = models([secret("The vault's password"), tap("unlock"), FINISH])
    work = Work(rig.agent(have), order("unlock the vault"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.SECRET
    assert "(password)" in question.text
    await work.answer(rig.secrets.keep("swordfish-7"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert rig.phone.windows.page.page == "main"
    stored = await kept(rig, work, model)
    assert "swordfish-7" not in stored
    assert HINT not in sent(model)
    assert WORDS not in sent(model)


@pytest.mark.parametrize("visit", [1, 2])
async def test_a_restart_keeps_the_yes_and_the_cover(rig: Rig, tmp_path: Path, visit: int) -> None:
    """The process dies after the app was opened, or after the yes. Seen failing without `readable` in the state, and
    without `let_read` in `close_step`: the second life asked again.
    """
    model = ScriptedModel({Purpose.ACT: [_reads] * 12})
    lives = Lives(tmp_path / "checkpoints.sqlite3")
    connection = await lives.connect()
    rig.saver = saver = DyingSaver(connection, "check_loop", "has run", visit)
    task = order("what are my recovery words?")
    have = Models(model, model, model)
    assert await lives.live(rig.agent(have), task, saver) is None
    assert WORDS not in sent(model)
    await connection.close()
    connection = await lives.connect()
    rig.saver = saver = DyingSaver(connection)
    end = await lives.live(rig.agent(have), task, saver)
    await connection.close()
    assert end is not None
    assert end.outcome is Outcome.SUCCEEDED, end.summary
    assert len([event for event in lives.events if isinstance(event, Asked)]) == 1
    covered = [WORDS not in repr(request.messages) for request in model.asked(Purpose.ACT)]
    assert covered == sorted(covered, reverse=True)
    assert not covered[-1]


def _reads(request: ModelRequest) -> ModelReply:
    scene = request.scene
    assert scene is not None
    if any(WORDS in each.text for each in scene.screen.elements or ()):
        return FINISH
    return READ if scene.screen.covered else OPEN


async def test_the_yes_holds_for_all_parts_of_the_task(rig: Rig) -> None:
    parts = [
        data(decision="continue", remaining=["read", "again"], next="read them"),
        data(decision="continue", remaining=["again"], next="read them again"),
    ]
    have, model = models(
        [_reads] * 12,
        intent=[data(kind="complex")],
        plan=[text("1. read\n2. read")],
        supervise=[*parts, data(decision="complete")],
        summarize=[text("All read.")],
    )
    work = Work(rig.agent(have), order("what are my recovery words?", quick=False))
    await work.until(Asked)
    await work.answer("allow")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert len([event for event in work.events if isinstance(event, Asked)]) == 1
    assert {request.scene.goal for request in model.asked(Purpose.ACT) if request.scene} >= {"read them again"}
