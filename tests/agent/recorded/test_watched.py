"""How the result of a run becomes a value: by code where the screen showed it, by a model where somebody put it in
words, and never by guessing.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent.models.base import Models, Purpose
from agent.offline.pilot import OfflinePilot
from agent.run import Outcome
from agent.task_results import JsonSchema, NumberValue, ResultSchema, TextValue, Value
from tests.agent.graph.rig import Work, direct_rig, order
from tests.agent.recorded.stage import BY_NAME, Reader, Stage, library_of
from tests.fakes.scripted_model import call, data, models

pytestmark = pytest.mark.slow

DOCUMENT = JsonSchema(document={"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]})
FITS = '{"price": 9.5}'
PRICE = ResultSchema(name="price", type="number", unit="$")
STATUS = ResultSchema(name="status", type="text")


def price(text: str) -> NumberValue:
    return NumberValue(number=Decimal(text), unit="$")


async def test_a_recorded_skill_reads_another_price_without_a_call() -> None:
    """A watch that sees no change costs nothing. Seen failing where who reads the request was asked all the same."""
    played = BY_NAME["price"]
    skill, _ = await Stage().recorded(played)
    library, reader = library_of("price", skill), Reader()
    async with direct_rig() as rig:
        rig.phone.state.prices["Desk lamp"] = 450
        wanted = order(skill.asked(played.first), quick=False).model_copy(
            update={"skill": "price", "arguments": dict(played.first), "result": PRICE}
        )
        agent = rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library})
        end = await Work(agent, wanted).ended()
    assert (end.outcome, end.value) == (Outcome.SUCCEEDED, price("4.50"))
    assert reader.asked == []
    assert end.usage.tokens == 0


async def test_the_pilot_reads_it_by_code() -> None:
    pilot = OfflinePilot()
    async with direct_rig() as rig:
        wanted = order("Open Shop, tap Blue mug, read the price").model_copy(update={"result": PRICE})
        end = await Work(rig.agent(Models(pilot, pilot, pilot)), wanted).ended()
    assert end.value == price("9.50")


@pytest.mark.parametrize(
    ("schema", "finish", "answers", "value", "calls"),
    [
        (PRICE, {"data": "$9.50"}, [], price("9.50"), 0),
        (PRICE, {"data": "It is $9.50 now, and was $12."}, [data(found=True, value="$9.50")], price("9.50"), 1),
        (PRICE, {}, [data(found=True, value="9.50 €"), data(found=True, value="$9.50")], price("9.50"), 2),
        (PRICE, {}, [data(found=True, value="cheap"), data(found=True, value="very")], None, 2),
        (PRICE, {}, [data(found=False)], None, 1),
        (PRICE, {"status": "failure", "data": "$9.50"}, [], None, 0),
        (STATUS, {"data": "The parcel was sent."}, [data(found=True, value="sent")], TextValue(text="sent"), 1),
        (STATUS, {"data": "Shop"}, [], TextValue(text="Shop"), 0),
    ],
)
async def test_what_a_model_says_is_read_by_code_and_a_bad_answer_told_once(
    schema: ResultSchema, finish: dict[str, Any], answers: list[Any], value: Value | None, calls: int
) -> None:
    """ "Shop" is a label of the last screen; no other text is taken from a model that was free to word it."""
    end_with = call("finish", **{"status": "success", "summary": "Looked.", **finish})
    have, model = models([call("open_app", name="Shop"), end_with], summarize=list(answers))
    async with direct_rig(wire=True) as rig:
        wanted = order("Look at the price of the mug").model_copy(update={"result": schema})
        end = await Work(rig.agent(have), wanted).ended()
    assert end.value == value
    asked = model.asked(Purpose.SUMMARIZE)
    assert len(asked) == calls
    if calls == 2:
        assert "One number in $ is needed" in str(asked[1].messages[-1].parts)
    assert "A program compares the result." in str(model.asked(Purpose.ACT)[0].messages)


@pytest.mark.parametrize(
    ("finish", "answers", "outcome", "found", "calls"),
    [
        ({"data": FITS}, [], Outcome.SUCCEEDED, FITS, 0),
        ({"data": "It is $9.50."}, [data(found=True, value=FITS)], Outcome.SUCCEEDED, FITS, 1),
        ({}, [data(found=True, value='{"price": "9.5"}'), data(found=True, value=FITS)], Outcome.SUCCEEDED, FITS, 2),
        ({}, [data(found=True, value="cheap"), data(found=True, value='{"cost": 1}')], Outcome.FAILED, None, 2),
        ({"data": "$9.50"}, [data(found=False)], Outcome.FAILED, None, 1),
        ({"status": "failure", "data": FITS}, [], Outcome.FAILED, None, 0),
    ],
)
async def test_by_a_json_schema_the_data_fit_it_or_the_task_has_failed(
    finish: dict[str, Any], answers: list[Any], outcome: Outcome, found: str | None, calls: int
) -> None:
    """Seen failing with the outcome left as it was: a task without its document was a success."""
    end_with = call("finish", **{"status": "success", "summary": "Looked.", **finish})
    have, model = models([call("open_app", name="Shop"), end_with], summarize=list(answers))
    async with direct_rig(wire=True) as rig:
        wanted = order("Look at the price of the mug").model_copy(update={"result": DOCUMENT})
        end = await Work(rig.agent(have), wanted).ended()
    assert (end.outcome, end.data, end.value) == (outcome, found, None)
    asked = model.asked(Purpose.SUMMARIZE)
    assert len(asked) == calls
    if calls == 2:
        assert "That does not fit the schema" in str(asked[1].messages[-1].parts) or "no JSON" in str(asked[1].messages)
    assert DOCUMENT.text in str(model.asked(Purpose.ACT)[0].messages)


async def test_the_pilot_has_no_document_to_give() -> None:
    pilot = OfflinePilot()
    async with direct_rig() as rig:
        wanted = order("Open Shop, tap Blue mug, read the price").model_copy(update={"result": DOCUMENT})
        end = await Work(rig.agent(Models(pilot, pilot, pilot)), wanted).ended()
    assert (end.outcome, end.data) == (Outcome.FAILED, None)
