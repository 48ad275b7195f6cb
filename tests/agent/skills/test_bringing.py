"""A skill's folder from elsewhere, as somebody who means harm would write it: it is refused, and costs nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.skills import saving
from agent.skills.library import Skills, load_skills
from agent.skills.saving import NotChanged, bring

HEAD = '---\nname: {name}\ndescription: "Open Shop"\n---\nRecorded.'
TAP: dict[str, Any] = {
    "action": {"kind": "tap"},
    "package": "shop",
    "anchor": {"package": "shop", "role": "Button", "words": "{choice}"},
    "touches": True,
}
GOOD: dict[str, Any] = {
    "task": "tap {choice}",
    "parameters": [{"name": "choice", "example": "Tea"}],
    "steps": [{"action": {"kind": "open_app", "name": "Shop"}}, TAP],
    "end": {"action": {"kind": "finish", "status": "success"}},
}


def a_folder(root: Path, data: Any = GOOD, *, name: str = "tea", text: str | None = None) -> Path:
    """A folder outside with this recording."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(HEAD.format(name=name))
    (folder / "skill.json").write_text(json.dumps(data) if text is None else text)
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Skills:
    return Skills(own=tmp_path / "own")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return tmp_path / "outside"


def stepping(*steps: Any) -> dict[str, Any]:
    """A recording with these steps before the others."""
    return {**GOOD, "steps": [*steps, *GOOD["steps"]]}


@pytest.mark.parametrize(
    "data",
    [
        {**GOOD, "steps": "none"},
        stepping({"action": {}}),
        stepping({"action": {"kind": 7}}),
        stepping({"action": {"kind": ""}}),
        stepping({"action": {"kind": "open_app"}}),
        stepping({"action": {"kind": "open_app", "name": ["Shop"]}}),
        stepping({"action": {"kind": "type", "text": {"x": 1}}}),
        stepping({"action": {"kind": "type", "clear": True}}),
        stepping({"action": {"kind": "key", "key": "self-destruct"}}),
        stepping({"action": {"kind": "shell", "command": "reboot"}}),
        stepping({**TAP, "action": {"kind": "tap", "target": {"x": 1, "y": 1}}}),
        {**GOOD, "steps": GOOD["steps"] * 60},
        {**GOOD, "end": TAP},
        {**GOOD, "version": 0},
        {**GOOD, "version": 10**400},
        {**GOOD, "format": 2},
        {**GOOD, "parameters": GOOD["parameters"] * 2},
        {**GOOD, "parameters": [{"name": "../x", "example": "Tea"}]},
    ],
    ids=lambda data: json.dumps(data)[-200:-120],
)
def test_a_recording_that_is_none_is_refused_and_hides_no_other(own: Skills, outside: Path, data: Any) -> None:
    """Seen failing without a look at the kind of each action: the whole program ended with a fault, at each start."""
    with pytest.raises(NotChanged, match="was not imported"):
        bring(own, a_folder(outside, data))
    a_folder(outside, name="good")
    found = load_skills(outside, shipped=False)
    assert list(found.found) == ["good"]
    assert [Path(refused.folder).name for refused in found.refused] == ["tea"]
    assert own.found == {}
    assert own.own is not None
    assert list(own.own.iterdir()) == []


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": "' + "x" * 600_000 + '"}', "", "\x00", '{"task": NaN}'])
def test_a_file_that_is_no_recording_is_refused(own: Skills, outside: Path, text: str) -> None:
    with pytest.raises(NotChanged, match="was not imported"):
        bring(own, a_folder(outside, text=text))


def link(folder: Path, name: str, to: str) -> None:
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(to)


def many(folder: Path) -> None:
    for number in range(saving.MOST_FILES):
        (folder / f"{number}.txt").write_text("x")


def large(folder: Path) -> None:
    with (folder / "blob").open("wb") as blob:
        blob.truncate(20_000_000)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: link(folder, "SKILL.md", "/etc/hostname"), "SKILL.md in it is a link"),
        (lambda folder: link(folder, "SKILL.md", "../other.md"), "SKILL.md in it is a link"),
        (lambda folder: link(folder, "skill.json", "/etc/hostname"), "skill.json in it is a link"),
        (lambda folder: link(folder, "passwords", "/etc/passwd"), "passwords in it is a link"),
        (lambda folder: link(folder, "references", "/etc"), "references in it is a link"),
        (lambda folder: os.mkfifo(folder / "pipe"), "pipe in it is a link or not a plain file"),
        (large, "larger than 2 MB"),
        (many, "more than 50 files"),
        (lambda folder: (folder / "SKILL.md").write_text(HEAD.format(name="../../up")), "cannot be the name"),
        (lambda folder: (folder / "SKILL.md").write_text(HEAD.format(name="tea") * 9000), "larger than"),
    ],
    ids=["link", "neighbour", "recording", "file", "folder", "pipe", "large", "many", "name", "long"],
)
def test_what_leads_out_or_is_too_much_is_refused(
    own: Skills, outside: Path, spoil: Callable[[Path], Any], why: str
) -> None:
    """Seen failing (a file of any size read into memory; a skill said to be there that had no SKILL.md) with the folder
    looked at in its place and then copied.
    """
    folder = a_folder(outside)
    (outside / "other.md").write_text(HEAD.format(name="tea"))
    spoil(folder)
    with pytest.raises(NotChanged, match=why):
        bring(own, folder)
    assert own.found == {}


def test_hidden_files_stay_behind(own: Skills, outside: Path) -> None:
    folder = a_folder(outside)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    assert bring(own, folder) == "tea"
    assert own.own is not None
    assert sorted(path.name for path in (own.own / "tea").rglob("*")) == ["SKILL.md", "skill.json"]
    assert own.found["tea"].recorded is not None


def test_a_folder_is_brought_in_under_the_name_that_it_has_inside(own: Skills, outside: Path) -> None:
    folder = a_folder(outside)
    assert bring(own, folder.rename(outside / "tea (1)")) == "tea"
    with pytest.raises(NotChanged, match="already called tea"):
        bring(own, outside / "tea (1)")
    with pytest.raises(NotChanged, match="There is no folder"):
        bring(own, outside / "nothing")


def test_what_a_person_has_written_into_a_skill_outlives_a_new_name(own: Skills, outside: Path) -> None:
    folder = a_folder(outside)
    (folder / "SKILL.md").write_text(HEAD.format(name="tea") + "\nname: of the shop is on the door.")
    bring(own, folder)
    saving.rename(own, "tea", "coffee")
    assert own.own is not None
    assert own.found["coffee"].body == "Recorded.\nname: of the shop is on the door."
    assert "tea" not in own.found
    (own.own / "coffee" / "SKILL.md").write_text(HEAD.format(name="coffee").replace("name", '"name"', 1) + "\nname: x")
    saving.rename(own, "coffee", "juice")
    assert own.found["juice"].recorded is not None, "a name that is written otherwise is written anew"


def test_a_folder_that_cannot_be_used_is_not_written_over(own: Skills, outside: Path) -> None:
    """Somebody has mistyped something in it: seen failing (it was lost) without the look at the disk."""
    bring(own, a_folder(outside))
    recorded = own.found["tea"].recorded
    assert own.own is not None
    assert recorded is not None
    (own.own / "tea" / "skill.json").write_text("{")
    saving.refresh(own)
    with pytest.raises(NotChanged, match="already called tea"):
        saving.save(own, "tea", recorded)
