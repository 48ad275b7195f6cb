"""What a person has allowed ahead: messages to one recipient in one app for the rest of a task, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.memory import InMemorySaver

from agent.effect_facts import AllowedAhead
from agent.events import Asked, Step
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.ports.agent import TaskOrder
from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, Question, StandingYes
from agent.run import Outcome
from tests.agent.graph.dying import DyingSaver, Lives, Moment
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, data, models, tap, text


def _next(acts: Iterator[Any], request: ModelRequest) -> ModelReply:
    act = next(acts)
    reply: ModelReply = act(request) if callable(act) else act
    return reply


DONE = call("finish", status="success", summary="done")
GIVE_UP = call("finish", status="failure", summary="stopped")


def asked(work: Work) -> list[Question]:
    return [event.question for event in work.events if isinstance(event, Asked)]


def passes(work: Work) -> list[AllowedAhead]:
    return [effect for step in work.steps for effect in step.effect if isinstance(effect, AllowedAhead)]


def writing(rig: Rig, person: str, message: str, app: str = "messages") -> None:
    rig.phone.windows.launch(app)
    rig.phone.windows.open("thread", person=person)
    rig.phone.windows.page.fields["compose_message_text"] = message


def write(rig: Rig, person: str, message: str, app: str = "messages") -> Any:
    """A person at the phone opens the conversation and writes; the model waits meanwhile."""

    def act(_: ModelRequest) -> ModelReply:
        writing(rig, person, message, app)
        return call("wait", seconds=0)

    return act


def sent(rig: Rig, person: str) -> list[str]:
    return [each.text for each in rig.phone.truth.messages if each.to == person]


async def test_a_message_to_somebody_known_can_be_allowed_for_the_task(rig: Rig) -> None:
    writing(rig, "Bob", "one")
    have, _ = models([tap("Send"), write(rig, "Bob", "two"), tap("Send"), DONE])
    work = Work(rig.agent(have), order("tell Bob"))
    question = (await work.until(Asked)).question
    assert question.choices == (ALLOW, DENY, ALLOW_FOR_TASK)
    assert question.to is not None
    assert (question.to.name, question.to.app) == ("Bob", "com.android.messaging")
    assert question.sends == "one"
    await work.answer(ALLOW_FOR_TASK)
    assert (await work.ended()).outcome is not Outcome.BLOCKED
    assert sent(rig, "Bob")[-2:] == ["one", "two"]
    assert len(asked(work)) == 1
    assert passes(work) == [AllowedAhead(to="Bob", by="test")]


async def test_allowed_once_is_asked_again(rig: Rig) -> None:
    writing(rig, "Bob", "one")
    have, _ = models([tap("Send"), write(rig, "Bob", "two"), tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), order("tell Bob"))
    first = await work.until(Asked)
    await work.answer(ALLOW)
    await work.until(Asked, lambda each: each.question.id != first.question.id)
    await work.answer(DENY)
    await work.ended()
    assert passes(work) == []


@pytest.mark.parametrize(("person", "app"), [("Alice", "messages"), ("Bob", "wechat")])
async def test_another_recipient_or_app_is_asked_as_ever(rig: Rig, person: str, app: str) -> None:
    """Seen failing with a yes that is only compared by app, and one only by name."""
    writing(rig, "Bob", "one")
    have, _ = models([tap("Send"), write(rig, person, "two", app), tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), order("tell them"))
    first = await work.until(Asked)
    await work.answer(ALLOW_FOR_TASK)
    second = await work.until(Asked, lambda each: each.question.id != first.question.id)
    assert person in second.question.text
    await work.answer(DENY)
    await work.ended()
    assert passes(work) == []


async def test_an_unknown_recipient_is_never_offered(rig: Rig) -> None:
    """The page for a new message has a heading where a conversation has a name."""
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("new")
    rig.phone.windows.page.fields.update(to="Bob", compose_message_text="hello")
    have, _ = models([tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), order("tell Bob"))
    question = (await work.until(Asked)).question
    assert (question.to, question.choices) == (None, (ALLOW, DENY))
    await work.answer(ALLOW_FOR_TASK)
    await work.ended()
    assert sent(rig, "Bob") == sent(rig, "Bob")[:1]
    assert "hello" not in sent(rig, "Bob")


async def test_paying_and_deleting_are_never_offered(rig: Rig) -> None:
    rig.phone.windows.launch("shop")
    rig.phone.state.cart.append("Desk lamp")
    rig.phone.windows.open("payment")
    have, _ = models([tap("Place order"), GIVE_UP])
    work = Work(rig.agent(have), order("buy it"))
    question = (await work.until(Asked)).question
    assert (question.consequence, question.to, question.choices) == ("pay", None, (ALLOW, DENY))
    await work.answer(ALLOW_FOR_TASK)
    await work.ended()
    assert rig.phone.truth.orders == ()


async def test_it_holds_in_the_next_part_of_the_task(rig: Rig) -> None:
    writing(rig, "Bob", "one")
    have, _ = models(
        [tap("Send"), DONE, write(rig, "Bob", "two"), tap("Send"), DONE],
        intent=[data(kind="complex")],
        plan=[text("the plan")],
        supervise=[
            data(decision="continue", remaining=["a", "b"], next="a"),
            data(decision="continue", remaining=["b"], next="b"),
            data(decision="complete"),
        ],
        summarize=[text("Done.")],
    )
    work = Work(rig.agent(have), order("tell Bob, then tell him again", quick=False))
    await work.until(Asked)
    await work.answer(ALLOW_FOR_TASK)
    await work.ended()
    assert sent(rig, "Bob")[-2:] == ["one", "two"]
    assert len(asked(work)) == 1


def scheduled(yes: StandingYes) -> TaskOrder:
    return order("tell Bob good morning").model_copy(update={"standing": (yes,)})


YES = StandingYes(to="Bob", text="Good morning", by="Ann", schedule="3")


async def test_what_a_schedule_allows_passes_once(rig: Rig) -> None:
    writing(rig, "Bob", "Good morning")
    have, _ = models([tap("Send"), write(rig, "Bob", "Good morning"), tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), scheduled(YES))
    await work.until(Asked)
    assert passes(work) == [AllowedAhead(to="Bob", by="Ann", schedule="3")]
    assert sent(rig, "Bob")[-1:] == ["Good morning"]
    before = len(sent(rig, "Bob"))
    await work.answer(DENY)
    await work.ended()
    assert len(sent(rig, "Bob")) == before


@pytest.mark.parametrize(
    ("person", "message", "changed"),
    [
        ("Bob", "Good evening", {}),
        ("Bob", "Good morning, and send me the code", {}),
        ("Alice", "Good morning", {}),
        ("Bob", "Good morning", {"app": "com.tencent.mm"}),
        ("Bob", "Good morning", {"to": "B\u043eb"}),
        ("Bob", "Good morning", {"text": None}),
        ("Bob", "good morning", {}),
    ],
)
async def test_anything_else_than_what_a_schedule_allows_is_asked(
    rig: Rig, person: str, message: str, changed: dict[str, object]
) -> None:
    writing(rig, person, message)
    have, _ = models([tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), scheduled(YES.model_copy(update=changed)))
    await work.until(Asked)
    await work.answer(DENY)
    await work.ended()
    assert message not in sent(rig, person)
    assert passes(work) == []


@pytest.mark.parametrize("app", ["", "com.android.messaging", "messages"])
async def test_the_app_of_a_schedule_is_a_package_or_a_label(rig: Rig, app: str) -> None:
    writing(rig, "Bob", "Good morning")
    have, _ = models([tap("Send"), DONE])
    work = Work(rig.agent(have), scheduled(YES.model_copy(update={"app": app})))
    await work.ended()
    assert len(passes(work)) == 1
    assert asked(work) == []


class SwappingSaver(InMemorySaver):
    """Does something the moment after a message was found to be allowed ahead, and before it is touched."""

    def __init__(self, swap: Callable[[], None]) -> None:
        super().__init__()
        self._swaps = [swap]

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        if checkpoint["channel_values"].get("question", {}).get("standing_yes") and self._swaps:
            self._swaps.pop()()
        return await super().aput(config, checkpoint, metadata, new_versions)


async def test_a_conversation_that_is_swapped_before_the_touch_gets_nothing(rig: Rig) -> None:
    """What passes is held to its window like any approval. What a schedule allows
    is used up by that, so the next one is asked.
    """
    swapped: list[str] = []

    def swap() -> None:
        swapped.append("to Alice")
        writing(rig, "Alice", "Good morning")

    rig.saver = SwappingSaver(swap)
    writing(rig, "Bob", "Good morning")
    have, model = models([tap("Send"), write(rig, "Bob", "Good morning"), tap("Send"), DONE])
    work = Work(rig.agent(have), scheduled(YES))
    await work.until(Asked)
    await work.answer(ALLOW)
    await work.ended()
    assert swapped
    assert "Good morning" not in sent(rig, "Alice")
    assert sent(rig, "Bob")[-1:] == ["Good morning"]
    assert len(model.asked(Purpose.ACT)) == 4


@pytest.mark.parametrize("moment", ["begins", "has run"])
async def test_a_process_that_dies_forgets_no_yes(rig: Rig, tmp_path: Path, moment: Moment) -> None:
    """Killed behind the answer, when the next message was let pass but not sent, or was sent and that not kept."""
    writing(rig, "Bob", "one")
    script = [tap("Send"), write(rig, "Bob", "two"), tap("Send"), DONE]
    acts = iter(script)
    lives = Lives(tmp_path / "checkpoints.sqlite", approve=ALLOW_FOR_TASK)
    # Each message takes two visits: one to be looked at, one to be sent.
    ends = []
    for node, visit in (("execute_action", 4), ("", 1)):
        connection = await lives.connect()
        rig.saver = saver = DyingSaver(connection, node, moment, visit)
        have, _ = models([lambda request: _next(acts, request)] * 8)
        ends.append(await lives.live(rig.agent(have), order("tell Bob"), saver))
        await connection.close()
    assert [end is None for end in ends] == [True, False]
    assert [event.question.text for event in lives.events if isinstance(event, Asked)] == [
        "Send “one” to Bob in Messages?"
    ]
    assert sent(rig, "Bob").count("two") == 1
    steps = [event for event in lives.events if isinstance(event, Step)]
    assert [effect for step in steps for effect in step.effect if isinstance(effect, AllowedAhead)] == [
        AllowedAhead(to="Bob", by="")
    ]
