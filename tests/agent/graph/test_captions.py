"""The words of a step, where the model that acts has said none."""

from __future__ import annotations

import pytest

from agent.models.base import ModelReply, Purpose, Usage
from agent.models.errors import ModelUnreachable
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import HANG, call, models, tap

THOUGHT = "I think the person wants dark mode, so first I have to open the settings and then look for it"

FINISH = call("finish", status="success", summary="done")
OPEN = call("open_app", name="Settings")


def caption(text: str) -> ModelReply:
    return ModelReply(text, usage=Usage(input=90, output=9, calls=1))


async def test_the_caption_is_asked_for_with_goal_past_and_action(rig: Rig) -> None:
    have, model = models([OPEN, tap("Bluetooth"), FINISH], caption=[caption("Opening Settings"), caption("Switching")])
    work = Work(rig.agent(have), order("switch Bluetooth"))
    end = await work.ended()
    assert [step.summary for step in work.steps[:2]] == ["Opening Settings", "Switching"]
    first, second = ("\n".join(map(str, request.messages[-1].parts)) for request in model.asked(Purpose.CAPTION))
    assert first.startswith("Goal: switch Bluetooth\nLast steps:\n(none)\nNow, in ")
    assert first.endswith(": open 'Settings'")
    assert "open 'Settings' → app is now com.android.settings" in second
    assert "tap " in second.rpartition("Now, in Settings: ")[2]
    assert "Bluetooth" in second.rpartition("Now, in Settings: ")[2]
    assert end.usage.calls == 3 + 2 + 1, "acting, captions, and whether it is proven"


async def test_without_a_caption_the_card_says_what_was_done(rig: Rig) -> None:
    have, _ = models([OPEN, tap("Bluetooth"), FINISH], caption=[ModelUnreachable("away"), HANG])
    work = Work(rig.agent(have), order("switch Bluetooth"))
    await work.ended()
    assert work.steps[0].summary.startswith("open ")
    assert "Bluetooth" in work.steps[1].summary


async def test_words_of_the_model_are_asked_for_no_second_time(rig: Rig) -> None:
    have, model = models([call("open_app", name="Settings", say="Opening the settings"), FINISH])
    await Work(rig.agent(have), order("open the settings")).ended()
    assert not model.asked(Purpose.CAPTION)


@pytest.mark.parametrize(
    ("reply", "caption"),
    [
        (ModelReply(f"Thought: {THOUGHT}", OPEN.tool_calls), "open 'Settings'"),
        (ModelReply(THOUGHT, OPEN.tool_calls), "open 'Settings'"),
        (ModelReply("", OPEN.tool_calls, reasoning=THOUGHT), "open 'Settings'"),
        (ModelReply("Opening the settings", OPEN.tool_calls), "Opening the settings"),
        (call("open_app", name="Settings", say=THOUGHT), "open 'Settings'"),
        (call("open_app", name="Settings", say="Opening the settings. " + THOUGHT), "Opening the settings."),
        (
            call("open_app", name="Settings", say="用户想要打开深色模式，因此我需要先进入设置应用再查找"),
            "open 'Settings'",
        ),
        (call("open_app", name="Settings", say="打开设置"), "打开设置"),
    ],
)
async def test_a_caption_is_a_phrase_or_what_was_done(rig: Rig, reply: ModelReply, caption: str) -> None:
    """Seen failing with the first ten words of whatever the model wrote."""
    have, _ = models([reply, FINISH])
    work = Work(rig.agent(have), order("dark mode"))
    await work.ended()
    assert work.steps[0].summary == caption
