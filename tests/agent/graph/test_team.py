"""The team in the main graph: parts that need no phone, side by side and beside a run on a virtual phone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field

from agent.actions import Action
from agent.events import Asked, Planned, Resumed, Started, TaskEvent, Todo
from agent.graph.member.members import Members
from agent.guards.gate import ALLOWED, Gate
from agent.limits import TaskLimits
from agent.members.loading import Member, Team
from agent.models.base import ModelReply, ModelRequest, Models, Purpose, Usage
from agent.ports.agent import Agent, TaskOrder
from agent.ports.journal import MemoryToolCalls
from agent.questions import QuestionKind
from agent.run import Outcome
from agent.tools.calling import Toolbox
from agent.tools.egress import Egress
from agent.tools.searching import SearXng
from agent.tools.spec import ActionResult, PageSource, Situation, Tool, ToolContext, ungated
from agent.tools.web import read_page, web_search
from agent.wording import Texts
from tests.agent.graph.dying import DyingSaver, Lives
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.ports import MemoryFrames
from tests.fakes.scripted_model import call, calls, data, text

FINISH = call("finish", status="success", summary="It is in the notes.", data="B")
TEXTS = Texts({"look": "look up {what}", "send": "send {what}"}, zh={"look": "查 {what}", "send": "发送 {what}"})
TEAM = Team(
    {
        name: Member(name, f"Does what a {name} does.", f"You are the {name}.", tools=tools, max_calls=4)
        for name, tools in {"researcher": ("look",), "coder": ("calculate",), "sender": ("send",)}.items()
    }
)


class Look(Action):
    """Look something up."""

    kind: Literal["look"] = "look"
    what: str = Field(description="What it is about.")


class SendOut(Action):
    """Send something, which cannot be undone."""

    kind: Literal["send"] = "send"
    what: str = Field(description="What it is about.")


@dataclass
class World:
    """What the tools have done, and when lookers go on: `together` of them at once."""

    looked: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    together: int = 0
    asks: bool = False
    calls: MemoryToolCalls = field(default_factory=MemoryToolCalls)
    _all_there: asyncio.Event = field(default_factory=asyncio.Event)

    def toolbox(self) -> Toolbox:
        async def look(action: Look, context: ToolContext) -> ActionResult:
            self.looked.append(action.what)
            if len(self.looked) >= self.together:
                self._all_there.set()
            await context.control.guard(self._all_there.wait())
            page = PageSource(f"Shop of {action.what}", f"https://shop.example/{action.what}")
            return ActionResult(
                notices=(f"{action.what} costs {len(action.what)} euros",), sources=(page,), notes=(action.what,)
            )

        async def send(action: SendOut, _: ToolContext) -> ActionResult:
            self.sent.append(action.what)
            return ActionResult(notices=("sent",))

        def gate(_: SendOut, __: Situation) -> Gate:
            return Gate("approve", "It leaves the house.") if self.asks else ALLOWED

        return Toolbox(
            [
                Tool(
                    model=Look,
                    describe=lambda action, _: TEXTS.words("look", what=action.what),
                    gate=ungated,
                    repeatable=True,
                    run=look,
                ),
                Tool(
                    model=SendOut, describe=lambda action, _: TEXTS.words("send", what=action.what), gate=gate, run=send
                ),
            ],
            self.calls,
        )


Script = dict[str, list[ModelReply | Callable[[ModelRequest], ModelReply]]]


@dataclass
class Cast:
    """A model in every role: for each purpose a list of answers, and for each piece of work of a member one of its own,
    found by words of its goal. A list begins anew where the conversation stands, as a real model would go on.
    """

    purposes: dict[Purpose, list[Any]]
    members: Script
    name: str = "scripted"
    requests: list[ModelRequest] = field(default_factory=list)
    hang: set[str] = field(default_factory=set)

    async def complete(self, request: ModelRequest, *, on_delta: Any = None) -> ModelReply:  # noqa: ARG002
        self.requests.append(request)
        if request.purpose is Purpose.VERIFY:
            return data(proven=True)
        if request.purpose is Purpose.GUARD:
            return data(consequence="none", object="")
        if request.purpose is Purpose.CAPTION:
            return text("a caption")
        if request.purpose is not Purpose.MEMBER:
            return _said(self.purposes[request.purpose].pop(0), request)
        goal = request.messages[1].text
        key = next(key for key in self.members if key in goal)
        if key in self.hang:
            await asyncio.Event().wait()
        turn = sum(message.role == "assistant" for message in request.messages)
        return _said(self.members[key][turn], request)

    def asked(self, purpose: Purpose) -> list[ModelRequest]:
        return [request for request in self.requests if request.purpose is purpose]


def _said(answer: Any, request: ModelRequest) -> ModelReply:
    reply = answer(request) if callable(answer) else answer
    assert isinstance(reply, ModelReply)
    return reply


def cast(members: Script, **purposes: list[Any]) -> tuple[Models, Cast]:
    model = Cast({Purpose(name): list(script) for name, script in purposes.items()}, members)
    return Models(model, model, model), model


def agent_of(rig: Rig, models: Models, world: World, *, saver: Any = None, **more: Any) -> Agent:
    if saver is not None:
        rig.saver = saver
    members = Members(lambda: TEAM, world.toolbox(), MemoryFrames(), rig.saver)
    return rig.agent(models, main={"members": members}, **more)


def assign(*parts: tuple[str, str], later: Sequence[str] = (), decision: str = "continue") -> ModelReply:
    """The supervisor hands out parts: member and title, with the title as its goal."""
    assignments = [{"member": member, "todo": title, "goal": title} for member, title in parts]
    return data(decision=decision, remaining=[title for _, title in parts] + list(later), assignments=assignments)


COMPLETE = data(decision="complete")
PLAN = data(
    thought="Both prices are wanted, and the cheaper one in the notes.",
    title="Compare A and B",
    steps=[
        {"member": "researcher", "title": "price of A"},
        {"member": "researcher", "title": "price of B"},
        {"member": "coder", "title": "which is cheaper"},
        {"member": "executor", "title": "write it down"},
    ],
)


def todos(events: Iterable[TaskEvent]) -> list[tuple[Todo, ...]]:
    return [event.todos for event in events if isinstance(event, Planned)]


@pytest.mark.over_the_wire
async def test_two_members_at_once_then_the_phone(rig: Rig) -> None:
    """The two look at once: neither goes on before both are there."""
    world = World(together=2)
    have, model = cast(
        {
            "price of A": [call("look", what="A"), text("A costs 1 euro.")],
            "price of B": [call("look", what="BB"), text("B costs 2 euros.")],
            "which is cheaper": [text("A is cheaper.")],
        },
        intent=[data(kind="complex")],
        plan=[PLAN],
        supervise=[
            assign(
                ("researcher", "price of A"), ("researcher", "price of B"), later=["which is cheaper", "write it down"]
            ),
            assign(("coder", "which is cheaper"), later=["write it down"]),
            assign(("executor", "write it down")),
            COMPLETE,
        ],
        act=[FINISH],
        summarize=[text("A is the cheaper one.")],
    )
    work = Work(agent_of(rig, have, world), order("compare", quick=False))

    end = await work.ended()

    assert end.outcome is Outcome.SUCCEEDED
    assert end.summary.startswith("A is the cheaper one.")
    assert [source.url for source in end.sources] == ["https://shop.example/A", "https://shop.example/BB"]
    told = todos(work.events)
    assert [todo.member for todo in told[0]] == ["researcher", "researcher", "coder", "executor"]
    assert {todo.state for todo in told[-1]} == {"completed"}
    assert any([todo.state for todo in each[:2]] == ["in progress", "in progress"] for each in told)
    assert (
        end.usage.calls
        == sum(request.purpose is not Purpose.VERIFY for request in model.requests) + len(model.asked(Purpose.VERIFY))
        or end.usage.input > 0
    )
    (coder,) = model.asked(Purpose.MEMBER)[4:5]
    assert "A costs 1 euro." in coder.messages[1].text
    assert len([event for event in work.events if isinstance(event, Started)]) == 1
    assert rig.leases.held == {}


async def test_a_task_that_needs_no_phone_takes_none(rig: Rig) -> None:
    have, _ = cast({"17 %": [text("397.8")]}, intent=[data(kind="member", member="coder")])
    work = Work(agent_of(rig, have, World()), order("what is 17 % of 2,340?", quick=False))
    end = await work.ended()
    assert (end.outcome, end.summary) == (Outcome.SUCCEEDED, "397.8")
    assert rig.leases.log == []
    title = "what is 17 % of 2,340?"
    told = [[(todo.title, todo.member, todo.state) for todo in each] for each in todos(work.events)]
    assert told == [[(title, "coder", "in progress")], [(title, "coder", "completed")]]


async def test_a_member_may_be_named(rig: Rig) -> None:
    have, model = cast({"look": [call("look", what="A"), text("1 euro")]})
    agent = agent_of(rig, have, World())
    end = await Work(agent, TaskOrder(task="7", text="look it up", member="researcher")).ended()
    assert end.summary.startswith("1 euro")
    assert model.asked(Purpose.INTENT) == []
    end = await Work(agent, TaskOrder(task="8", text="x", member="cook")).ended()
    assert end.outcome is Outcome.FAILED
    assert "researcher" in end.summary


async def test_the_pages_that_a_member_read_are_listed_as_they_were_read(rig: Rig) -> None:
    """Seen failing before: those of the last turn came first."""
    have, _ = cast({"look": [call("look", what="A"), call("look", what="BB"), text("1 euro")]})
    agent = agent_of(rig, have, World())
    end = await Work(agent, TaskOrder(task="7", text="look it up", member="researcher")).ended()
    assert [page.url for page in end.sources] == ["https://shop.example/A", "https://shop.example/BB"]


async def test_members_work_beside_the_phone(rig: Rig) -> None:
    """The run ends first; the phone is given back while the member still works."""
    world = World(together=2)
    have, _ = cast(
        {"price": [call("look", what="A"), text("1")]},
        intent=[data(kind="complex")],
        plan=[PLAN],
        supervise=[assign(("researcher", "price"), ("executor", "open it")), COMPLETE],
        act=[FINISH],
        summarize=[text("Both done.")],
    )
    work = Work(agent_of(rig, have, world), order("x", quick=False))
    await work.until(Planned, lambda event: any(todo.state == "completed" for todo in event.todos))
    while rig.leases.held:
        await asyncio.sleep(0)
    assert not any(todo.state == "completed" and todo.member == "researcher" for todo in todos(work.events)[-1])
    world._all_there.set()
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED


@pytest.mark.parametrize(
    "bad",
    [
        assign(("cook", "price")),
        assign(("executor", "one"), ("executor", "two")),
        assign(("researcher", "price"), ("researcher", "price")),
        data(decision="continue"),
        data(decision="continue", remaining=["a"], assignments=[{"member": "coder", "todo": "a", "goal": " "}]),
    ],
)
async def test_a_decision_that_cannot_be_done_is_told_to_the_model(rig: Rig, bad: ModelReply) -> None:
    have, model = cast(
        {"price": [text("1")]},
        intent=[data(kind="complex")],
        plan=[PLAN],
        supervise=[bad, assign(("researcher", "price")), COMPLETE],
    )
    end = await Work(agent_of(rig, have, World()), order("x", quick=False)).ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert "cannot be used" in model.asked(Purpose.SUPERVISE)[1].messages[-1].text


async def test_a_member_that_calls_without_end_is_ended_honestly(rig: Rig) -> None:
    world = World()
    again: list[Any] = [call("look", what=str(number)) for number in range(40)]
    have, model = cast({"look": again}, intent=[data(kind="member", member="researcher")])
    end = await Work(agent_of(rig, have, world), order("look", quick=False)).ended()
    assert end.outcome is Outcome.FAILED
    assert "within 4 calls" in end.summary
    assert world.looked == ["0", "1", "2", "3"]
    assert len(model.asked(Purpose.MEMBER)) < 10


async def test_only_empty_answers_in_a_row_end_a_members_work(rig: Rig) -> None:
    """Seen failing before: every empty answer counted, whatever came between."""
    looks: list[Any] = [answer for what in "abc" for answer in (text(""), text(""), call("look", what=what))]
    world = World()
    have, model = cast({"look": [*looks, text("enough")]}, intent=[data(kind="member", member="researcher")])
    end = await Work(agent_of(rig, have, world), order("look", quick=False)).ended()
    assert (end.outcome, world.looked) == (Outcome.SUCCEEDED, ["a", "b", "c"])
    have, model = cast({"look": [text("")] * 10}, intent=[data(kind="member", member="researcher")])
    end = await Work(agent_of(rig, have, world), order("look", task="8", quick=False)).ended()
    assert end.outcome is Outcome.FAILED
    assert len(model.asked(Purpose.MEMBER)) == 3


async def test_ten_thousand_calls_in_one_answer(rig: Rig) -> None:
    world = World()
    many = calls(*[("look", {"what": str(number)}) for number in range(10_000)])
    have, model = cast({"look": [many, text("enough")]}, intent=[data(kind="member", member="researcher")])
    end = await Work(agent_of(rig, have, world), order("look", quick=False)).ended()
    assert end.summary.startswith("enough")
    assert len(world.looked) == 4
    assert "9,996 more calls" in model.asked(Purpose.MEMBER)[1].messages[-1].text


@pytest.mark.real_time
async def test_without_a_network_a_member_is_told_so_and_goes_on(rig: Rig) -> None:
    async def nowhere(_host: str, _port: int) -> Sequence[str]:
        raise OSError("no network")

    egress = Egress(resolve=nowhere)
    tools = Toolbox(
        [web_search(lambda: SearXng("https://search.example", egress)), read_page(lambda: egress)], rig.tool_calls
    )
    team = Team({"researcher": Member("researcher", "Looks up.", "You look up.", tools=("web_search", "read_page"))})
    page = "https://shop.example/a"
    script: list[Any] = [call("web_search", query="pump"), call("read_page", url=page), text("There is no network.")]
    have, model = cast({"": script}, intent=[data(kind="member", member="researcher")])
    members = Members(lambda: team, tools, MemoryFrames(), rig.saver)
    end = await Work(rig.agent(have, main={"members": members}), order(f"read {page}", quick=False)).ended()
    assert (end.outcome, end.summary) == (Outcome.SUCCEEDED, "There is no network.")
    told = [message.text for message in model.requests[-1].messages if message.role == "tool"]
    assert told[0].startswith("The search did not work.")
    assert told[1].startswith("The page could not be read.")


@pytest.mark.over_the_wire
async def test_a_member_asks_the_person_one_question_after_the_other(rig: Rig) -> None:
    ask = call("ask_user", question="Which one?", choices=["red", "blue"])
    have, model = cast(
        {"first": [ask, text("one")], "second": [ask, text("two")]},
        intent=[data(kind="complex")],
        plan=[PLAN],
        supervise=[assign(("coder", "first"), ("coder", "second")), COMPLETE],
        summarize=[text("both")],
    )
    work = Work(agent_of(rig, have, World()), order("x", quick=False))
    await work.until(Asked)
    await asyncio.sleep(0)
    assert len([event for event in work.events if isinstance(event, Asked)]) == 1
    await work.answer("red")
    await work.until(Resumed)
    await work.until(Asked, lambda event: event.question.id != first_asked(work))
    await work.answer("blue")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    answers = {
        request.messages[-1].text for request in model.asked(Purpose.MEMBER) if request.messages[-1].role == "tool"
    }
    assert answers == {"The person answers: red", "The person answers: blue"}


@pytest.mark.parametrize("question", ["Wie lautet dein Passwort?", "¿Cuál es tu contraseña?", "What is the code?"])
async def test_a_member_asks_for_no_password(rig: Rig, question: str) -> None:
    """Seen failing without `asks_for_secret` in `member_tools`: the answer went to the member's model."""
    ask = call("ask_user", question=question)
    have, model = cast({"17 %": [ask, text("A password is needed.")]}, intent=[data(kind="member", member="coder")])
    work = Work(agent_of(rig, have, World()), order("what is 17 % of 2,340?", quick=False))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert not [event for event in work.events if isinstance(event, Asked)]
    assert "you never get a password" in model.asked(Purpose.MEMBER)[-1].messages[-1].text


