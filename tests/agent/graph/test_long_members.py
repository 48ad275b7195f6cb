"""A member whose calls bring much: its old turns become one summary, once, and a refusal is shortened once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.context_window import HEADING
from agent.graph.member.members import Members
from agent.members.loading import Member, Team
from agent.models.base import ModelRequest, Models, Purpose
from agent.models.errors import InputTooLong
from agent.models.tokens import estimated_input
from agent.ports.agent import Agent
from agent.run import Outcome
from tests.agent.graph.dying import DyingSaver, Lives
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.graph.test_team import World
from tests.fakes.ports import MemoryFrames
from tests.fakes.scripted_model import Windowed, call, data, text

TEAM = Team({"researcher": Member("researcher", "Looks up.", "You look up.", tools=("look",), max_calls=30)})
WINDOW = 8_000
LOOKS = 20


def looks(number: int, first: int = 1) -> list[Any]:
    """Looks up one thing after the other, each a thousand letters long, and says that it is done."""
    return [call("look", what=f"{n} {'x' * 1_000}") for n in range(first, number + 1)] + [text("All looked up.")]


def cast(member: list[Any], *summaries: Any) -> tuple[Models, Windowed]:
    """The same model in every role, with a small window."""
    intent = [data(kind="member", member="researcher")]
    model = Windowed(
        {Purpose.INTENT: intent, Purpose.MEMBER: member, Purpose.SUMMARIZE: list(summaries)}, tokens=WINDOW
    )
    return Models(model, model, model), model


def agent_of(rig: Rig, models: Models, world: World) -> Agent:
    return rig.agent(models, main={"members": Members(lambda: TEAM, world.toolbox(), MemoryFrames(), rig.saver)})


def words(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


def paired(request: ModelRequest) -> bool:
    """Whether every result stands behind its call, as endpoints insist on."""
    open_calls: set[str] = set()
    for message in request.messages:
        if message.role == "tool" and message.call_id not in open_calls:
            return False
        open_calls |= {call.id for call in message.calls}
    return True


async def test_old_turns_are_summed_up_once_and_calls_keep_their_results(rig: Rig) -> None:
    world = World()
    have, model = cast(looks(LOOKS), *(text(f"So far {n}.") for n in range(9)))
    end = await Work(agent_of(rig, have, world), order("look them up", quick=False)).ended()
    assert (end.outcome, len(world.looked)) == (Outcome.SUCCEEDED, LOOKS)
    asked = model.asked(Purpose.MEMBER)
    assert len(asked) == LOOKS + 1
    assert max(estimated_input(request.messages) for request in asked) < 0.75 * WINDOW
    assert all(map(paired, asked))
    assert all("look them up" in words(request) for request in asked)
    summed = model.asked(Purpose.SUMMARIZE)
    assert summed
    assert sum(HEADING in message.text for message in asked[-1].messages) == 1
    assert f"So far {len(summed) - 1}." in words(asked[-1])
    for number in range(1, LOOKS + 1):
        assert sum(f'calls look {{"what": "{number} x' in words(request) for request in summed) <= 1
    shares = {share.role: share for share in end.usage.shares}
    assert set(shares) == {"basic", "researcher"}
    assert shares["researcher"].calls == LOOKS + 1


async def test_a_refusal_is_shortened_once_and_a_second_one_is_the_end(rig: Rig) -> None:
    have, model = cast([*looks(3)[:3], InputTooLong("too long"), text("Done.")], text("So far three."))
    end = await Work(agent_of(rig, have, World()), order("look", quick=False)).ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert "So far three." in words(model.asked(Purpose.MEMBER)[-1])
    refusals = [InputTooLong("The context window of scripted is too small.")] * 2
    have, model = cast([*looks(3)[:3], *refusals], text("So far three."))
    end = await Work(agent_of(rig, have, World()), order("look", quick=False, task="8")).ended()
    assert end.outcome is Outcome.FAILED
    assert "larger window" in end.summary
    assert len(model.asked(Purpose.SUMMARIZE)) == 1


async def test_after_a_crash_a_members_summary_is_not_asked_for_again(rig: Rig, tmp_path: Path) -> None:
    lives, world = Lives(tmp_path / "checkpoints.sqlite3"), World()
    connection = await lives.connect()
    # It dies some calls after its first summary, which the tenth answer makes necessary.
    saver = DyingSaver(connection, "member_model", "begins", 13)
    rig.saver = saver
    have, first = cast(looks(14), *[text("So far.")] * 4)
    assert await lives.live(agent_of(rig, have, world), order("look", quick=False), saver) is None
    await connection.close()
    assert first.asked(Purpose.SUMMARIZE)
    connection = await lives.connect()
    saver = DyingSaver(connection)
    rig.saver = saver
    have, second = cast([text("All looked up.")])
    end = await lives.live(agent_of(rig, have, world), order("look", quick=False), saver)
    await connection.close()
    assert end is not None
    assert end.outcome is Outcome.SUCCEEDED, end.summary
    assert "So far." in words(second.asked(Purpose.MEMBER)[0])
    assert second.asked(Purpose.SUMMARIZE) == []
