"""Codes and passwords on a virtual phone: who is asked for what, where it goes, and how long it stays covered."""

from __future__ import annotations

import json

import pytest

from agent.events import Asked
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.questions import Question, QuestionKind
from agent.run import Outcome
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import ScriptedModel, call, calls, models, text

pytestmark = pytest.mark.over_the_wire

FINISH = call("finish", status="success", summary="done")
GIVE_UP = call("finish", status="failure", summary="stopped")
WAIT = call("wait", seconds=0)


def field(request: ModelRequest) -> int:
    """The number of the first field on the screen."""
    assert request.scene is not None
    return next(e.id for e in request.scene.screen.elements or () if "editable" in e.states)


def told(request: ModelRequest) -> str:
    assert request.scene is not None
    return " ".join(request.scene.notices)


def types(words: str) -> object:
    return lambda r: call("type", element=field(r), text=words, submit=True)


def secret(question: str = "Code?", **more: object) -> object:
    return lambda r: call("enter_secret", question=question, element=field(r), **more)


def at_the_code(rig: Rig) -> None:
    rig.phone.windows.launch("account")
    rig.phone.windows.open("code", user="anna")
    rig.phone.windows.focus("code")


def in_a_message(rig: Rig) -> None:
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("thread", person="Alice")


async def next_question(work: Work, after: list[Question]) -> Question:
    """The next question that is asked; it is added to those that were."""
    ids = {question.id for question in after}
    after.append((await work.until(Asked, lambda event: event.question.id not in ids)).question)
    return after[-1]


async def kept(rig: Rig, work: Work, model: ScriptedModel) -> str:
    """All that is stored or leaves the process."""
    everything = [json.dumps(event.model_dump(mode="json")) for event in work.events]
    everything += [repr(entry) for entry in rig.journal.rows.values()]
    everything += [repr((request.messages, request.scene)) for request in model.requests]
    async for checkpoint in rig.saver.alist(None):
        everything.append(repr(checkpoint))
    return "\n".join(everything)


async def test_each_asking_is_a_question_of_its_own_and_a_step(rig: Rig) -> None:
    """Seen failing before: what a person gave in place of the model's text was no step, so the next question had the
    id of the first, and was answered with its answer for ever.
    """
    at_the_code(rig)
    have, model = models([types("999999")] * 9)
    work = Work(rig.agent(have), order("sign in", max_steps=3))
    asked: list[Question] = []
    for given in (rig.secrets.keep("111111"), "secret-that-is-gone", rig.secrets.keep("222222")):
        await next_question(work, asked)
        await work.answer(given)
    end = await work.ended()
    assert (end.outcome, end.steps) == (Outcome.FAILED, 3)
    assert "step" in end.summary
    assert len(model.asked(Purpose.ACT)) == 3
    assert [step.step for step in work.steps] == [1, 2, 3]
    assert rig.phone.truth.wrong_codes == 2


async def test_what_could_not_be_done_is_a_step_too(rig: Rig) -> None:
    """Seen failing before: a summing up that came to nothing left the number of the step where it was, without end."""
    have, model = models([call("sum_up", instruction="how much in all?")] * 5, summarize=[text("")] * 5)
    end = await Work(rig.agent(have), order("look", max_steps=2)).ended()
    assert (end.outcome, end.steps) == (Outcome.FAILED, 2)
    assert len(model.asked(Purpose.ACT)) == 2


async def test_an_answer_is_known_whatever_was_done_before_it_in_the_step(rig: Rig) -> None:
    """Seen failing before: the answer was looked for at the beginning of what came of the step, behind which it stood,
    so the person was asked for it once more.
    """
    at_the_code(rig)
    have, _ = models(
        [
            lambda r: calls(
                ("tap", {"element": field(r)}), ("ask_user", {"question": "What does the letter from the bank say?"})
            ),
            types("246810"),
            FINISH,
        ]
    )
    work = Work(rig.agent(have), order("sign in"))
    await work.until(Asked)
    await work.answer("It says 246810.")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert rig.phone.truth.signed_in == "anna"


