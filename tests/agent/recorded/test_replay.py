"""Recorded skills done again: no call on an unchanged phone, the model where it does not fit, never something else."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agent.events import Asked, Step
from agent.graph.executor.screen import LATELY
from agent.models.base import Models, Purpose
from agent.ports.journal import ActionKey, ActionState
from agent.questions import ALLOW, DENY
from agent.recorded_skills.skill_file import RecordedSkill
from agent.run import Outcome
from benchmarks.skills import extra_touches, is_right
from devices.virtual_phone.state import Redesign
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.recorded.stage import (
    BY_NAME,
    SPANISH,
    Change,
    Played,
    Reader,
    Run,
    Stage,
    changes,
    library_of,
    phone,
    spanish,
)
from tests.fakes.ports import MemoryJournal, MemorySkillNames
from tests.fakes.scripted_model import call, models

UNCHANGED = Change("unchanged")


@pytest.fixture(scope="module")
def stage(real_world: None) -> Stage:  # noqa: ARG001
    """Recordings that the tests of this file share."""
    return Stage()


async def right(
    stage: Stage,
    played: Played,
    change: Change,
    values: dict[str, str],
    *,
    ids: bool = True,
    names: MemorySkillNames | None = None,
) -> Run:
    """A run that ended right and touched nothing else."""
    _, first = await stage.recorded(played, ids=ids)
    run = await stage.played(played, change, values, ids=ids, names=names)
    assert is_right(run, first, played, values, change.of(played)), (played.name, change.name, run)
    assert extra_touches(run, first, played, values) == []
    return run


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("ids", [True, False])
async def test_an_unchanged_phone_takes_no_call_with_other_values_too(stage: Stage, ids: bool) -> None:
    for name in ("note", "order-mug", "write-new", "price"):
        played = BY_NAME[name]
        for values in (dict(played.first), dict(played.other)):
            run = await right(stage, played, changes(ids=ids)["unchanged"], values, ids=ids)
            assert run.calls == 0
            assert run.tokens == 0
            if values != played.first:
                kept = f"{run.truth} {run.touched} {run.summary} {run.data}"
                assert not any(old in kept for old in played.first.values() if old not in values.values())


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("change", [name for name in changes(ids=True) if name not in {"unchanged", "language"}])
async def test_a_phone_that_has_changed(stage: Stage, change: str) -> None:
    for name in ("see-cart", "write-first"):
        played = BY_NAME[name]
        for ids in (True, False):
            run = await right(stage, played, changes(ids=ids)[change], dict(played.first), ids=ids)
            assert run.calls <= 3


@pytest.mark.usefixtures("virtual_time")
async def test_in_another_language_a_model_is_asked_once_what_things_are_called(stage: Stage) -> None:
    run = await right(stage, BY_NAME["note"], changes(ids=True)["language"], dict(BY_NAME["note"].first))
    assert run.calls <= 1
    for name, ids in (("order-mug", True), ("storage", True), ("see-cart", False)):
        played = BY_NAME[name]
        run = await right(stage, played, changes(ids=ids)["language"], dict(played.first), ids=ids)
        assert 1 <= run.calls <= 3, (name, run)


@pytest.mark.usefixtures("virtual_time")
async def test_a_kill_does_nothing_twice(stage: Stage) -> None:
    for number in (8, 20, 33):
        _, first = await stage.recorded(BY_NAME["order-mug"])
        run = await stage.played(BY_NAME["order-mug"], UNCHANGED, dict(BY_NAME["order-mug"].first), kill_at=number)
        assert len(run.truth["orders"]) <= len(first.truth["orders"])
        assert len(run.truth["cart"]) <= 1


@pytest.mark.usefixtures("virtual_time")
async def test_what_a_person_denies_is_not_done_and_not_tried_again(stage: Stage) -> None:
    played = BY_NAME["order-mug"]
    skill, _ = await stage.recorded(played)
    library, reader = library_of(played.name, skill), Reader()
    reader.end_with = call("finish", status="failure", summary="It was not allowed.")
    async with phone(UNCHANGED) as rig:
        wish = {"skill": played.name, "arguments": dict(played.first)}
        agent = rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library})
        work = Work(agent, order("order", task="9").model_copy(update=wish))
        await work.until(Asked)
        await work.answer(DENY)
        end = await work.ended()
        assert end.outcome is not Outcome.SUCCEEDED
        assert len([event for event in work.events if isinstance(event, Asked)]) == 1
        assert not rig.phone.truth.orders


@pytest.mark.usefixtures("virtual_time")
async def test_what_a_person_writes_counts_more_than_the_recording(stage: Stage) -> None:
    played = BY_NAME["note"]
    skill, _ = await stage.recorded(played)
    library, reader = library_of(played.name, skill), Reader()
    reader.end_with = call("finish", status="failure", summary="Stopped as you wrote.")
    async with phone(UNCHANGED) as rig:
        wish = {"skill": played.name, "arguments": dict(played.first)}
        work = Work(
            rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library}),
            order("note", task="9").model_copy(update=wish),
        )
        await work.until(Step)
        await work.agent.steer("9", "do not save it")
        await work.ended()
        assert len([each for each in reader.asked if each.purpose is Purpose.ACT]) == 1
        assert [note.title for note in rig.phone.truth.notes] == ["Groceries"]


@pytest.mark.usefixtures("virtual_time")
async def test_a_folder_that_says_otherwise_skips_no_question(stage: Stage) -> None:
    """What a recording holds is data: a payment is asked about, whatever stands in its file."""
    played = BY_NAME["order-mug"]
    skill, _ = await stage.recorded(played)
    data = skill.model_dump(mode="json")
    for step in data["steps"]:
        step["dialog"], step["landmarks"] = True, []
    forged = RecordedSkill.model_validate(data)
    library, reader = library_of(played.name, forged), Reader()
    async with phone(UNCHANGED) as rig:
        wish = {"skill": played.name, "arguments": dict(played.first)}
        agent = rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library})
        work = Work(agent, order("order", task="9").model_copy(update=wish))
        asked = await work.until(Asked)
        assert "9.50" in asked.question.text
        assert not rig.phone.truth.orders
        await work.kill()


class _SlowDisk(MemoryJournal):
    """A journal that takes its time before a press, while the app writes something else on the button."""

    def __init__(self, rig: Rig) -> None:
        super().__init__()
        self._rig = rig

    async def begin(self, key: ActionKey, action: dict[str, Any], *, fence: int) -> bool:
        begun = await super().begin(key, action, fence=fence)
        if self._rig.phone.truth.page == "product":
            await asyncio.sleep(2 * LATELY)
            self._rig.phone.state.redesign = Redesign(renamed={"Add to cart": "Pay now"})
        return begun


@pytest.mark.usefixtures("virtual_time")
async def test_what_has_changed_since_the_look_is_not_touched(stage: Stage) -> None:
    """Seen failing with every look taken for the last word: "Pay now" was touched."""
    played = BY_NAME["add-mug"]
    skill, _ = await stage.recorded(played)
    library, reader = library_of(played.name, skill), Reader()
    reader.end_with = call("finish", status="failure", summary="It says something else.")
    async with phone(UNCHANGED) as rig:
        rig.journal = _SlowDisk(rig)
        wish = {"skill": played.name, "arguments": dict(played.first)}
        agent = rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library})
        await Work(agent, order("add", task="9").model_copy(update=wish)).ended()
        assert not rig.phone.truth.cart


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("ids", [True, False])
async def test_a_language_of_the_same_letters_is_told_by_the_phone_and_asked_for_once(stage: Stage, ids: bool) -> None:
    for name in ("note", "order-mug", "storage", "switch-4"):
        run = await right(stage, BY_NAME[name], spanish(ids=ids), dict(BY_NAME[name].first), ids=ids)
        assert run.calls <= 3, (name, run)


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("ids", [True, False])
async def test_a_language_that_the_phone_does_not_tell_goes_to_the_model_and_never_wrong(
    stage: Stage, ids: bool
) -> None:
    untold = replace(spanish(ids=ids), locale="en-US")
    for name in ("note", "storage"):
        run = await right(stage, BY_NAME[name], untold, dict(BY_NAME[name].first), ids=ids)
        assert run.calls


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("ids", [True, False])
async def test_what_things_are_called_is_known_to_the_next_replay_in_that_language(stage: Stage, ids: bool) -> None:
    for name in ("note", "storage", "add-mug"):
        played, names = BY_NAME[name], MemorySkillNames()
        for _ in range(3):
            run = await right(stage, played, spanish(ids=ids), dict(played.first), ids=ids, names=names)
        assert run.calls == 0, (name, run)
        assert set(names.kept) == {(name, "es-ES")}
        assert not set(names.kept[name, "es-ES"]) & {value.casefold() for value in ("Shopping", "Eggs and flour")}


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("ids", [True, False])
async def test_a_wrong_name_from_before_touches_nothing_else_and_is_replaced(stage: Stage, ids: bool) -> None:
    played, wrong = BY_NAME["note"], {"save": "Eliminar", "new note": "Compartir"}
    names = MemorySkillNames({("note", "es-ES"): dict(wrong)})
    await right(stage, played, spanish(ids=ids), dict(played.first), ids=ids, names=names)
    assert not wrong.items() & names.kept["note", "es-ES"].items()


class _LostWord(MemoryJournal):
    """A journal in which no word of how a press of Save ended is ever written: the service dies before."""

    def __init__(self, rig: Rig) -> None:
        super().__init__()
        self._rig = rig
        self.lost = asyncio.Event()

    async def finish(self, key: ActionKey, state: ActionState, effect: str) -> None:
        if len(self._rig.phone.truth.notes) > 1 and not self.lost.is_set():
            self.lost.set()
            await asyncio.Event().wait()
        await super().finish(key, state, effect)


@pytest.mark.usefixtures("virtual_time")
async def test_a_press_that_arrived_before_a_kill_is_seen_by_the_page_that_it_led_to(stage: Stage) -> None:
    """Seen failing without the look for what was pressed: the run did not end."""
    played = BY_NAME["note"]
    skill, _ = await stage.recorded(played)
    library, reader = library_of(played.name, skill), Reader()
    async with phone(UNCHANGED) as rig:
        journal = rig.journal = _LostWord(rig)
        wish = order("note", task="9").model_copy(update={"skill": played.name, "arguments": dict(played.first)})
        work = Work(rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library}), wish)
        await journal.lost.wait()
        await work.kill()
        work = Work(rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library}), wish)
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
        assert [each.purpose for each in reader.asked] == [Purpose.VERIFY]
        assert [note.title for note in rig.phone.truth.notes].count("Shopping") == 1


@pytest.mark.usefixtures("virtual_time")
async def test_a_name_that_means_a_payment_is_asked_about(stage: Stage) -> None:
    """A model that a page has told what "Terms" is called there: what is pressed is judged, not what was recorded. Seen
    failing (the mug was ordered unasked) with `question_before_input` returning None.
    """
    played = BY_NAME["order-mug"]
    skill, _ = await stage.recorded(played, ids=False)
    data = skill.model_dump(mode="json")
    assert data["steps"][-1]["anchor"]["words"] == "Place order"
    data["steps"][-1]["anchor"] |= {"words": "Terms", "beside": ""}
    data["steps"][-1]["landmarks"] = []
    library, reader = library_of(played.name, RecordedSkill.model_validate(data)), Reader()
    known = {words.casefold(): now for words, now in SPANISH.items()} | {"terms": SPANISH["Place order"]}
    names = MemorySkillNames({(played.name, "es-ES"): known})
    reader.end_with = call("finish", status="failure", summary="It was not allowed.")
    async with phone(spanish(ids=False)) as rig:
        wish = {"skill": played.name, "arguments": dict(played.first)}
        agent = rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library}, skill_names=names)
        work = Work(agent, order("order", task="9").model_copy(update=wish))
        checkout = await work.until(Asked)
        await work.answer(ALLOW)
        asked = await work.until(Asked, lambda asked: asked.question.id != checkout.question.id)
        assert "9.50" in asked.question.text
        await work.answer(DENY)
        assert (await work.ended()).outcome is not Outcome.SUCCEEDED
        assert not rig.phone.truth.orders
        assert not names.kept[played.name, "es-ES"], "names of a run that did not end as done are forgotten"


@pytest.mark.usefixtures("virtual_time")
async def test_a_verdict_that_stands_in_a_folder_spares_no_reading(stage: Stage) -> None:
    """Only what this service has kept counts. Seen failing with the verdicts of the recording's steps known to it."""
    played = BY_NAME["see-cart"]
    skill, _ = await stage.recorded(played)
    wish = order("see", task="9").model_copy(update={"skill": played.name, "arguments": dict(played.first)})
    told: list[dict[str, Any]] = []
    for _ in range(2):
        data = skill.model_dump(mode="json") | {"verdicts": told}
        data["steps"] = [step | {"verdicts": told} for step in data["steps"]]
        library, (have, model) = library_of(played.name, RecordedSkill.model_validate(data)), models([])
        async with phone(UNCHANGED) as rig:
            work = Work(rig.agent(have, guard="auto", skills=library, main={"skills": library}), wish)
            assert (await work.ended()).outcome is Outcome.SUCCEEDED
            assert len(model.asked(Purpose.GUARD)) == len(model.requests) > 0
            told = [each.model_dump() for step in work.steps for each in step.record.verdicts]
            assert told
