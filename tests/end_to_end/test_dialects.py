"""Every dialect does the same task on the virtual phone; the model is scripted, its OpenAI-compatible endpoint real.

The agent is in this process, so that a dozen tasks take seconds; one goes through `opengui do`.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from agent.dialects.select import dialect_for, image_size_for
from agent.events import TaskEnded
from agent.models.base import Models
from agent.models.connection import RetryPolicy
from agent.models.endpoint import EndpointSettings
from agent.models.openai_model import OpenAIModel
from agent.run import Outcome
from devices.geometry import Size
from devices.virtual_phone.ground_truth import SavedNote
from devices.virtual_phone.phone import DEFAULT_SIZE
from tests.agent.graph.rig import Rig, Work, order, rig_on
from tests.end_to_end.brain import Act, brain, call, find, tap
from tests.end_to_end.service import Place
from tests.fakes.model_server import DEEPSEEK, OPENAI, Answer, ModelServer, Personality, Recorded, rate_limited, refused
from tests.fixtures.adb import AdbServer

KEY = "key-of-the-test"
TASK = "write a note that says Milk"


@pytest.fixture
async def rig(adb_server: AdbServer) -> AsyncIterator[Rig]:
    async with rig_on(adb_server) as made:
        yield made


def at(label: str, form: str) -> Act:
    """Touches the place that the list gives for this label, written in this form."""

    def act(request: Recorded) -> Answer:
        line = find(request, label)
        return Answer(text=form.replace("X", line.x).replace("Y", line.y))

    return act


def say(text: str) -> Act:
    return lambda _: Answer(text=text)


def ui_tars(action: str) -> str:
    return f"Thought: the next thing\nSummary: Going on\nAction: {action}"


def autoglm(action: str) -> str:
    return f"<think>the next thing</think><answer>{action}</answer>"


def mobile_use(**arguments: object) -> str:
    return f"The next thing.\n<tool_call>\n{json.dumps({'name': 'mobile_use', 'arguments': arguments})}\n</tool_call>"


def gelab(action: str) -> str:
    return f"<THINK> the next thing </THINK>\nexplain:Going on\taction:{action}\tsummary:one more step"


UI_TARS_POINT = ui_tars("click(point='<point>X Y</point>')")
UI_TARS_BOX = ui_tars("click(start_box='(X,Y)')")
AUTOGLM_TAP = autoglm('do(action="Tap", element=[X,Y])')
GELAB_CLICK = gelab("CLICK\tpoint:X,Y")
MOBILE_USE_CLICK = mobile_use(action="click", coordinate="PLACE").replace('"PLACE"', "[X, Y]")


def ui_tars_acts(click: str) -> Sequence[Act]:
    return (
        say(ui_tars("open_app(app_name='Notes')")),
        at("New note", click),
        say(ui_tars("type(content='Milk')")),
        at("Save", click),
        say(ui_tars("finished(content='It is done.')")),
    )


ACTS: dict[str, Sequence[Act]] = {
    "tools": (
        call("open_app", name="Notes"),
        tap("New note"),
        call("type", text="Milk"),
        tap("Save"),
        call("finish", status="success", summary="It is done."),
    ),
    "ui-tars": ui_tars_acts(UI_TARS_POINT),
    "ui-tars-1.5": ui_tars_acts(UI_TARS_BOX),
    "autoglm": (
        say(autoglm('do(action="Launch", app="Notes")')),
        at("New note", AUTOGLM_TAP),
        say(autoglm('do(action="Type", text="Milk")')),
        at("Save", AUTOGLM_TAP),
        say(autoglm('finish(message="It is done.")')),
    ),
    "mobile-use": (
        say(mobile_use(action="open", text="Notes")),
        at("New note", MOBILE_USE_CLICK),
        say(mobile_use(action="type", text="Milk")),
        at("Save", MOBILE_USE_CLICK),
        say(mobile_use(action="terminate", status="success").replace("The next thing.", "It is done.")),
    ),
    "mai-ui": (
        say(mobile_use(action="open", text="Notes")),
        at("New note", MOBILE_USE_CLICK),
        say(mobile_use(action="type", text="Milk")),
        at("Save", MOBILE_USE_CLICK),
        say(mobile_use(action="answer", text="It is done.").replace("The next thing.", "<thinking>\nt\n</thinking>")),
    ),
    "gelab": (
        say(gelab("AWAKE\tvalue:Notes")),
        at("New note", GELAB_CLICK),
        say(gelab("TYPE\tvalue:Milk")),
        at("Save", GELAB_CLICK),
        say(gelab("COMPLETE\treturn:It is done.")),
    ),
}
BY_MODEL = {
    "gpt-like": "tools",
    "UI-TARS-7B": "ui-tars",
    "UI-TARS-1.5-7B": "ui-tars-1.5",
    "autoglm-phone-9b": "autoglm",
    "Qwen3-VL-8B": "mobile-use",
    "MAI-UI-8B": "mai-ui",
    "GELab-Zero-4B-preview": "gelab",
}


@asynccontextmanager
async def asked(
    script: Callable[[Recorded], Answer], model: str = "gpt-like", personality: Personality = OPENAI, key: str = KEY
) -> AsyncIterator[tuple[Models, ModelServer]]:
    """The models of an agent, all at one scripted endpoint that checks its key."""
    async with ModelServer(script, key=KEY, personality=personality) as server:
        settings = EndpointSettings(model, server.base_url, SecretStr(key))
        client = OpenAIModel(settings, retry=RetryPolicy(first=0.01))
        try:
            yield Models(client, client, client), server
        finally:
            await client.close()


async def done(rig: Rig, models: Models, dialect: str = "tools") -> TaskEnded:
    return await Work(rig.agent(models, dialect=dialect), order(TASK)).ended()


def shown(server: ModelServer) -> list[Recorded]:
    """The requests for a step: they are those with a screenshot."""
    return [request for request in server.requests if "Step " in request.text and request.images]


def declared(request: Recorded) -> Size:
    found = re.search(r"screenshot is (\d+) pixels wide and (\d+) pixels high", request.text)
    assert found
    return Size(int(found[1]), int(found[2]))


@pytest.mark.parametrize("model", BY_MODEL)
async def test_each_dialect_does_the_same_task(rig: Rig, model: str) -> None:
    dialect = dialect_for("auto", model).name
    assert dialect == BY_MODEL[model]
    before = rig.phone.truth.notes
    async with asked(brain(*ACTS[dialect]), model) as (models, server):
        end = await done(rig, models, dialect)
    assert (end.outcome, end.summary) == (Outcome.SUCCEEDED, "It is done.")
    assert rig.phone.truth.notes == (*before, SavedNote("Milk", ""))
    assert end.steps - len(ACTS[dialect]) in {0, 1}, (
        "its very first picture may come before its list, and is waited for"
    )
    assert end.usage.input > 0
    size = image_size_for(model, DEFAULT_SIZE)
    steps = shown(server)
    assert len(steps) >= len(ACTS[dialect])
    for request in steps:
        assert declared(request) == size
        assert {image.size for image in request.images} == {size}
    assert all(bool(request.body.get("tools")) == (dialect == "tools") for request in steps[:-1])


GARBAGE: dict[str, Sequence[str]] = {
    "tools": ("I am done, all is well!", '{"name": "finish"', "tap(3)"),
    "ui-tars": ("It is finished.", "Action: finish(", "Thought: done\nAction: celebrate()"),
    "autoglm": ("<answer>done</answer>", 'do(action="Dance")', "finish"),
    "mobile-use": ("success", "<tool_call>{</tool_call>", mobile_use(action="celebrate")),
}


@pytest.mark.parametrize("dialect", GARBAGE)
async def test_garbage_is_told_to_the_model_and_three_in_a_row_fail(rig: Rig, dialect: str) -> None:
    """Seen failing with BAD_REPLIES at 4: the task then ends as the finish that comes after it says."""
    async with asked(brain(*map(say, GARBAGE[dialect]), ACTS[dialect][-1])) as (models, server):
        end = await done(rig, models, dialect)
    assert end.outcome is Outcome.FAILED
    assert "3 answers in a row" in end.summary
    first, second, third = shown(server)
    assert "could not be used" not in first.text
    assert "could not be used and nothing was done" in second.text
    assert "could not be used and nothing was done" in third.text
    assert rig.inputs() == []


async def test_a_good_answer_after_garbage_counts(rig: Rig) -> None:
    acts = [say("nonsense"), say("nonsense"), ACTS["tools"][0], say("nonsense"), say("nonsense"), ACTS["tools"][-1]]
    async with asked(brain(*acts)) as (models, _):
        assert (await done(rig, models)).outcome is Outcome.SUCCEEDED


async def test_a_busy_and_a_broken_endpoint_are_survived(rig: Rig) -> None:
    """429 with Retry-After, 500, an answer cut in its middle and one that is not the API: no action is done twice."""
    faults = iter(
        [
            rate_limited("0"),
            refused(500, "Internal error."),
            None,
            Answer(text="cut off here, in the middle of a sentence", cut_after=1),
            Answer(garbage=True),
            None,
            refused(503, "Overloaded."),
        ]
    )
    think = brain(*ACTS["tools"])

    def script(request: Recorded) -> Answer:
        return next(faults, None) or think(request)

    before = len(rig.phone.truth.notes)
    async with asked(script) as (models, server):
        end = await done(rig, models)
    assert (end.outcome, end.steps in {5, 6}) == (Outcome.SUCCEEDED, True), "a wait where the first picture has no list"
    assert len(rig.phone.truth.notes) == before + 1
    assert [request.status for request in server.requests[:3]] == [429, 500, 200]


async def test_a_wrong_key_blocks_and_says_what_to_set(rig: Rig) -> None:
    async with asked(brain(*ACTS["tools"]), key="another-key") as (models, server):
        end = await done(rig, models)
    assert end.outcome is Outcome.BLOCKED
    assert "rejected the API key" in end.summary
    assert "VLM_API_KEY" in end.summary
    assert "another-key" not in end.summary
    assert len(server.requests) == 1


async def test_a_missing_key_blocks_and_says_so(rig: Rig) -> None:
    async with asked(brain(*ACTS["tools"]), key="") as (models, _):
        end = await done(rig, models)
    assert end.outcome is Outcome.BLOCKED
    assert "asks for an API key, and none is set" in end.summary


async def test_a_model_without_eyes_does_it_by_the_list(rig: Rig) -> None:
    async with asked(brain(*ACTS["tools"]), "blind-model", DEEPSEEK) as (models, server):
        end = await done(rig, models)
    assert end.outcome is Outcome.SUCCEEDED
    assert sum(len(request.images) for request in server.requests) == 1


async def test_a_dialect_through_the_command_line(place: Place) -> None:
    async with ModelServer(brain(*ACTS["autoglm"]), key=KEY) as server:
        settings = {"VLM_BASE_URL": server.base_url, "VLM_MODEL": "autoglm-phone-9b", "VLM_API_KEY": KEY}
        code, out, err = await place.opengui("do", "--json", TASK, **settings)
    assert code == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines[-1]["outcome"] == "succeeded"
    assert place.phone.truth.notes[-1] == SavedNote("Milk", "")
    assert KEY not in out + err
