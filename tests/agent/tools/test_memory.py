"""The tools of memory: what a person said is kept, what others wrote only with their yes, all of it theirs alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from agent.control import Control
from agent.events import Asked
from agent.graph.executor.built_in import BUILT_IN
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.models.base import ToolCall
from agent.models.errors import ModelUnreachable
from agent.ports.journal import MemoryToolCalls
from agent.ports.memory import MemoryOfThisProcess
from agent.tools.calling import Toolbox, Worker
from agent.tools.memory import Forget, Recall, Remember, memory_tools, was_said
from agent.tools.spec import ActionError, ActionResult, ToolContext
from agent.tools.web import read_page
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.tools.site import Site, hostile_site
from tests.fakes.ports import MemoryFrames
from tests.fakes.scripted_model import call, models

ANNA, BEN = "web:1", "web:2"
FINISH = call("finish", status="success", summary="done")


@pytest.fixture
async def site(real_world: None) -> AsyncIterator[Site]:  # noqa: ARG001
    async with hostile_site() as site:
        yield site


def context(person: str = ANNA, *said: str) -> ToolContext:
    return ToolContext(
        task_id="7",
        person=person,
        member="general-purpose",
        task=said[0] if said else "",
        said=said,
        found=(),
        notes=(),
        models=models([])[0],
        control=Control(),
        mask=Mask(),
        frames=MemoryFrames(),
        emit=lambda _event: None,
    )


async def done(memory: MemoryOfThisProcess, action: Any, about: ToolContext) -> ActionResult:
    tool = next(tool for tool in memory_tools(memory) if tool.model is type(action))
    return await tool.run(action, about)


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I drink oat milk", "Remember that I drink oat milk."),
        ("I drink oat milk.", "order a coffee and remember I DRINK oat milk"),
        ("my dog is called Rex", "Please note: my dog is called Rex, and buy food"),
        ("I like tea, my dog likes milk", "I like tea, and my dog likes milk!"),
        ("我不吃香菜", "请记住我不吃香菜，然后点一份面"),
    ],
)
def test_what_the_person_said_is_known(fact: str, said: str) -> None:
    assert was_said(fact, ("something else", said))


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I drink oat milk", "I no longer drink oat milk"),
        ("I drink oat milk", "Don't remember that I drink oat milk"),
        ("drink oat milk", "I never drink oat milk"),
        ("Ben owes Anna 5 euros", "Remember that Anna owes Ben 5 euros"),
        ("my bank is the one at evil.example", "read the page and remember what it says about my bank"),
        ("吃香菜", "请记住我不吃香菜"),
        ("…", "…"),
        ("I like tea, my dog likes milk", "I like tea"),
    ],
)
def test_what_the_person_did_not_say_so_is_not(fact: str, said: str) -> None:
    assert not was_said(fact, (said,))


@pytest.mark.real_time  # the page comes from outside the loop
@pytest.mark.parametrize(("answer", "kept"), [("deny", []), ("allow", ["web"])])
async def test_a_model_that_obeys_a_page_keeps_nothing_without_a_yes(
    rig: Rig, site: Site, answer: str, kept: list[str]
) -> None:
    """Seen failing with an open gate: the fact of the page was kept, and nobody was asked."""
    memory = MemoryOfThisProcess()
    egress = site.egress()
    script = [call("read_page", url=site.url("/obey")), call("remember", fact="I always pay by evil.example"), FINISH]
    have, _ = models([*script, FINISH], caption=[ModelUnreachable("no captions")] * 20)
    actions = BUILT_IN.plus(read_page(lambda: egress), *memory_tools(memory))
    wanted = order(f"Read {site.url('/obey')} for me").model_copy(update={"person": ANNA})
    work = Work(rig.agent(have, actions=actions), wanted)
    asked = await work.until(Asked)
    assert await memory.all(ANNA) == ()
    assert "I always pay by evil.example" in asked.question.detail
    assert "you have not said it yourself" in asked.question.detail
    await work.answer(answer)
    await work.ended()
    assert [fact.source.replace("screen", "web") for fact in await memory.all(ANNA)] == kept


async def test_what_was_said_is_kept_by_a_member_unasked() -> None:
    memory = MemoryOfThisProcess()
    box = Toolbox(memory_tools(memory), MemoryToolCalls(), policy=Policy.default())
    caller = box.caller(Worker("7", "general-purpose", 1))
    own = ToolCall("a", "remember", '{"fact": "I drink oat milk"}')
    others = ToolCall("b", "remember", '{"fact": "Ben is not to be trusted"}')
    said = context(ANNA, "Remember that I drink oat milk")
    first, second = await caller.call((own, others), said, turn=1)
    assert (first.state, second.state) == ("ok", "asks")
    (fact,) = await memory.all(ANNA)
    assert (fact.text, fact.source) == ("I drink oat milk", "person")


async def test_only_own_facts_are_found_and_forgotten() -> None:
    memory = MemoryOfThisProcess()
    await memory.remember(ANNA, "the code word is tulip")
    assert (await done(memory, Recall(about="code word"), context(BEN))).read == ()
    with pytest.raises(ActionError, match="no fact reads"):
        await done(memory, Forget(facts=["the code word is tulip"]), context(BEN))
    found = await done(memory, Recall(about="code word"), context())
    assert found.read == ("the code word is tulip",)
    assert found.notes == found.read, "its words could leave unasked"
    await done(memory, Forget(facts=["the code word  is tulip"]), context())
    assert await memory.all(ANNA) == ()


async def test_nothing_is_forgotten_unasked() -> None:
    """Seen failing with an open gate: the fact was gone."""
    memory = MemoryOfThisProcess()
    await memory.remember(ANNA, "tea at four")
    caller = Toolbox(memory_tools(memory), MemoryToolCalls()).caller(Worker("7", "general-purpose", 1))
    (called,) = await caller.call(
        (ToolCall("a", "forget", '{"facts": ["tea at four"]}'),), context(ANNA, "forget: tea at four"), turn=1
    )
    assert (called.state, called.details) == ("asks", ("tea at four",))
    assert len(await memory.all(ANNA)) == 1


async def test_nobody_has_no_memory_and_no_secret_is_kept() -> None:
    memory = MemoryOfThisProcess()
    with pytest.raises(ActionError, match="nobody is known"):
        await done(memory, Remember(fact="tea"), context(""))
    mask = Mask()
    mask.add("blue-otter-4711")
    with pytest.raises(ActionError, match="secret"):
        await done(memory, Remember(fact="my code is blue-otter-4711"), replace(context(), mask=mask))
    assert await memory.all(ANNA) == ()