@pytest.mark.parametrize(
    "task", ["sign in (246810)", "the code is 246810.", "sign in with [246810]!", "验证码是246810。", "code=246810"]
)
async def test_a_code_that_the_task_tells_is_not_asked_for(rig: Rig, task: str) -> None:
    """Seen failing before for all of these: only blanks, commas, colons and quotes ended a word of the task."""
    at_the_code(rig)
    have, _ = models([types("246810"), FINISH])
    work = Work(rig.agent(have), order(task))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert [event for event in work.events if isinstance(event, Asked)] == []
    assert rig.phone.truth.signed_in == "anna"


@pytest.mark.parametrize("task", ["order number 92468101", "sign in as user246810"])
async def test_a_part_of_a_word_was_not_told(rig: Rig, task: str) -> None:
    at_the_code(rig)
    have, _ = models([types("246810"), GIVE_UP])
    work = Work(rig.agent(have), order(task))
    assert (await work.until(Asked)).question.kind is QuestionKind.SECRET
    await work.answer(rig.secrets.keep("246810"))
    await work.ended()


async def test_a_secret_of_one_task_is_covered_in_the_next(rig: Rig) -> None:
    """Seen failing before: the mask ended with the run, and the next task's model read the code."""
    at_the_code(rig)

    def shown(_: ModelRequest) -> ModelReply:
        rig.phone.pop_up("Your password is hunter22", "Remember it")
        return WAIT

    have, model = models([secret(), FINISH, shown, WAIT, GIVE_UP])
    agent = rig.agent(have)
    first = Work(agent, order("sign in"))
    await first.until(Asked)
    await first.answer(rig.secrets.keep("hunter22"))
    await first.ended()
    second = Work(agent, order("look around", task="8"))
    await second.ended()
    seen = await kept(rig, second, model)
    assert "Your password is" in seen
    assert "hunter22" not in seen


async def test_a_short_one_is_covered_in_the_next_task_where_it_was_typed(rig: Rig) -> None:
    """Seen failing before: the mask ended with the run, and the next task's model read the PIN in its field."""
    at_the_code(rig)
    rig.phone.windows.state.sign_in_code = "7391"

    def elsewhere(_: ModelRequest) -> ModelReply:
        in_a_message(rig)
        rig.phone.windows.page.fields["compose_message_text"] = "See you in 7391"
        rig.phone.changed()
        return WAIT

    have, model = models([secret(), FINISH, WAIT, elsewhere, WAIT, GIVE_UP])
    agent = rig.agent(have)
    first = Work(agent, order("sign in"))
    await first.until(Asked)
    await first.answer(rig.secrets.keep("7391"))
    await first.ended()
    assert rig.phone.windows.value("code") == "7391"
    second = Work(agent, order("look around", task="8"))
    await second.ended()
    scenes = [repr(request.scene) for request in model.asked(Purpose.ACT)[-4:]]
    assert "7391" not in scenes[0] + scenes[1]
    assert "See you in 7391" in scenes[-1]


