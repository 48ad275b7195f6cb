"""Folders with front matter: what is read, and how each kind of bad folder is refused without the others."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from agent.front_matter import MAX_FILE, FolderRefused, parse
from agent.members.loading import FILE, Team, load_team
from bot.wiring.team import TOOL_NAMES
from devices.wording import Words

TOOLS = {"web_search", "calculate"}


def folder(root: Path, name: str, text: str, *, file: str = FILE) -> Path:
    made = root / name
    made.mkdir(parents=True)
    (made / file).write_text(text, encoding="utf-8")
    return made


def front(name: str, *more: str, body: str = "Do it.") -> str:
    return "\n".join(("---", f"name: {name}", "description: Does it.", *more, "---", body))


def team_of(root: Path) -> Team:
    return load_team(root, TOOLS, shipped=root / "nothing shipped")


def why(team: Team) -> str:
    (refused,) = team.refused
    assert isinstance(refused.why, Words)
    return refused.why.kind


ELSEWHERE = frozenset(TOOL_NAMES) - TOOLS


def test_the_shipped_members_are_read() -> None:
    team = load_team(
        None,
        TOOLS,
        absent=ELSEWHERE,
    )

    assert not team.refused
    assert set(team.members) == {"researcher", "coder", "reporter", "general-purpose"}
    assert team.members["researcher"].tools == ("web_search",)
    assert "- coder: " in team.described()


def test_a_member_of_ten_lines(tmp_path: Path) -> None:
    folder(tmp_path, "dietician", front("dietician", "model: reasoning", "tools: [calculate]", "max_calls: 4"))

    member = team_of(tmp_path).members["dietician"]

    assert (member.model, member.tools, member.max_calls) == ("reasoning", ("calculate",), 4)
    assert member.prompt == "Do it."


def test_people_read_what_it_does_in_their_language(tmp_path: Path) -> None:
    """Every shipped one has Chinese words. One's own may have none, or keep other things there."""
    shipped = load_team(None, TOOLS, absent=ELSEWHERE).members.values()
    assert [one.name for one in shipped if not re.search(r"[\u4e00-\u9fff]", one.described("zh"))] == []
    assert [one.name for one in shipped if one.described("en") != one.description] == []
    folder(tmp_path, "dietician", front("dietician", "metadata: {opengui-description-zh: 看看饭菜, other: [1]}"))
    folder(tmp_path, "cook", front("cook", "metadata: none"))

    members = team_of(tmp_path).members

    assert (members["dietician"].described("zh"), members["cook"].described("zh")) == (
        "看看饭菜",
        members["cook"].description,
    )


def test_the_operators_folder_wins(tmp_path: Path) -> None:
    folder(tmp_path, "reporter", front("reporter", body="Rhyme."))

    team = load_team(
        tmp_path,
        TOOLS,
        absent=ELSEWHERE,
    )

    assert team.members["reporter"].prompt == "Rhyme."
    assert "coder" in team.members


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("no front matter", "folder.no_front_matter"),
        ("---\nname: bad\n", "folder.no_front_matter"),
        ("---\n- a\n- list\n---\nDo it.", "folder.no_table"),
        ("---\nname: [\n---\nDo it.", "folder.bad_yaml"),
        ("---\nname: " + "[" * 4000 + "\n---\nDo it.", "folder.bad_yaml"),
        ("---\na: &a [x]\nb: *a\n---\nDo it.", "folder.alias"),
        ("---\nname: bad\nname: worse\n---\nDo it.", "folder.two_keys"),
        (front("other"), "folder.other_name"),
        (front("Bad"), "folder.bad_name"),
        (front("bad", "note: " + "x" * 9000), "folder.long_front_matter"),
        ("---\nname: bad\n---\nDo it.", "folder.field"),
        (front("bad", "max_calls: 31"), "folder.field"),
        (front("bad", "max_calls: many"), "folder.field"),
        (front("bad", "model: " + "x" * 201), "folder.field"),
        (front("bad", "tools: shell_of_the_host, calculate"), "folder.unknown_tools"),
        (front("bad", body=""), "folder.no_prompt"),
        (front("bad", body="x" * MAX_FILE), "folder.large"),
    ],
)
def test_a_bad_folder_costs_only_itself(tmp_path: Path, text: str, kind: str) -> None:
    folder(tmp_path, "bad", text)
    folder(tmp_path, "good", front("good"))

    team = team_of(tmp_path)

    assert set(team.members) == {"good"}
    assert why(team) == kind


def test_a_model_by_its_name_and_tools_that_come_and_go(tmp_path: Path) -> None:
    folder(tmp_path, "guide", front("guide", "model: qwen3-max", "tools: calculate, mcp_maps_route"))
    member = team_of(tmp_path).members["guide"]
    assert (member.model, member.tools) == ("qwen3-max", ("calculate", "mcp_maps_route"))


def test_nobody_takes_the_name_of_the_executor_or_of_another(tmp_path: Path) -> None:
    folder(tmp_path, "executor", front("executor"))
    assert why(team_of(tmp_path)) == "folder.twice"

    folder(tmp_path / "two", "good", front("good"))
    folder(tmp_path / "two", "hood", front("good"))
    team = team_of(tmp_path / "two")
    assert set(team.members) == {"good"}
    assert why(team) == "folder.twice"


def test_no_link_leads_out_and_no_pipe_is_waited_for(tmp_path: Path) -> None:
    """Seen failing without the check of the resolved path: the linked file was read as a member."""
    elsewhere = folder(tmp_path / "elsewhere", "secret", front("secret"))
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "secret").symlink_to(elsewhere)
    (agents / "file").mkdir()
    (agents / "file" / FILE).symlink_to(elsewhere / FILE)
    (agents / "pipe").mkdir()
    os.mkfifo(agents / "pipe" / FILE)
    (agents / "nothing").mkdir()

    team = team_of(agents)

    assert not team.members
    kinds = {Path(each.folder).name: each.why.kind for each in team.refused if isinstance(each.why, Words)}
    assert kinds == {
        "secret": "folder.link",
        "file": "folder.link",
        "pipe": "folder.no_file",
        "nothing": "folder.no_file",
    }


def test_a_file_of_ten_megabytes_is_not_read_to_its_end(tmp_path: Path) -> None:
    made = folder(tmp_path, "bad", front("bad"))
    with (made / FILE).open("ab") as opened:
        opened.truncate(10_000_000)

    assert why(team_of(tmp_path)) == "folder.large"


def test_every_value_is_a_text_a_list_or_a_table() -> None:
    assert parse("a: no\nb: 1.0\nc: [x, 2]\nd:\n  e: 2026-01-01\nf: !!python/name:os.system x") == {
        "a": "no",
        "b": "1.0",
        "c": ["x", "2"],
        "d": {"e": "2026-01-01"},
        "f": "x",
    }
    with pytest.raises(FolderRefused):
        parse("")
