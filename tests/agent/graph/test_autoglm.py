"""What only AutoGLM does, through the graph and over HTTP: notes of screens, summing up, choices, handing over."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from agent.events import Asked
from agent.models.base import Models
from agent.questions import QuestionKind
from agent.run import Outcome
from bot.texts import speaking
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.models.endpoints import model_at
from tests.fakes.model_server import Answer, ModelServer, Recorded


def said(call: str, thought: str = "I see the screen.") -> Answer:
    """An answer as these models give it."""
    return Answer(text=f"<think>{thought}</think><summary>next</summary><answer>{call}</answer>")


FINISH = said('finish(message="done")')


class Script:
    """The acting calls from a list; verification and summing up by what the request begins with."""

    def __init__(self, *acts: Answer | Callable[[str], Answer]) -> None:
        self._acts = list(acts)
        self.seen: list[str] = []
        self.summed: list[str] = []

    def __call__(self, request: Recorded) -> Answer:
        words = request.text
        if "You work with notes" in words:
            self.summed.append(words)
            return Answer(text="Notes is cheaper than Clock.")
        if "You check whether" in words:
            return Answer(text='{"proven": true, "reason": ""}')
        self.seen.append(words)
        act = self._acts.pop(0)
        return act(words) if callable(act) else act


@asynccontextmanager
async def models_of(script: Script) -> AsyncIterator[Models]:
    async with ModelServer(script) as server, model_at(server) as model:
        yield Models(model, model, model)


async def test_notes_of_the_screen_are_summed_up_and_kept_as_data(rig: Rig) -> None:
    script = Script(
        said('do(action="Note", message="True")', "Two apps are shown."),
        said('do(action="Call_API", instruction="Compare the apps")'),
        FINISH,
    )
    async with models_of(script) as models:
        end = await Work(rig.agent(models, dialect="autoglm"), order("which is cheaper?")).ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert end.data == "Notes is cheaper than Clock."
    assert "Two apps are shown." in script.seen[1]
    (summed,) = script.summed
    assert "Compare the apps" in summed
    assert "Messages | " in summed
    notes = script.seen[2].rpartition("<notes>")[2].partition("</notes>")[0]
    assert notes.strip().endswith("Notes is cheaper than Clock."), "it was read from screens, so it is data"
    assert rig.inputs() == []


async def test_interact_offers_choices(rig: Rig) -> None:
    script = Script(said('do(action="Interact", message="Which shop?", choices=["North","South"])'), FINISH)
    async with models_of(script) as models:
        work = Work(rig.agent(models, dialect="autoglm"), order("go shopping"))
        asked = await work.until(Asked)
        assert (asked.question.kind, asked.question.choices) == (QuestionKind.ASK, ("North", "South"))
        await work.answer("South")
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert "South" in script.seen[1]


PRIVATE = "The person seems confused, so I had better find out which of these two they could have meant at all."


async def test_interact_alone_asks_which_of_what_the_screen_lists(rig: Rig) -> None:
    """Seen failing with the thought as the question, and no choices."""
    rig.phone.windows.launch("settings")
    script = Script(said('do(action="Interact")', PRIVATE), FINISH)
    async with models_of(script) as models:
        work = Work(rig.agent(models, dialect="autoglm"), order("open the one I need"))
        asked = (await work.until(Asked)).question
        assert asked.text == "Several things fit. Which one do you mean?"
        assert {"Wi-Fi", "Bluetooth"} <= set(asked.choices)
        assert len(asked.choices) > 2
        assert [script.seen[0].index(f"'{choice}") for choice in asked.choices] == sorted(
            script.seen[0].index(f"'{choice}") for choice in asked.choices
        )
        await work.answer(asked.choices[1])
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert asked.choices[1] in script.seen[1]
    assert all(PRIVATE[:20] not in step.summary for step in work.steps)


async def test_a_hand_over_without_words_tells_no_thought(rig: Rig) -> None:
    """Seen failing with the thought as the reason, in the language of the model."""
    script = Script(said('do(action="Take_over")', PRIVATE), FINISH)
    with speaking("zh"):
        async with models_of(script) as models:
            work = Work(rig.agent(models, dialect="autoglm"), order("log in"))
            asked = (await work.until(Asked)).question
            assert asked.text == "请你在手机上完成下一步，然后按“完成”。"
            await work.answer("done")
            await work.ended()


async def test_a_noted_screen_tells_no_thought(rig: Rig) -> None:
    """Seen failing with the description of a note that quotes it. The model keeps it all the same."""
    script = Script(Answer(text=f'<think>{PRIVATE}</think><answer>do(action="Note", message="True")</answer>'), FINISH)
    async with models_of(script) as models:
        work = Work(rig.agent(models, dialect="autoglm"), order("which is cheaper?"))
        await work.ended()
    assert work.steps[0].summary == "note the screen"
    assert PRIVATE in script.seen[1]


async def test_take_over_hands_the_phone_to_a_person(rig: Rig) -> None:
    script = Script(
        said('do(action="Take_over", message="Please log in")'), said('do(action="Wait", duration="0 seconds")'), FINISH
    )
    async with models_of(script) as models:
        work = Work(rig.agent(models, dialect="autoglm"), order("log in"))
        asked = await work.until(Asked)
        assert (asked.question.kind, asked.question.text) == (QuestionKind.TAKE_OVER, "Please log in")
        await rig.phone_key("HOME")
        await work.answer("done")
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert "finished on the phone" in script.seen[1]


async def test_a_sensitive_tap_waits_for_a_person(rig: Rig) -> None:
    """Seen failing with `sensitive` left out of the tap in the dialect: Notes is then opened unasked."""
    script = Script(said('do(action="Tap", element=[500,500], message="Agree to the contract")'), FINISH)
    async with models_of(script) as models:
        work = Work(rig.agent(models, dialect="autoglm"), order("go on"))
        asked = await work.until(Asked)
        assert asked.question.kind is QuestionKind.APPROVE
        assert rig.inputs() == []
        await work.answer("deny")
        await work.ended()
    assert rig.inputs() == []
    assert "did not allow" in script.seen[1]


async def test_a_name_is_typed_into_the_field(rig: Rig) -> None:
    def tap_the_field(words: str) -> Answer:
        line = next(line for line in words.splitlines() if line.startswith("- ") and "editable" in line)
        x, y = re.findall(r"\d+", line)[-2:]
        return said(f'do(action="Tap", element=[{x},{y}])')

    script = Script(
        said('do(action="Launch", app="Browser")'), tap_the_field, said('do(action="Type_Name", text="张三")'), FINISH
    )
    async with models_of(script) as models:
        assert (await Work(rig.agent(models, dialect="autoglm"), order("x")).ended()).outcome is Outcome.SUCCEEDED
    assert "张三" in rig.phone.truth.fields.values()


async def test_what_was_left_out_of_an_answer_is_told_and_an_unreadable_end_is_no_success(rig: Rig) -> None:
    """Seen failing before: the imagined tap was done, and the end that says failure in odd quotes was a success."""
    script = Script(
        Answer(
            text='<summary>next</summary>\ndo(action="Home")\n<|im_start|>user\nok\ndo(action="Tap", element=[500,500])'
        ),
        Answer(text='<summary>next</summary>\nfinish(message=“Nothing was booked", status=“failure”)'),
        Answer(text='<summary>next</summary>\nI would say finish(message="booked"), but it is not.'),
        said('finish(message="Nothing was booked", status="failure")'),
    )
    async with models_of(script) as models:
        end = await Work(rig.agent(models, dialect="autoglm"), order("book a flight")).ended()
    assert (end.outcome, end.summary) == (Outcome.FAILED, "Nothing was booked")
    assert "imagined" in script.seen[1]
    assert "status of finish" in script.seen[2]
    assert "stands among other words" in script.seen[3]


async def test_half_a_sign_ends_nothing(rig: Rig) -> None:
    """Seen failing before: a note with half of an emoji was raised out of the agent, and with it the task ended."""
    calls = [
        '{"action": "note", "text": "\\ud83d"}',
        '{"action": "\\ud83d"}',
        '{"action": "answer", "text": "12 \\ud83d"}',
    ]
    script = Script(*(Answer(text=f'{{"name": "mobile_use", "arguments": {call}}}') for call in calls))
    async with models_of(script) as models:
        end = await Work(rig.agent(models, dialect="mobile-use"), order("what does it cost?")).ended()
    assert (end.outcome, end.data) == (Outcome.SUCCEEDED, "12 \ufffd")