async def test_a_secret_for_a_field_that_is_for_none_needs_a_yes_to_app_and_field(rig: Rig) -> None:
    """Seen failing before: the person read the model's "bank PIN", and what they gave stood in a message to Alice."""
    in_a_message(rig)
    have, model = models([secret("The PIN of your bank, please"), GIVE_UP])
    work = Work(rig.agent(have), order("look at my account"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert "Messages" in question.text + question.detail
    assert "com.android.messaging" in question.text + question.detail
    assert "'compose message text'" in question.text
    assert "bank" not in question.text
    await work.answer("deny")
    await work.ended()
    assert len([event for event in work.events if isinstance(event, Asked)]) == 1
    assert rig.inputs() == []
    assert "did not allow" in told(model.asked(Purpose.ACT)[-1])


async def test_after_the_yes_the_secret_is_asked_for_and_typed(rig: Rig) -> None:
    """Seen failing before: nobody was asked whether this field may have it."""
    in_a_message(rig)
    have, model = models([secret("The door code"), GIVE_UP])
    work = Work(rig.agent(have), order("write Alice the door code"))
    asked: list[Question] = []
    assert (await next_question(work, asked)).kind is QuestionKind.APPROVE
    await work.answer("allow")
    question = await next_question(work, asked)
    assert question.kind is QuestionKind.SECRET
    assert "Messages" in question.text
    assert "(compose message text)" in question.text
    await work.answer(rig.secrets.keep("7391846"))
    await work.ended()
    assert rig.phone.windows.value("compose_message_text") == "7391846"
    assert "7391846" not in await kept(rig, work, model)
    assert len(work.steps) == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028"], ids=repr)
async def test_a_line_end_of_a_secret_presses_no_key(rig: Rig, end: str) -> None:
    """Seen failing with the secret typed as it was given: its line end pressed Enter, which nobody had allowed."""
    in_a_message(rig)
    have, _ = models([secret("The door code"), GIVE_UP])
    work = Work(rig.agent(have), order("write Alice the door code"))
    asked: list[Question] = []
    await next_question(work, asked)
    await work.answer("allow")
    await next_question(work, asked)
    await work.answer(rig.secrets.keep(f"7391846{end}"))
    await work.ended()
    assert rig.phone.windows.value("compose_message_text") == "7391846"
    assert not [entry for entry in rig.phone.journal.named("input") if "KEYCODE_ENTER" in entry.argv]


@pytest.mark.parametrize("between", ["\n", "\t", "\r", "\x85"], ids=repr)
async def test_a_secret_of_several_lines_is_not_typed(rig: Rig, between: str) -> None:
    """Seen failing with the secret typed as it was given: the key within it was pressed."""
    in_a_message(rig)
    have, model = models([secret("The door code"), GIVE_UP])
    work = Work(rig.agent(have), order("write Alice the door code"))
    asked: list[Question] = []
    await next_question(work, asked)
    await work.answer("allow")
    await next_question(work, asked)
    await work.answer(rig.secrets.keep(f"gate{between}swordfish"))
    await work.ended()
    assert rig.phone.windows.value("compose_message_text") == ""
    assert "one line" in str(model.asked(Purpose.ACT)[-1].scene)
    assert "swordfish" not in await kept(rig, work, model)


async def test_a_secret_that_was_allowed_for_one_person_goes_to_no_other(rig: Rig) -> None:
    """The same field of another conversation. Seen failing with the anchor of the secret's question unbound."""
    in_a_message(rig)
    have, model = models([secret("The door code"), GIVE_UP])
    work = Work(rig.agent(have), order("write Alice the door code"))
    asked: list[Question] = []
    await next_question(work, asked)
    await work.answer("allow")
    assert (await next_question(work, asked)).kind is QuestionKind.SECRET
    rig.phone.windows.open("thread", person="Mallory")
    await work.answer(rig.secrets.keep("7391846"))
    await work.ended()
    assert rig.phone.windows.value("compose_message_text") == ""
    assert "7391846" not in await kept(rig, work, model)


async def test_the_question_names_app_and_field_and_quotes_the_model(rig: Rig) -> None:
    """Seen failing before: the question was in the words of the model alone."""
    at_the_code(rig)
    have, _ = models([secret("The PIN of your bank"), GIVE_UP])
    work = Work(rig.agent(have), order("sign in"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.SECRET
    assert "Account (org.example.account)" in question.text
    assert "(code)" in question.text
    assert "bank" not in question.text
    assert "The PIN of your bank" in question.detail
    await work.answer(rig.secrets.keep("246810"))
    await work.ended()


async def test_without_a_field_nobody_is_asked_for_a_secret(rig: Rig) -> None:
    """Seen failing before: it was asked for, and typed into whatever would take it."""
    have, model = models([call("enter_secret", question="Your PIN?"), GIVE_UP])
    work = Work(rig.agent(have), order("look"))
    await work.ended()
    assert [event for event in work.events if isinstance(event, Asked)] == []
    assert "Name the field" in told(model.asked(Purpose.ACT)[-1])


@pytest.mark.parametrize("words", ["What is your password?", "Please tell me the PIN", "请告诉我验证码"])
async def test_a_question_for_a_secret_is_a_secret_question(rig: Rig, words: str) -> None:
    """Seen failing before: it was an ordinary question, whose answer was kept and told to the model."""
    at_the_code(rig)
    have, model = models([call("ask_user", question=words), GIVE_UP])
    work = Work(rig.agent(have), order("sign in"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.SECRET
    assert "Account (org.example.account)" in question.text
    await work.answer(rig.secrets.keep("135791"))
    await work.ended()
    assert rig.phone.windows.value("code") == "135791"
    assert "135791" not in await kept(rig, work, model)
    assert "typed into" in told(model.asked(Purpose.ACT)[-1])


async def test_a_secret_that_is_asked_for_before_there_is_a_field_waits_for_one(rig: Rig) -> None:
    """Seen failing before: it was an ordinary question, whose answer was kept and told to the model."""

    def to_the_code(_: ModelRequest) -> ModelReply:
        at_the_code(rig)
        return WAIT

    have, model = models(
        [call("ask_user", question="Which password do you use?"), to_the_code, secret(submit=True), FINISH]
    )
    work = Work(rig.agent(have), order("sign in"))
    asked: list[Question] = []
    assert (await next_question(work, asked)).kind is QuestionKind.SECRET
    await work.answer(rig.secrets.keep("246810"))
    question = await next_question(work, asked)
    assert question.kind is QuestionKind.APPROVE
    assert "'code'" in question.text
    assert "Account (org.example.account)" in question.text + question.detail
    await work.answer("allow")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert rig.phone.truth.signed_in == "anna"
    assert "246810" not in await kept(rig, work, model)


async def test_an_ordinary_question_stays_one(rig: Rig) -> None:
    have, _ = models([call("ask_user", question="Which zip code, and which colour?"), GIVE_UP])
    work = Work(rig.agent(have), order("order a mug"))
    assert (await work.until(Asked)).question.kind is QuestionKind.ASK
    await work.answer("10115, blue")
    await work.ended()


async def test_where_a_secret_could_be_told_only_the_choices_are_answers(rig: Rig) -> None:
    """Seen failing before: any answer was taken, kept, and told to the model."""
    choices = ["resend", "stop"]
    have, model = models([call("ask_user", question="No code has come. What now?", choices=choices), GIVE_UP])
    work = Work(rig.agent(have), order("sign in"))
    question = (await work.until(Asked)).question
    assert (question.kind, question.choices, question.strict) == (QuestionKind.ASK, ("resend", "stop"), True)
    await work.answer("resend")
    await work.ended()
    assert "resend" in told(model.asked(Purpose.ACT)[-1])


async def test_a_code_that_is_wanted_again_says_so_with_what_the_phone_says(rig: Rig) -> None:
    """Seen failing before: the second question read as the first one. The fact is that the same field got one."""
    at_the_code(rig)
    have, _ = models([secret(submit=True), secret(submit=True), FINISH])
    work = Work(rig.agent(have), order("sign in"))
    asked: list[Question] = []
    for given in ("111111", "246810"):
        await next_question(work, asked)
        await work.answer(rig.secrets.keep(given))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    first, second = asked
    assert (first.again, second.again) == (False, True)
    assert "again" not in first.text
    assert second.text.startswith("Account (org.example.account) wants a password or code again (")
    assert second.detail.startswith("The phone says: Wrong code. Try again.")
    assert rig.phone.truth.wrong_codes == 1
