"""Endings that claim what code knows was not done: denied, refused, not done, uncertain, or still in a field."""

from __future__ import annotations

from typing import Any

import pytest

from agent.events import Asked, Planned
from agent.guards.policy import Policy
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.run import Outcome
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import HANG, call, data, models, tap, text

CLAIM = call("finish", status="success", summary="I sent the message to Alice.")
GIVE_UP = call("finish", status="failure", summary="The message was not sent; the rest is done.")
TO_ALICE = "Send “I'll be late” to Alice in Messages"

pytestmark = pytest.mark.over_the_wire


def writing(rig: Rig, person: str, message: str = "I'll be late") -> None:
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("thread", person=person)
    rig.phone.windows.page.fields["compose_message_text"] = message


def writes(rig: Rig, person: str, message: str) -> Any:
    """Another message is written while the model waits."""

    def written(_: ModelRequest) -> ModelReply:
        writing(rig, person, message)
        return call("wait", seconds=0)

    return written


async def answered(work: Work, *answers: str) -> None:
    """Each approval that comes up gets the next answer."""
    known: set[str] = set()
    for answer in answers:
        asked = await work.until(Asked, lambda each: each.question.id not in known)
        known.add(asked.question.id)
        await work.answer(answer)


async def test_a_denied_action_that_is_claimed_is_declined(rig: Rig) -> None:
    """Seen failing before: `succeeded: I sent the message to Alice.`, for the check agreed as well."""
    writing(rig, "Alice")
    have, _ = models([tap("Send"), CLAIM])
    work = Work(rig.agent(have), order("tell Alice that I'll be late"))
    await answered(work, "deny")
    end = await work.ended()
    assert end.outcome is Outcome.DECLINED
    assert TO_ALICE in end.summary
    assert "I sent" not in end.summary


async def test_who_gives_up_after_a_no_is_declined_too(rig: Rig) -> None:
    """Seen failing before: `failed`, as if the phone or the model had not managed it. Both are told: what was not done
    by the question, the rest in the words of a model that has claimed no success.
    """
    writing(rig, "Alice")
    have, _ = models([tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), order("tell Alice that I'll be late"))
    await answered(work, "deny")
    end = await work.ended()
    assert end.outcome is Outcome.DECLINED
    assert TO_ALICE in end.summary
    assert "the rest is done" in end.summary


async def test_what_was_allowed_is_told_beside_what_was_denied(rig: Rig) -> None:
    """Seen failing before: `succeeded`."""
    writing(rig, "Alice")
    have, _ = models([tap("Send"), writes(rig, "Bob", "see you"), tap("Send"), CLAIM])
    work = Work(rig.agent(have), order("tell Alice and Bob"))
    await answered(work, "deny", "allow")
    end = await work.ended()
    assert end.outcome is Outcome.DECLINED
    not_done, done, *_ = end.summary.splitlines()
    assert TO_ALICE in not_done
    assert "Send “see you” to Bob in Messages" in done
    assert [each.to for each in rig.phone.truth.messages if each.text in {"see you", "I'll be late"}] == ["Bob"]


async def test_a_switch_is_told_beside_what_was_denied(rig: Rig) -> None:
    """What nobody had to allow is told as well, step by step."""
    bluetooth = rig.phone.truth.toggles["bluetooth"]
    have, _ = models(
        [
            call("open_app", name="Settings"),
            tap("Bluetooth"),
            call("wait", seconds=0),
            writes(rig, "Alice", "I'll be late"),
            tap("Send"),
            CLAIM,
        ]
    )
    work = Work(rig.agent(have), order("switch Bluetooth, then tell Alice that I'll be late"))
    await answered(work, "deny")
    end = await work.ended()
    assert end.outcome is Outcome.DECLINED
    assert rig.phone.truth.toggles["bluetooth"] is not bluetooth
    assert "Done on the phone: open 'Settings' · tap 'Bluetooth'" in end.summary


async def test_a_no_and_then_a_yes_to_the_same_is_a_success(rig: Rig) -> None:
    """The person wanted other words: what they have allowed in the end is what was asked."""
    writing(rig, "Alice")
    have, _ = models([tap("Send"), writes(rig, "Alice", "I'm on my way"), tap("Send"), CLAIM])
    work = Work(rig.agent(have), order("tell Alice"))
    await answered(work, "deny", "allow")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED


async def test_a_no_outlives_a_restart(rig: Rig) -> None:
    """A second process has seen no question. Seen failing before: `succeeded`."""
    writing(rig, "Alice")
    have, model = models([tap("Send"), HANG])
    first = Work(rig.agent(have), order("tell Alice"))
    await answered(first, "deny")
    await model.hanging.wait()
    await first.kill()
    have, _ = models([CLAIM])
    end = await Work(rig.agent(have), order("tell Alice")).ended()
    assert end.outcome is Outcome.DECLINED
    assert TO_ALICE in end.summary


def planned(act: list[Any], *parts: str, **others: list[Any]) -> Any:
    supervise = [data(decision="continue", remaining=list(parts[at:]), next=part) for at, part in enumerate(parts)]
    given = {"intent": [data(kind="complex")], "plan": [text("the plan")], "summarize": [text("I sent it all.")]}
    return models(act, supervise=[*supervise, data(decision="complete")], **given, **others)