async def test_of_choices_that_a_member_offers_with_a_password_only_those_are_answers(rig: Rig) -> None:
    ask = call("ask_user", question="Which password manager, Wie lautet dein Passwort?", choices=["A", "B"])
    have, _ = cast({"17 %": [ask, text("A")]}, intent=[data(kind="member", member="coder")])
    work = Work(agent_of(rig, have, World()), order("what is 17 % of 2,340?", quick=False))
    asked = await work.until(Asked)
    assert asked.question.strict
    await work.answer("A")
    await work.ended()


def first_asked(work: Work) -> str:
    return next(event.question.id for event in work.events if isinstance(event, Asked))


@pytest.mark.parametrize(("said", "sent"), [("allow", ["hello"]), ("deny", [])])
async def test_a_tool_that_has_to_be_allowed(rig: Rig, said: str, sent: list[str]) -> None:
    """What was denied is no success, whatever the member says. Seen failing before: `succeeded` for both."""
    world = World(asks=True)
    have, _ = cast({"send": [call("send", what="hello"), text("over")]}, intent=[data(kind="member", member="sender")])
    work = Work(agent_of(rig, have, world), order("send", quick=False))
    asked = await work.until(Asked)
    assert asked.question.kind is QuestionKind.APPROVE
    assert "hello" in asked.question.text + asked.question.detail
    await work.answer(said)
    end = await work.ended()
    assert world.sent == sent
    assert end.outcome is (Outcome.SUCCEEDED if sent else Outcome.DECLINED)
    assert ("a person did not allow it: send hello" in end.summary) is (not sent)


