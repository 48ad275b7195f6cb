"""What is known of a recorded skill besides its folder: names of other languages, and what ends with the skill."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.ports.stores import SkillNames
from agent.recorded_skills.skill_file import RecordedSkill
from agent.recorded_skills.step_record import PressVerdict, RecordedAction
from bot.store.skills import Draft
from bot.store.store import Store
from tests.bot.store.conftest import ANNA
from tests.fakes.ports import MemorySkillNames
from tests.fixtures.databases import open_store

SPANISH = {"save": "Guardar", "new note": "Nueva nota"}
SKILL = RecordedSkill(
    task="open the notes",
    steps=(RecordedAction(action={"kind": "open_app", "name": "Notes"}),),
    end=RecordedAction(action={"kind": "finish", "status": "success"}),
)
VERDICT = PressVerdict(key="k", consequence="none")


@pytest.fixture(params=["this process", "SQLite"])
def names(request: pytest.FixtureRequest, store: Store) -> SkillNames:
    return store.skills if request.param == "SQLite" else MemorySkillNames()


async def saved(store: Store, name: str) -> None:
    await store.skills.saved(Draft("d", ANNA, name, "7", SKILL, 0.0), (VERDICT,), now=0.0)


async def test_names_are_kept_by_skill_and_locale(names: SkillNames) -> None:
    """Seen failing with one of both left out of what is looked for."""
    await names.keep_names("note", "es-ES", SPANISH)
    await names.keep_names("note", "zh-CN", {"save": "保存"})
    await names.keep_names("diary", "es-ES", {"save": "Archivar"})
    assert await names.names("note", "es-ES") == SPANISH
    assert await names.names("note", "zh-CN") == {"save": "保存"}
    assert await names.names("diary", "es-ES") == {"save": "Archivar"}
    assert await names.names("note", "es-MX") == await names.names("idea", "es-ES") == {}


async def test_what_was_learned_later_takes_the_place_of_all_before_it(names: SkillNames) -> None:
    """Seen failing with the names before kept beside the new ones: a wrong one would stay for good."""
    await names.keep_names("note", "es-ES", SPANISH)
    await names.keep_names("note", "zh-CN", {"save": "保存"})
    await names.keep_names("note", "es-ES", {"save": "Salvar"})
    assert await names.names("note", "es-ES") == {"save": "Salvar"}
    await names.keep_names("note", "es-ES", {})
    assert await names.names("note", "es-ES") == {}
    assert await names.names("note", "zh-CN") == {"save": "保存"}


async def test_they_outlive_the_service(tmp_path: Path) -> None:
    for turn in range(2):
        store = await open_store(tmp_path)
        if not turn:
            await store.skills.keep_names("note", "es-ES", SPANISH)
        assert await store.skills.names("note", "es-ES") == SPANISH
        await store.close()


async def test_they_go_with_the_skill_to_its_new_name_and_end_with_it(store: Store) -> None:
    """A skill of somebody else that is given the name later knows nothing of them. Seen failing without the names in
    `renamed` and in `_forget`.
    """
    await saved(store, "note")
    await store.skills.keep_names("note", "es-ES", SPANISH)
    await store.skills.renamed("note", "notes")
    assert await store.skills.names("note", "es-ES") == {}
    assert await store.skills.names("notes", "es-ES") == SPANISH
    await store.skills.removed("notes")
    assert await store.skills.names("notes", "es-ES") == {}
    assert await store.skills.verdicts() == ()
    assert await store.skills.owner("notes") is None


async def test_a_name_whose_folder_was_taken_away_by_hand_can_be_given_again(store: Store) -> None:
    """Seen failing (the new name was there twice, and the folder was called so already) without `_forget`."""
    for name in ("note", "diary"):
        await saved(store, name)
        await store.skills.keep_names(name, "es-ES", {"save": name})
    await store.skills.renamed("note", "diary")
    assert await store.skills.names("diary", "es-ES") == {"save": "note"}
    assert await store.skills.owner("note") is None
    assert await store.skills.verdicts("diary") == (VERDICT,)
