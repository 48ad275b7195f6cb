"""Denied is denied: the same is not asked again in a run, and who tries it all the same is stopped."""

from __future__ import annotations

from agent.effect_facts import DeniedBefore, NotAllowed
from agent.events import Asked
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.run import Outcome
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, data, models, tap, text

GIVE_UP = call("finish", status="failure", summary="stopped")
NOT_SENT = "Not done, because a person did not allow it: Send “I'll be late” to Alice in Messages"
KEYS = "/sdcard/Download/keys.txt"


def told(request: ModelRequest) -> str:
    assert request.scene is not None
    return " ".join(request.scene.notices)


def asked(work: Work) -> list[Asked]:
    return [event for event in work.events if isinstance(event, Asked)]


def writing(rig: Rig, person: str, message: str = "I'll be late") -> None:
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("thread", person=person)
    rig.phone.windows.page.fields["compose_message_text"] = message


async def test_the_same_is_not_asked_again_and_the_third_try_ends_the_task(rig: Rig) -> None:
    """Seen failing before: the same *Send* was asked as often as the model tried it."""
    writing(rig, "Alice")
    sent = rig.phone.truth.messages
    have, model = models([tap("Send")] * 8)
    work = Work(rig.agent(have), order("tell Alice"))
    await work.until(Asked)
    await work.answer("deny")
    end = await work.ended()
    assert len(asked(work)) == 1
    assert len(model.asked(Purpose.ACT)) == 3
    assert "denied" in told(model.asked(Purpose.ACT)[2])
    facts = [effect for step in work.steps for effect in step.effect]
    assert [each.tries for each in facts if isinstance(each, DeniedBefore)] == [2, 3]
    assert end.outcome is Outcome.BLOCKED
    assert "'Send'" in end.summary
    assert "not allow" in end.summary
    assert rig.phone.truth.messages == sent


async def test_another_recipient_is_asked_as_ever(rig: Rig) -> None:
    writing(rig, "Alice")

    def to_bob(_: ModelRequest) -> ModelReply:
        writing(rig, "Bob")
        return call("wait", seconds=0)

    have, _ = models([tap("Send"), to_bob, tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), order("tell them"))
    first = await work.until(Asked)
    await work.answer("deny")
    second = await work.until(Asked, lambda each: each.question.id != first.question.id)
    assert "Bob" in second.question.detail
    await work.answer("allow")
    await work.ended()
    assert [each.to for each in rig.phone.truth.messages if each.text == "I'll be late"] == ["Bob"]


async def test_another_way_to_touch_it_is_no_other_thing(rig: Rig) -> None:
    """Seen failing with the kind of the touch in the consequence."""
    writing(rig, "Alice")
    have, model = models([tap("Send"), lambda r: call("long_press", element=_send(r)), GIVE_UP])
    work = Work(rig.agent(have), order("tell Alice"))
    await work.until(Asked)
    await work.answer("deny")
    assert (await work.ended()).outcome is Outcome.DECLINED
    assert len(asked(work)) == 1
    assert "denied" in told(model.asked(Purpose.ACT)[2])


async def test_the_next_part_of_the_task_does_not_ask_again_either(rig: Rig) -> None:
    """Seen failing with `denied` begun anew in `executor_entry`."""
    writing(rig, "Alice")
    have, _ = models(
        [tap("Send"), GIVE_UP, tap("Send"), tap("Send"), tap("Send")],
        intent=[data(kind="complex")],
        plan=[text("the plan")],
        supervise=[data(decision="continue", remaining=["a", "b"], next=next_) for next_ in ("a", "b")],
        summarize=[text("Not done.")],
    )
    work = Work(rig.agent(have), order("tell Alice, then tell her again", quick=False))
    await work.until(Asked)
    await work.answer("deny")
    end = await work.ended()
    assert len(asked(work)) == 1
    assert end.outcome is Outcome.BLOCKED


async def test_a_file_that_was_denied_is_not_asked_for_again(rig: Rig) -> None:
    """Seen failing before: a person was asked for the same file at each try."""
    rig.phone.files.write(KEYS, b"secret")
    have, model = models([call("send_file", path=KEYS)] * 4)
    work = Work(rig.agent(have), order("look at the notes"))
    await work.until(Asked)
    await work.answer("deny")
    end = await work.ended()
    assert len(asked(work)) == 1
    assert len(model.asked(Purpose.ACT)) == 3
    assert end.outcome is Outcome.BLOCKED


def _send(request: ModelRequest) -> int:
    assert request.scene is not None
    return next(e.id for e in request.scene.screen.elements or () if e.text == "Send")


def types(message: str) -> object:
    return lambda r: call("type", element=_field(r), text=message, clear=True)


def _field(request: ModelRequest) -> int:
    assert request.scene is not None
    return next(e.id for e in request.scene.screen.elements or () if "editable" in e.states)


async def test_a_text_that_was_not_sent_and_still_stands_there_is_told(rig: Rig) -> None:
    """Seen failing before: the end knew only the words of the model, and the step read as done."""
    writing(rig, "Alice", "")
    have, _ = models([types("I'll be late"), tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), order("tell Alice"))
    await work.until(Asked)
    await work.answer("deny")
    end = await work.ended()
    assert end.summary.splitlines() == [
        f"{NOT_SENT}.",
        "stopped “I'll be late” was not sent; it is still in the text box of Messages.",
    ]
    denied = [fact for step in work.steps for fact in step.effect if isinstance(fact, NotAllowed)]
    assert denied == [NotAllowed(consequence="send", text="I'll be late")]
    assert [step.step for step in work.steps if any(isinstance(fact, NotAllowed) for fact in step.effect)] == [2]


async def test_only_what_the_task_typed_and_what_stands_there_is_told(rig: Rig) -> None:
    """A text that stood there before is the person's own; one that was taken out again stands nowhere."""
    writing(rig, "Alice", "a draft of mine")
    have, _ = models([tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), order("tell Alice"))
    await work.until(Asked)
    await work.answer("deny")
    assert (await work.ended()).summary.splitlines()[1:] == ["stopped"]
    writing(rig, "Bob", "")
    have, _ = models([types("hello"), tap("Send"), types("bye"), GIVE_UP])
    work = Work(rig.agent(have), order("tell Bob", task="2"))
    await work.until(Asked)
    await work.answer("deny")
    assert (await work.ended()).summary.splitlines()[1:] == ["stopped"]