async def test_stop_takes_effect_in_every_member_at_once(rig: Rig) -> None:
    have, model = cast(
        {"one": [], "two": []},
        intent=[data(kind="complex")],
        plan=[PLAN],
        supervise=[assign(("researcher", "one"), ("coder", "two"))],
    )
    model.hang = {"one", "two"}
    work = Work(agent_of(rig, have, World()), order("x", quick=False))
    await until(lambda: len(model.asked(Purpose.MEMBER)) == 2)
    await work.agent.pause("7")
    await work.agent.cancel("7")
    assert (await work.ended()).outcome is Outcome.CANCELLED


async def test_every_member_reads_what_the_person_writes(rig: Rig) -> None:
    world = World(together=2)
    have, model = cast(
        {"one": [call("look", what="A"), text("a")], "two": [call("look", what="B"), text("b")]},
        intent=[data(kind="complex")],
        plan=[PLAN],
        supervise=[assign(("researcher", "one"), ("researcher", "two")), COMPLETE],
        summarize=[text("both")],
    )
    world.together = 3
    work = Work(agent_of(rig, have, world), order("x", quick=False))
    await until(lambda: len(world.looked) == 2)
    await work.agent.steer("7", "only new ones")
    world._all_there.set()
    await work.ended()
    last = [request for request in model.asked(Purpose.MEMBER) if len(request.messages) > 2]
    assert len(last) == 2
    assert all("only new ones" in request.messages[-1].text for request in last)


