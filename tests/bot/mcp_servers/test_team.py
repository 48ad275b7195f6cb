"""Tools of other people's servers in the hands of the team: offered to members, asked about, and done at most once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agent.events import Asked
from agent.graph.member.members import Members
from agent.members.loading import Member, Team, load_team
from agent.models.base import Models, Purpose
from agent.ports.journal import MemoryToolCalls
from agent.questions import QuestionKind
from agent.tools.calling import Toolbox, Worker
from agent.tools.spec import Tool
from bot.mcp_servers.tools import OfferedTool, ToolAnswer, foreign_tool, tool_names
from bot.wiring.team import TOOL_NAMES
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.graph.test_team import Cast
from tests.fakes.ports import MemoryFrames
from tests.fakes.scripted_model import call, data, text


class Server:
    """A server of somebody else, with tools of these names."""

    def __init__(self, name: str, *tools: str) -> None:
        self.called: list[tuple[str, str, dict[str, Any]]] = []
        schema = {"properties": {"room": {"type": "string"}}, "required": ["room"]}
        self.tools = [
            foreign_tool(kind, name, OfferedTool(tool, "Does it.", schema), self._call, ask=lambda: True)
            for tool, kind in tool_names(name, tools).items()
        ]

    async def _call(self, task: str, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        self.called.append((task, tool, dict(arguments)))
        return ToolAnswer("21 degrees", failed=False)


def toolbox(*servers: Server) -> Toolbox:
    def now() -> Sequence[Tool[Any]]:
        return [tool for server in servers for tool in server.tools]

    return Toolbox((), MemoryToolCalls(), offered_now=now)


@pytest.mark.parametrize("said", ["allow", "deny"])
async def test_a_shipped_member_uses_one_and_a_person_is_asked_first(rig: Rig, said: str) -> None:
    """Seen failing without `mcp_*` among the tools of the member: there was no such tool."""
    server = Server("home", "temperature of")
    box = toolbox(server)
    model = Cast(
        {Purpose.INTENT: [data(kind="member", member="general-purpose")]},
        {"how warm": [call("mcp_home__temperature_of", room="kitchen"), text("It is 21 degrees.")]},
    )
    team = load_team(None, (), absent=TOOL_NAMES)
    members = Members(lambda: team, box, MemoryFrames(), rig.saver)
    work = Work(rig.agent(Models(model, model, model), main={"members": members}), order("how warm", quick=False))
    asked = await work.until(Asked)
    assert asked.question.kind is QuestionKind.APPROVE
    assert "room: kitchen" in asked.question.detail
    assert server.called == []
    await work.answer(said)
    await work.ended()
    assert server.called == ([("7", "temperature of", {"room": "kitchen"})] if said == "allow" else [])


def test_whoever_plans_knows_which_member_has_which_tools_now(rig: Rig) -> None:
    servers = [Server("home", "temperature of"), Server("mail", *(f"tool {number}" for number in range(60)))]
    team = Team(
        {
            name: Member(name, f"Is the {name}.", "Do it.", tools=tools)
            for name, tools in {
                "all": ("mcp_*",),
                "home": ("calculate", "mcp_home__*"),
                "one": ("mcp_mail__tool_7",),
                "none": ("calculate",),
            }.items()
        }
    )
    members = Members(lambda: team, toolbox(*servers), MemoryFrames(), rig.saver)
    lines = dict(line.removeprefix("- ").split(": ", 1) for line in members.described().splitlines())
    assert "mcp_home__temperature_of, mcp_mail__tool_0" in lines["all"]
    assert "21 more" in lines["all"]
    assert lines["home"].endswith("mcp_home__temperature_of.")
    assert lines["one"].endswith("mcp_mail__tool_7.")
    assert lines["none"] == "Is the none."
    servers[0].tools.clear()
    assert "mcp_home" not in members.described(), "a server that has gone"


def test_a_name_with_a_star_takes_what_begins_so_and_nothing_else() -> None:
    box = toolbox(Server("home", "a", "b"), Server("home2", "a"))
    worker = Worker("1", "x", 1)
    assert box.caller(worker, ("mcp_home__*",)).names == ("mcp_home__a", "mcp_home__b")
    assert box.caller(worker, ("mcp_home__",)).names == ()
    assert box.caller(worker, ()).names == ()
    assert box.caller(worker).names == ("mcp_home__a", "mcp_home__b", "mcp_home2__a")
