"""What real endpoints send when they do not answer, each over HTTP: how it is read, tried again or not, and told."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent.error_mapping import fault_of, remedy
from agent.models.errors import ModelError, ModelUnreachable
from agent.models.state import ABOUT_THE_REQUEST, Cause
from agent.run import Outcome
from agent.wording import SENTENCES
from tests.agent.models.endpoints import KEY, VirtualTime, asking, model_at, picture
from tests.fakes.model_server import Answer, ModelServer

pytestmark = pytest.mark.slow

REFUSALS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))[
    "refusal"
]


def message_of(body: Any) -> str:
    """The words in a body of the usual forms."""
    while not isinstance(body, str):
        body = body[0] if isinstance(body, list) else body.get("error", body.get("message"))
    return body


@pytest.mark.parametrize("refusal", REFUSALS, ids=[each["who"] for each in REFUSALS])
async def test_a_refusal_is_read_by_its_status_and_its_words(refusal: dict[str, Any]) -> None:
    time, cause = VirtualTime(), Cause(refusal["cause"])
    answer = Answer(status=refusal["status"], body=refusal["body"], times=0)
    request = asking("Look:", picture()) if refusal.get("picture", True) else asking("Look.")
    async with ModelServer([answer]) as server, model_at(server, time=time, timeout=60) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(request)
        asked = len(server.requests)
    error = caught.value
    assert error.cause is cause
    assert isinstance(error, ModelUnreachable) is cause.passing
    assert asked == (4 if cause.passing else 1), "what does not pass is asked once"
    words = refusal.get("words") or message_of(refusal["body"])
    assert words[:200] in str(error)


def test_each_cause_has_its_remedy() -> None:
    remedies = {cause: SENTENCES[f"remedy.{cause}"] for cause in Cause}
    assert remedies[Cause.NO_CREDIT] != remedies[Cause.BUSY] != remedies[Cause.NO_PICTURES]
    assert [kind for kind in SENTENCES if kind.startswith("remedy.")] == [f"remedy.{cause}" for cause in Cause]


@pytest.mark.parametrize("cause", Cause)
def test_a_fault_says_what_helps_and_blocks_where_people_have_to(cause: Cause) -> None:
    error = ModelError("It failed.", cause=cause)
    fault = fault_of(error)
    assert (fault.happened, fault.next) == ("It failed.", remedy(cause))
    assert (fault.outcome is Outcome.FAILED) is (cause in ABOUT_THE_REQUEST)


@pytest.mark.parametrize(
    "body",
    [
        {"error": f"no route for {KEY}"},
        {"detail": [{"msg": f"bad header {KEY}"}]},
        f"<html><title>{KEY}</title></html>",
        {"error": {"message": "Incorrect key sk-proj-abcdef123456.", "metadata": {"raw": f"with {KEY}"}}},
        {"error": {"error": {"error": {"error": {"error": {"message": "too deep"}}}}}},
        {"error": {"message": 7, "code": {"a": 1}}},
        [],
        "",
    ],
)
async def test_no_secret_is_told_in_any_form_and_nothing_breaks(body: Any) -> None:
    async with ModelServer([Answer(status=400, body=body)]) as server, model_at(server) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(asking())
    assert KEY not in str(caught.value)
    assert "sk-proj" not in str(caught.value)
