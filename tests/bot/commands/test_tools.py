"""What people are told of tools: in the chats and on the command line, from the same facts."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent.ports.memory import MemoryOfThisProcess
from agent.ports.workshop import FakeWorkshop, JobResult, Lack
from agent.skills.library import Skills, load_skills
from bot.cli.agent import tools
from bot.cli.skills import skills
from bot.commands.dispatcher import Commands
from bot.config.settings import Settings
from bot.texts import say, speaking
from bot.views.tools import ServerAway, ServerState, ToolLack, ToolOffer, ToolState, server_data
from bot.wiring.team import IN_A_RUN, TOOL_NAMES, tools_here, tools_of
from tests.bot.commands.test_overview import words
from tests.bot.world import World

MEMBER = "---\nname: {name}\ndescription: Does things.\ntools: [{tool}]\n---\nYou do things.\n"
Said = pytest.CaptureFixture[str]


def settings(folder: Path, **more: object) -> Settings:
    return Settings.model_validate({"data_dir": folder, "workshop": "off", **more})


def test_every_tool_that_there_can_be_has_its_name_in_the_one_list(tmp_path: Path) -> None:
    everything = tools_of(
        settings(tmp_path, knowledge_dir=tmp_path),
        FakeWorkshop(lambda _: JobResult("exit", 0, "")),
        memory=MemoryOfThisProcess(),
        skills=Skills(load_skills().found),
    )
    assert [tool.kind for tool in everything] == list(TOOL_NAMES)
    assert set(TOOL_NAMES) > IN_A_RUN


async def test_what_is_lacking_is_a_fact(tmp_path: Path) -> None:
    there = await tools_here(settings(tmp_path))
    assert {tool.name: tool.lack for tool in there.tools if tool.lack is not None} == {
        "knowledge": ToolLack.KNOWLEDGE_DIR,
        "shell": Lack.OFF,
        "python_full": Lack.OFF,
    }
    less = await tools_here(settings(tmp_path, web_tools=False, knowledge_dir=tmp_path))
    assert [tool.name for tool in less.tools if tool.lack is ToolLack.WEB_TOOLS] == [
        "web_search",
        "read_page",
        "weather",
    ]


async def test_the_command_line_names_what_cannot_be_used(tmp_path: Path, capsys: Said) -> None:
    (tmp_path / "agents" / "odd").mkdir(parents=True)
    (tmp_path / "agents" / "odd" / "AGENTS.md").write_text(MEMBER.format(name="odd", tool="teleport"))
    (tmp_path / "skills" / "tea").mkdir(parents=True)
    (tmp_path / "skills" / "tea" / "SKILL.md").write_bytes(b"---\nname: tea\ndescription: x\n---\n" + b"x" * 10_000_000)
    server = tmp_path / "mcp.json"
    server.write_text(json.dumps({"mcpServers": {"a b": {"command": "x"}}}))
    server.chmod(0o600)
    await tools(argparse.Namespace(json=False), settings(tmp_path))
    told = capsys.readouterr().out
    assert "shell           runs a command in a closed room without network; not offered: WORKSHOP is off." in told
    assert "The tools of a b (mcp.json) are missing: its name has to be one of its own" in told
    assert f"{tmp_path}/agents/odd is not used: " in told
    assert "teleport" in told
    await tools(argparse.Namespace(json=True), settings(tmp_path))
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["tool"] for row in rows if row.get("lacks") == "off"] == ["shell", "python_full"]
    assert rows[-1]["refused"] == str(tmp_path / "agents" / "odd")
    with speaking("zh"):
        await skills(argparse.Namespace(json=False, change=[]), settings(tmp_path))
    told = capsys.readouterr().out
    assert "compare-prices: 比较同一件东西" in told
    assert f"{tmp_path}/skills/tea" in told
    assert "64000" in told.replace(",", "")


async def test_the_command_tells_each_tool_in_a_line(world: World) -> None:
    offer = ToolOffer(
        (ToolState("python", in_runs=True), ToolState("shell", Lack.NO_BUBBLEWRAP), ToolState("mcp_a_b", server="a")),
        (ServerState("a", None, ("mcp_a_b",), 3),),
        (ServerAway("other", "it has ended"), ServerAway("", "it is no JSON")),
    )
    world.commands = Commands(replace(world.services, tools=lambda: offer))
    assert words(await world.type("tools")).strip().splitlines() == [
        "What I can do without a phone",
        "python: runs a short program without files and network; also in the middle of a run on a phone",
        "mcp_a_b: a tool of the server a",
        "shell: runs a command in a closed room without network; not offered: bubblewrap is not installed.",
        "The tools of other (mcp.json) are missing: it has ended",
        "mcp.json is not used: it is no JSON",
        say("tools.left_out", server="a", number=3),
    ]


def test_each_server_of_somebody_else_is_told_with_its_tools_or_why_it_is_not_there() -> None:
    answering = ServerState("home", None, ("mcp_home__a",), 3), ServerState("empty", None, ())
    offer = ToolOffer((), answering, (ServerAway("mail", "it has ended"),))
    assert [(one["name"], one["why"], one["tools"], one["left_out"]) for one in server_data(offer)] == [
        ("home", "", ["mcp_home__a"], 3),
        ("empty", "", [], 0),
        ("mail", "it has ended", [], 0),
    ]
