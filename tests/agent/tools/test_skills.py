"""The tool that reads skills: names in its description, one in parts, and no file outside the references."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.dialects.tool_schemas import plain_tool_spec
from agent.skills.library import Skills, load_skills
from agent.tools.skills import PART, ReadSkill, skill_tools
from agent.tools.spec import ActionError, ActionResult
from tests.agent.tools.test_memory import context


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "tea"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tea\ndescription: How tea is made.\n---\n" + "Boil. " * 2000, "utf-8")
    (folder / "references" / "green.md").write_text("80 degrees", "utf-8")
    (tmp_path / "secret.env").write_text("KEY=4711", "utf-8")
    (folder / "references" / "out.md").symlink_to(tmp_path / "secret.env")
    return folder


async def read(folder: Path, action: ReadSkill) -> ActionResult:
    (tool,) = skill_tools(Skills(load_skills(folder.parent).found))
    return await tool.run(action, context())


async def test_a_skill_and_its_references_are_read(folder: Path) -> None:
    (first,) = (await read(folder, ReadSkill(name="tea"))).read
    assert first.startswith("skill: tea\n\nBoil. Boil.")
    assert first.endswith("[part 1 of 3]")
    (last,) = (await read(folder, ReadSkill(name="TEA ", part=3))).read
    assert len(first) > PART > len(last)
    for name in ("green.md", "references/green.md"):
        (text,) = (await read(folder, ReadSkill(name="tea", reference=name))).read
        assert text.endswith("80 degrees")


@pytest.mark.parametrize(
    "path",
    [
        "../SKILL.md",
        "references/../SKILL.md",
        "references/../../../secret.env",
        "/etc/passwd",
        "out.md",
        "nul\0.md",
        ".",
        "x" * 200,
    ],
)
async def test_nothing_outside_its_references_is_read(folder: Path, path: str) -> None:
    """Seen failing without the look at where a path leads in the end (`text_of`): SKILL.md and KEY=4711 were read."""
    with pytest.raises(ActionError, match="Not read"):
        await read(folder, ReadSkill(name="tea", reference=path))


async def test_references_that_are_a_link_are_not_read(folder: Path) -> None:
    """Seen failing without the look at the link: the file beside the skills was read."""
    for each in (folder / "references").iterdir():
        each.unlink()
    (folder / "references").rmdir()
    (folder / "references").symlink_to(folder.parents[1])
    with pytest.raises(ActionError, match="Not read"):
        await read(folder, ReadSkill(name="tea", reference="secret.env"))


async def test_a_skill_that_there_is_not(folder: Path) -> None:
    with pytest.raises(ActionError, match=r"There are: .*tea"):
        await read(folder, ReadSkill(name="coffee"))
    with pytest.raises(ActionError, match="3 parts"):
        await read(folder, ReadSkill(name="tea", part=4))


def test_the_model_is_told_of_all_skills_and_of_nothing_where_there_are_none(folder: Path) -> None:
    assert skill_tools(Skills()) == ()
    (tool,) = skill_tools(Skills(load_skills(folder.parent).found))
    about = plain_tool_spec(tool.model).description
    assert "- tea: How tea is made." in about
    assert "- compare-prices: " in about
    assert "Boil" not in about
