"""Endings that claim what code knows was not done: denied, refused, not done, uncertain, or still in a field."""

from __future__ import annotations

from typing import Any

import pytest

from agent.events import Asked, Planned
from agent.guards.policy import Policy
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.outcome import Outcome
from devices.errors import PhoneError
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
