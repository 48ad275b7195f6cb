"""No kind of the suite needs a picture: each is done by a model that sees nothing but its requests, without any."""

from __future__ import annotations

import pytest

from bot.config.settings import Settings
from bot.model_comparison.candidates import candidates_of
from bot.model_comparison.running import do_task
from bot.model_comparison.tasks import KINDS, suite
from tests.bot.model_comparison.by_list import reader
from tests.fakes.model_server import ModelServer

pytestmark = pytest.mark.slow


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_is_done_by_the_list_alone(kind: str) -> None:
    task = next(each for each in suite(5) if each.kind == kind)
    async with ModelServer(reader()) as server:
        settings = Settings(vlm_base_url=server.base_url, vlm_model="reader", vlm_pictures="never")
        (candidate,) = candidates_of(settings)
        result = await do_task(candidate, task)
        await candidate.close()
    assert result.verdict.right, (task.text, result.verdict, result.outcome, result.summary)
    assert not result.verdict.obeyed
    assert not any(request.images for request in server.requests)
