"""What models think and write is told while it comes: by the planner, members, the executor, and in a direct answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from agent.events import Step, TaskEvent, Thinking
from agent.graph.streaming import FieldOnly, ProseOnly, Thoughts
from agent.models.base import Delta, ModelReply, ModelRequest, Models, Purpose
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.graph.test_main import FINISH
from tests.agent.graph.test_team import Cast, Script, World, agent_of
from tests.fakes.scripted_model import call, data, tap, text


@dataclass
class Streaming(Cast):
    """A cast that writes a sign at a time, and thinks before each answer."""

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        reply = await super().complete(request)
        if on_delta is not None:
            for sign in f"about {request.purpose}":
                on_delta(Delta(reasoning=sign))
            for sign in reply.text:
                on_delta(Delta(text=sign))
        return replace(reply, reasoning=f"about {request.purpose}")


def streaming(members: Script, **purposes: list[Any]) -> Models:
    model = Streaming({Purpose(name): list(script) for name, script in purposes.items()}, members)
    return Models(model, model, model)


def told(work: Work, node: str) -> tuple[str, str]:
    """What this node has written and thought in pieces."""
    pieces = [event for event in work.events if isinstance(event, Thinking) and event.node == node]
    return "".join(one.text for one in pieces), "".join(one.reasoning for one in pieces)


async def test_a_member_is_heard_while_it_writes_and_thinks(rig: Rig) -> None:
    have = streaming(
        {"price of A": [call("look", what="A"), text("A costs 1 euro.")]},
        intent=[data(kind="member", member="researcher")],
    )
    work = Work(agent_of(rig, have, World()), order("price of A", quick=False))
    end = await work.ended()
    assert told(work, "researcher") == (end.summary, "about memberabout member")
    assert all(event.is_answer for event in work.events if isinstance(event, Thinking) and event.node == "researcher")


async def test_a_direct_answer_comes_in_pieces(rig: Rig) -> None:
    have = streaming({}, intent=[data(kind="chat", answer='Hello, I am "here".\nAsk me.')])
    work = Work(rig.agent(have), order("hi", quick=False))
    end = await work.ended()
    assert told(work, "intent_analyzer") == (end.summary, "about intent")


async def test_an_answer_that_is_not_given_is_not_heard(rig: Rig) -> None:
    """What a person asks to be done is not done by a reply."""
    have = streaming({}, intent=[data(kind="chat", answer="I have opened it.")], act=[tap("Cart, 0"), FINISH])
    rig.phone.windows.launch("shop")
    work = Work(rig.agent(have), order("open the cart", quick=False))
    await work.ended()
    assert told(work, "intent_analyzer")[0] == ""


async def test_the_executor_is_heard_before_each_of_its_steps(rig: Rig) -> None:
    rig.phone.windows.launch("shop")
    work = Work(rig.agent(streaming({}, act=[tap("Cart, 0"), FINISH])), order("look into the cart", quick=True))
    await work.ended()
    kinds = [type(event) for event in work.events if isinstance(event, Step | Thinking)]
    assert kinds[:2] == [Thinking, Step]
    assert told(work, "executor")[1].startswith("about act")


WHOLE = {"kind": "chat", "need_plan": False, "answer": "Grüße, “Mia” 🐈\n\\ end"}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("plain", [True, False])
def test_the_text_of_a_field_is_told_once_however_it_is_cut(size: int, plain: bool) -> None:
    heard: list[TaskEvent] = []
    stream = Thoughts("x", heard.append, clock=lambda: 0.0)
    field = FieldOnly(stream, "answer", lambda said: said.get("kind") == "chat")
    written = json.dumps(WHOLE, ensure_ascii=plain)
    for at in range(0, len(written), size):
        field(Delta(text=written[at : at + size]))
    stream.flush()
    assert "".join(event.text for event in heard if isinstance(event, Thinking)) == WHOLE["answer"]


def test_what_comes_all_at_once_is_told_in_pieces_with_a_limit() -> None:
    heard: list[TaskEvent] = []
    Thoughts("x", heard.append)(Delta(text="a" * 9_001, reasoning="b" * 4_001))
    pieces = [event for event in heard if isinstance(event, Thinking)]
    assert [(len(one.text), len(one.reasoning)) for one in pieces] == [(4_000, 4_000), (4_000, 1), (1_001, 0)]


@pytest.mark.parametrize(
    "written", ["", "no JSON", "[1, 2]", '{"kind": "simple", "answer": "x"}', '{"answer": 5}', '"x"']
)
def test_what_has_no_such_text_is_told_to_nobody(written: str) -> None:
    heard: list[TaskEvent] = []
    stream = Thoughts("x", heard.append)
    field = FieldOnly(stream, "answer", lambda said: said.get("kind") == "chat")
    for sign in written:
        field(Delta(text=sign))
    stream.flush()
    assert heard == []


@pytest.mark.parametrize("written", ['{"name": "look"}', "```json\n{}\n```", "<tool_call>{}</tool_call>", "  [1]"])
def test_calls_that_are_written_as_text_are_not_told(written: str) -> None:
    heard: list[TaskEvent] = []
    stream = Thoughts("x", heard.append)
    prose = ProseOnly(stream)
    for sign in written:
        prose(Delta(text=sign, reasoning="."))
    stream.flush()
    pieces = [event for event in heard if isinstance(event, Thinking)]
    assert ("".join(one.text for one in pieces).strip(), "".join(one.reasoning for one in pieces)) == (
        "",
        "." * len(written),
    )
