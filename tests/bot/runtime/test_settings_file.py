"""Settings that are written to the file while the service runs: checked, kept, audited, and live at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.config.settings import Settings, SettingsError
from bot.config.settings_file import SETTINGS_NAME
from bot.store.errors import StoreConflict
from bot.store.sqlite.database import DATABASE_NAME
from tests.bot.runtime.test_set import audited, words
from tests.bot.world import ADA, a_world

CANARY = "sk-canary-a6c2e1f04b7d4d21"


def base(directory: Path, **settings: str) -> Settings:
    return Settings.model_validate({"data_dir": str(directory), **settings})


async def test_what_is_written_holds_at_once_and_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path, settings=base(tmp_path)) as world:
        live, told = world.services.live, list[Settings]()

        async def follower(now: Settings) -> None:
            told.append(now)

        live.follow(follower)
        await live.write_file({"vlm_base_url": f"http://127.0.0.1:9/{CANARY}", "vlm_api_key": CANARY}, ADA)
        assert live.now.vlm_api_key.get_secret_value() == CANARY
        assert told == [live.now]
        assert await audited(world) == ["VLM_BASE_URL: none → 127.0.0.1; VLM_API_KEY written"]
        # The last word counts, whichever way it was said.
        await world.type("set model old-vl", ADA)
        await live.write_file({"vlm_model": "new-vl"}, ADA)
        assert (live.now.vlm_model, live.changes) == ("new-vl", {})
        assert "model = new-vl (set in the console)" in words(await world.type("set model", ADA))
    async with a_world(tmp_path, settings=base(tmp_path)) as world:
        live = world.services.live
        assert (live.now.vlm_model, live.now.vlm_api_key.get_secret_value()) == ("new-vl", CANARY)
        await live.write_file({"vlm_api_key": "", "vlm_base_url": "", "vlm_model": ""}, ADA)
        assert "VLM_API_KEY removed" in (await audited(world))[0]
    assert CANARY not in (tmp_path / SETTINGS_NAME).read_text(encoding="utf-8")


async def test_what_the_environment_says_cannot_be_written(tmp_path: Path) -> None:
    """Seen failing without the look at `is_fixed`: the file said one thing and the service did another."""
    async with a_world(tmp_path, settings=base(tmp_path, vlm_model="fixed")) as world:
        live = world.services.live
        with pytest.raises(SettingsError, match="VLM_MODEL is set in the environment"):
            await live.write_file({"vlm_model": "other", "vlm_api_key": CANARY}, ADA)
        with pytest.raises(SettingsError) as refused:
            await live.write_file({"vlm_base_url": CANARY}, ADA)
        assert CANARY not in str(refused.value)
        assert not (tmp_path / SETTINGS_NAME).exists()
        assert await audited(world) == []


@pytest.mark.sqlite
async def test_what_is_not_in_the_audit_is_not_in_the_file(tmp_path: Path) -> None:
    """Seen failing without the way back: the next start would have used what nobody is told of."""
    async with a_world(tmp_path, settings=base(tmp_path)) as world:
        live = world.services.live
        await live.write_file({"vlm_model": "kept"}, ADA)
        with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as other, other:
            other.execute("CREATE TRIGGER no_audit BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END")
        with pytest.raises(StoreConflict):
            await live.write_file({"vlm_model": "lost"}, ADA)
        assert live.now.vlm_model == "kept"
        assert '"kept"' in (tmp_path / SETTINGS_NAME).read_text(encoding="utf-8")
