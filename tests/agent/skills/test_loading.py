"""Skills as folders: the standard's form, the operator's win, and each bad one is refused with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.skills.library import SHIPPED, load_skills
from agent.task_results import JsonSchema

GOOD = "---\nname: {name}\ndescription: {about}\n---\nDo it well."


def folder(root: Path, name: str, text: str) -> None:
    (root / name).mkdir(parents=True)
    (root / name / "SKILL.md").write_text(text, "utf-8")


def test_every_shipped_skill_is_used() -> None:
    there = load_skills()
    assert there.refused == ()
    assert set(there.found) == {path.parent.name for path in SHIPPED.glob("*/SKILL.md")}
    assert there.found["clear-notifications"].apps == ("com.android.systemui",)


def test_the_operators_skill_wins_and_the_front_matter_is_read(tmp_path: Path) -> None:
    text = "---\nname: compare-prices\ndescription: ours\nlicense: MIT\nallowed-tools: a b\nmetadata:\n  x: '1'\n---\nx"
    folder(tmp_path, "compare-prices", text)
    skill = load_skills(tmp_path).found["compare-prices"]
    assert (skill.description, skill.license, skill.allowed_tools, skill.metadata) == (
        "ours",
        "MIT",
        ("a", "b"),
        {"x": "1"},
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("other", GOOD.format(name="this", about="x")),
        ("Upper", GOOD.format(name="Upper", about="x")),
        ("a" * 65, GOOD.format(name="a" * 65, about="x")),
        ("long", GOOD.format(name="long", about="x" * 1025)),
        ("empty", "nothing"),
        ("huge", GOOD.format(name="huge", about="x") + "x" * 10_000_000),
    ],
)
def test_a_bad_folder_is_refused_and_costs_no_other(tmp_path: Path, name: str, text: str) -> None:
    folder(tmp_path, name, text)
    folder(tmp_path, "fine", GOOD.format(name="fine", about="x"))
    there = load_skills(tmp_path)
    assert "fine" in there.found
    assert [Path(refused.folder).name for refused in there.refused] == [name]


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    folder(tmp_path / "elsewhere", "out", GOOD.format(name="out", about="x"))
    own = tmp_path / "own"
    own.mkdir()
    (own / "out").symlink_to(tmp_path / "elsewhere" / "out")
    assert [Path(refused.folder).name for refused in load_skills(own).refused] == ["out"]


def test_a_skill_sets_the_form_of_its_result(tmp_path: Path) -> None:
    """Seen failing with the deep one before: it cost all other skills."""
    schemas = {"good": '{"type": "object"}', "bad": '{"type": "nix"}', "none": "[", "deep": '{"a":' * 9_000}
    for name, schema in schemas.items():
        folder(tmp_path, name, GOOD.format(name=name, about="x"))
        (tmp_path / name / "result.schema.json").write_text(schema, "utf-8")
    there = load_skills(tmp_path)
    assert there.found["good"].result == JsonSchema(document={"type": "object"})
    assert {Path(refused.folder).name for refused in there.refused} == {"bad", "none", "deep"}