async def test_a_part_of_a_plan_that_was_denied(rig: Rig) -> None:
    """Seen failing before: `succeeded: I sent it all.`, in the words of the model that sums up."""
    writing(rig, "Alice")
    noted = call("finish", status="success", summary="Noted: milk.")
    have, model = planned([tap("Send"), CLAIM, call("note", text="milk"), noted], "tell Alice", "note milk")
    work = Work(rig.agent(have), order("tell Alice, and note milk", quick=False))
    await answered(work, "deny")
    end = await work.ended()
    assert end.outcome is Outcome.DECLINED
    assert TO_ALICE in end.summary
    assert "Noted: milk." in end.summary
    assert "I sent" not in end.summary
    assert not model.asked(Purpose.SUMMARIZE)
    last = [each for each in work.events if isinstance(each, Planned)][-1]
    assert [todo.state for todo in last.todos] == ["declined", "completed"]


def chat(answer: str) -> Any:
    return data(kind="chat", answer=answer)


@pytest.mark.parametrize("text", ["how do I turn on dark mode?", "what is Bluetooth?", "hello", "write me a poem"])
async def test_a_reply_to_what_asks_for_no_act_is_an_answer(rig: Rig, text: str) -> None:
    """Seen failing before: `succeeded`."""
    have, model = models([], intent=[chat("In Settings, under Display.")])
    end = await Work(rig.agent(have), order(text, quick=False)).ended()
    assert (end.outcome, end.summary) == (Outcome.ANSWERED, "In Settings, under Display.")
    assert not model.asked(Purpose.ACT)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("send hello to Bob in Messages", "Hello"),
        ("turn on dark mode for me", "..."),
        ("帮我打开深色模式", "好的，已打开。"),
    ],
)
async def test_chat_is_no_ending_of_what_asks_for_an_act(rig: Rig, text: str, answer: str) -> None:
    """Seen failing before: `succeeded`, and no phone was touched. The task runs."""
    have, model = models([GIVE_UP], intent=[chat(answer)])
    end = await Work(rig.agent(have), order(text, quick=False)).ended()
    assert end.outcome is Outcome.FAILED
    assert len(model.asked(Purpose.ACT)) == 1


@pytest.mark.parametrize("answer", ["...", "", " 👍 ", "?!"])
async def test_a_reply_without_words_is_none(rig: Rig, answer: str) -> None:
    """It is asked for once more; seen failing before: `succeeded`."""
    have, _ = models([], intent=[chat(answer), chat("Hello there.")])
    end = await Work(rig.agent(have), order("hello", quick=False)).ended()
    assert (end.outcome, end.summary) == (Outcome.ANSWERED, "Hello there.")


async def test_who_has_done_nothing_has_sent_nothing(rig: Rig) -> None:
    """A claim at the first step of what cannot be so already. Seen failing before: `succeeded`."""
    have, model = models([CLAIM, CLAIM])
    end = await Work(rig.agent(have), order("send hello to Alice in Messages")).ended()
    assert end.outcome is Outcome.FAILED
    assert "Nothing was done on the phone." in end.summary
    assert len(model.asked(Purpose.ACT)) == 2


async def test_what_is_so_already_needs_no_act(rig: Rig) -> None:
    have, _ = models([call("finish", status="success", summary="Dark mode was on already.")])
    end = await Work(rig.agent(have), order("turn on dark mode")).ended()
    assert end.outcome is Outcome.SUCCEEDED


async def test_a_summary_without_words_says_nothing(rig: Rig) -> None:
    have, _ = models([call("finish", status="success", summary="...")])
    end = await Work(rig.agent(have), order("look at the screen")).ended()
    assert (end.outcome, end.summary) == (Outcome.SUCCEEDED, "")


def types(message: str) -> Any:
    def typed(request: ModelRequest) -> ModelReply:
        assert request.scene is not None
        field = next(e.id for e in request.scene.screen.elements or () if "editable" in e.states)
        return call("type", element=field, text=message, clear=True)

    return typed


async def test_a_message_that_stands_in_its_field_was_not_sent(rig: Rig) -> None:
    """Seen failing before: `succeeded`, for the check agreed. The model is told first."""
    writing(rig, "Alice", "")
    have, model = models([types("hello"), CLAIM, CLAIM])
    end = await Work(rig.agent(have), order("tell Alice hello")).ended()
    assert end.outcome is Outcome.FAILED
    assert "“hello” was not sent" in end.summary
    assert "I sent" not in end.summary
    scene = model.asked(Purpose.ACT)[-1].scene
    assert scene is not None
    assert "was not sent" in " ".join(scene.notices)


async def test_a_draft_is_done_when_it_stands_there(rig: Rig) -> None:
    writing(rig, "Alice", "")
    have, _ = models([types("hello"), call("finish", status="success", summary="The draft is there.")])
    end = await Work(rig.agent(have), order("write hello to Alice, but don't send it")).ended()
    assert end.outcome is Outcome.SUCCEEDED


async def test_what_was_allowed_and_not_done_cannot_be_claimed(rig: Rig) -> None:
    """The screen is another one when the yes comes. Seen failing before: `succeeded`."""
    writing(rig, "Alice")
    have, _ = models([tap("Send"), CLAIM, CLAIM])
    work = Work(rig.agent(have), order("tell Alice that I'll be late"))
    await work.until(Asked)
    await rig.phone_key("HOME")
    await work.answer("allow")
    end = await work.ended()
    assert end.outcome is Outcome.FAILED
    assert f"Allowed, but not done: {TO_ALICE}." in end.summary
    assert "I sent" not in end.summary


async def test_what_the_policy_refuses_cannot_be_claimed(rig: Rig) -> None:
    """Seen failing before: `succeeded`."""
    rules = Policy.default().rules()
    closed = Policy({**rules, "refuse": {"packages": ["com.android.messaging"]}})
    have, _ = models([call("open_app", name="com.android.messaging"), CLAIM, CLAIM])
    end = await Work(rig.agent(have, policy=closed), order("open Messages")).ended()
    assert end.outcome is Outcome.FAILED
    assert "Not done, because it was refused" in end.summary
