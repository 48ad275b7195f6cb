"""The models of this moment: what works keeps its own, and what nobody uses any more is closed."""

from __future__ import annotations

import asyncio

import pytest

from agent.models.openai_model import OpenAIModel
from bot.config.settings import Settings, changed
from bot.runtime.run_config import RunConfigs

NOWHERE = Settings.model_validate({"vlm_base_url": "http://127.0.0.1:9/v1", "vlm_model": "old-vl", "max_tokens": 100})


@pytest.fixture
def live() -> RunConfigs:
    return RunConfigs(NOWHERE, lambda _request, _away: None)


async def test_replaced_models_are_closed_when_the_last_who_took_them_gives_them_back(live: RunConfigs) -> None:
    """Seen failing with `_let_go` closing whatever was replaced: the first one lost its model while it worked."""
    first, second = live.take(), live.take()
    old = live._model_sets[0].endpoints.vision
    assert isinstance(old, OpenAIModel)
    live.change(changed(NOWHERE, {"vlm_model": "new-vl"}))
    assert live.models.vision.name == "new-vl"
    assert live.take().models.vision.name == "new-vl"
    assert first.models.vision.name == "old-vl"
    live.give_back(first)
    await asyncio.sleep(0)
    assert not old._connection._client.is_closed()
    live.give_back(second)
    async with asyncio.timeout(5):
        while not old._connection._client.is_closed():
            await asyncio.sleep(0)
    await live.close()


async def test_limits_change_without_new_models(live: RunConfigs) -> None:
    before = live.take()
    live.change(changed(NOWHERE, {"max_tokens": 7, "vlm_dialect": "autoglm", "vlm_image_window": 2}))
    after = live.take()
    assert after.models is before.models
    assert (before.limits.tokens, after.limits.tokens) == (100, 7)
    assert (after.dialect.name, after.image_window) == ("autoglm", 2)
    live.give_back(before)
    live.change(changed(NOWHERE, {"vlm_model": "new-vl"}))
    assert len(live._model_sets) == 2, "somebody still has the old ones"
    live.give_back(after)
    assert len(live._model_sets) == 1
    await live.close()


async def test_models_that_nobody_took_go_at_once(live: RunConfigs) -> None:
    for name in ("a", "b", "c"):
        live.change(changed(NOWHERE, {"vlm_model": name}))
    assert len(live._model_sets) == 1
    assert live.models.vision.name == "c"
    assert len(live.waited_for) == 1
    await live.close()
