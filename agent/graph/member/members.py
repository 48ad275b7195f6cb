"""The team members, and the execution of an assignment by one of them, on its own thread."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command
from pydantic import BaseModel

from agent.control import Stopped
from agent.error_mapping import BY_PERSON
from agent.events import Source
from agent.graph.member.context import MemberContext, MemberOrder, MemberSession
from agent.graph.member.nodes import member_model, member_question, member_tools, tool_context
from agent.graph.member.state import MemberState, begun
from agent.graph.subjects import spent
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.members.loading import COMES_AND_GOES, MAX_CALLS, Team
from agent.models.base import ToolCall, Usage
from agent.ports.stores import Frames
from agent.questions import Question
from agent.run import Outcome
from agent.skills.library import Skills
from agent.tools.calling import Toolbox, Worker

logger = logging.getLogger(__name__)

MemberGraph = CompiledStateGraph[MemberState, MemberContext, MemberState, MemberState]
SEARCH: Final = "web_search"
MOST_NAMED: Final = 40
"""The maximum number of other programs' tools that are named to the planner for one member."""
QUERY_LETTERS: Final = 300
NODES: Final = 4 * MAX_CALLS + 40
"""The maximum graph steps of one assignment: each call may take an answer, a question and two rounds of tools."""


class MemberEnded(BaseModel, frozen=True):
    """The result of an assignment. `fault` is a fault that ends the whole task, as plain data; None if there
    is none.
    """

    member: str
    goal: str
    outcome: Outcome
    summary: str
    data: str | None = None
    notes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    usage: Usage = Usage()
    fault: dict[str, str] | None = None
    declined: tuple[str, ...] = ()
    """Descriptions of what its tools wanted to do and a person denied."""


@cache
def member_graph() -> MemberGraph:
    """Return the compiled graph, without a checkpointer. The nodes' return types define its routes."""
    graph = StateGraph(MemberState, context_schema=MemberContext)
    graph.add_node("member_model", member_model)
    graph.add_node("member_tools", member_tools)
    graph.add_node("member_question", member_question)
    graph.add_edge(START, "member_model")
    return graph.compile(name="member")


class Members:
    """The team at work: carries out assignments. `team` reads the members' folders and is called when they are first
    needed.
    """

    def __init__(
        self,
        team: Callable[[], Team],
        toolbox: Toolbox,
        frames: Frames,
        checkpointer: BaseCheckpointSaver[str],
        *,
        skills: Skills | None = None,
        policy: Policy | None = None,
    ) -> None:
        self._policy = policy or Policy.default()
        self._read = team
        self._team: Team | None = None
        self.toolbox = toolbox
        self._frames = frames
        self._skills = skills or Skills()
        self._graph = member_graph().copy({"checkpointer": checkpointer})

    @property
    def team(self) -> Team:
        """The members of the team."""
        if self._team is None:
            self._team = self._read()
        return self._team

    def described(self, *, executor: bool = False) -> str:
        """Return one line per member for the planner, including the tools of other programs that it has now. `executor`
        adds the member that uses the phone.
        """
        more: dict[str, str] = {}
        for member in self.team.members.values():
            names = [tool.kind for tool in self.toolbox.named(member.tools) if tool.kind.startswith(COMES_AND_GOES)]
            if names:
                left = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
                more[member.name] = f" Also has these tools of other programs: {', '.join(names[:MOST_NAMED])}{left}."
        return self.team.described(executor=executor, more=more)

    def read_again(self) -> None:
        """Read the members' folders again, because one was added or removed. Blocks while it reads the disk."""
        self._team = self._read()

    async def look_up(self, order: MemberOrder, session: MemberSession) -> str | None:
        """Search the web for the order's goal, and return what was found as marked blocks.

        Returns "" if no search is configured; None if it failed or was not made, because a person would have to approve
        it.
        """
        caller = self.toolbox.caller(Worker(order.task, order.member, order.number), {SEARCH})
        if not caller.specs():
            return ""
        wanted = ToolCall("search", SEARCH, json.dumps({"query": order.goal[:QUERY_LETTERS]}, ensure_ascii=False))
        (found,) = await caller.call((wanted,), tool_context(order, session, self._frames, Mask()), turn=1)
        return found.told if found.done is not None else None

    async def work(
        self,
        order: MemberOrder,
        session: MemberSession,
        *,
        memory: tuple[str, ...] = (),
        told_others: tuple[str, ...] = (),
    ) -> MemberEnded:
        """Carry out an assignment, or continue it where it stopped.

        `memory` are remembered facts about the person, which are shown to the member and never stored. `told_others`
        are those that other workers were told; they may not leave without approval either. Raises Stopped on a
        shutdown, so that it is continued later, and KeyError for an unknown member.
        """
        member = self.team.members[order.member]
        context = MemberContext(
            order=order,
            member=member,
            caller=self.toolbox.caller(Worker(order.task, member.name, order.number), member.tools),
            session=session,
            frames=self._frames,
            mask=Mask(),
            asks_for_secret=self._policy.asks_for_secret,
            memory=memory,
            facts_of_others=told_others,
        )
        config: RunnableConfig = {
            "configurable": {"thread_id": f"member:{order.task}:{order.number}"},
            "recursion_limit": NODES,
        }
        state = await self._graph.aget_state(config)
        payload: MemberState | Command[Any] | None = None if state.values else self._begun(order)
        # `next` is also empty between a node's end and the next checkpoint; `tasks` only at the very end.
        while not state.values or state.tasks:
            if state.interrupts:
                asked = state.interrupts[0]
                try:
                    answer = await session.ask(Question.model_validate(asked.value))
                except Stopped:
                    if not session.control.cancelled:
                        raise
                    cancelled = {"outcome": BY_PERSON.outcome, "summary": "", "fault": BY_PERSON.data()}
                    return _ended(order, cast("MemberState", state.values), cancelled)
                payload = Command(resume={asked.id: answer.model_dump(mode="json")})
            with suppress(GraphDrained):
                await self._graph.ainvoke(
                    payload, config, context=context, durability="sync", control=session.control.graph
                )
            state = await self._graph.aget_state(config)
            payload = None
            if state.tasks and session.control.draining:
                logger.info("%s %d of task %s stops at a safe point", member.name, order.number, order.task)
                raise Stopped
        ended = cast("MemberState", state.values)
        result = ended["progress"]["result"]
        assert result is not None
        return _ended(order, ended, result)

    def _begun(self, order: MemberOrder) -> MemberState:
        known = f"{order.facts}{self._skills.followed(order.skill, order.arguments)}"
        return begun(f"{order.goal}\n\nIt is part of what a person asked: {order.text}{known}")


def _ended(order: MemberOrder, state: MemberState, result: dict[str, Any]) -> MemberEnded:
    findings = state["findings"]
    return MemberEnded(
        member=order.member,
        goal=order.goal,
        outcome=Outcome(result["outcome"]),
        summary=result["summary"],
        data="\n".join(findings["data"]) or None,
        notes=tuple(findings["notes"]),
        sources=tuple(Source.model_validate(page) for page in findings["sources"]),
        usage=spent(state["progress"]),
        fault=result["fault"],
        declined=tuple(state["safety"]["declined"]),
    )