async def test_tokens_of_members_count(rig: Rig) -> None:
    again: list[Any] = [call("look", what=str(number)) for number in range(4)]
    have, _ = cast({"look": again}, intent=[data(kind="member", member="researcher")])
    end = await Work(agent_of(rig, have, World(), limits=TaskLimits(tokens=200)), order("look", quick=False)).ended()
    assert end.outcome is Outcome.BLOCKED
    assert "MAX_TOKENS" in end.summary
    assert end.usage != Usage()


async def until(such: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not such():
            await asyncio.sleep(0)


JOURNEY: Script = {
    "price of A": [call("look", what="A"), text("A costs 1 euro.")],
    "price of B": [call("send", what="hello"), text("B costs 2 euros.")],
}


def _supervise(request: ModelRequest) -> ModelReply:
    if "(none yet)" not in request.messages[-1].text:
        return COMPLETE
    return assign(("researcher", "price of A"), ("sender", "price of B"))


@pytest.mark.parametrize("visit", [1, 2, 3])
@pytest.mark.parametrize("node", ["member_model", "member_tools"])
@pytest.mark.parametrize("moment", ["begins", "has run"])
async def test_a_member_goes_on_where_it_stood(
    rig: Rig, tmp_path: Path, node: str, moment: Literal["begins", "has run"], visit: int
) -> None:
    """Whatever dies when: nothing is sent twice, and nothing is left out.

    Seen failing (sent twice) with a new record of calls in the second life.
    """
    world, lives = World(), Lives(tmp_path / "checkpoints")
    for life in range(2):
        have, _ = cast(
            JOURNEY,
            intent=[data(kind="complex")],
            plan=[PLAN],
            supervise=[_supervise] * 4,
            summarize=[text("done")],
        )
        connection = await lives.connect()
        saver = DyingSaver(connection, node if life == 0 else "", moment, visit)
        await saver.setup()
        end = await lives.live(agent_of(rig, have, world, saver=saver), order("x", quick=False), saver)
        await connection.close()
        if end is not None:
            break
    assert end is not None
    assert end.outcome is Outcome.SUCCEEDED
    assert world.sent == ["hello"]
