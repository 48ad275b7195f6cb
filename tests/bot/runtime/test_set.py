"""Settings that admins change while the service runs: checked as at the start, kept, audited, with their origin."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.chats.installed import installed, model_of
from bot.checks.settings import in_force
from bot.config.settings import Settings, SettingsError, load_settings, secret_names
from bot.domain.limits import Tier
from bot.domain.outgoing import Message, Reply
from bot.runtime.settings import FIELDS, UnknownSetting, known
from bot.store.sqlite.database import DATABASE_NAME
from tests.bot.world import ADA, ANNA, World, a_world

BASE = Settings.model_validate({"vlm_model": "old-vl", "tiers": {"basic": {"tasks": 3}}, "default_tier": "basic"})


def words(reply: Reply) -> str:
    message = reply.message or Message()
    return f"{message.heading}\n{message.body}"


async def audited(world: World) -> list[str]:
    return [str(entry.detail) for entry in await world.store.audit.page(50) if entry.kind == "setting"]


async def test_what_is_set_holds_at_once_and_after_a_restart_until_it_is_taken_back(tmp_path: Path) -> None:
    """Seen failing with the change not written in `_put`: after the restart the environment's value was back."""
    async with a_world(tmp_path, settings=BASE) as world:
        assert "max_steps = 60 (default)" in words(await world.type("set", ADA))
        assert "model = old-vl (environment)" in words(await world.type("set model", ADA))
        assert "max_steps: 60 → 7" in words(await world.type("set max_steps 7", ADA))
        assert (await world.do()).request.max_steps == 7
        assert "model: old-vl → new-vl" in words(await world.type("set VLM_MODEL new-vl", ADA))
        assert await audited(world) == ["model: old-vl → new-vl", "max_steps: 60 → 7"]
        assert "changed a setting" in words(await world.type("audit", ADA))
    async with a_world(tmp_path, settings=BASE) as world:
        shown = words(await world.type("set", ADA))
        assert "model = new-vl (set by Ada (discord:99) at 1970-01-12 13:46; the environment: old-vl)" in shown
        assert world.services.live.now.max_steps == 7
        assert "model: new-vl → old-vl" in words(await world.type("set model default", ADA))
        assert world.services.live.now.vlm_model == "old-vl"
    async with a_world(tmp_path, settings=BASE) as world:
        assert set(world.services.live.changes) == {"max_steps"}


async def test_only_admins_see_and_change_settings(tmp_path: Path) -> None:
    """Seen failing with the right of `set` in the list of commands set to `use`."""
    async with a_world(tmp_path, settings=BASE) as world:
        for line in ("set", "set model", "set model new-vl", "set max_steps default"):
            assert "Only an admin" in words(await world.type(line, ANNA))
        assert world.services.live.now == BASE
        assert await audited(world) == []


@pytest.mark.parametrize(
    ("line", "environment"),
    [
        ("max_steps none", "MAX_STEPS=none"),
        ("max_steps 0", "MAX_STEPS=0"),
        ("max_minutes -1", "MAX_MINUTES=-1"),
        ("max_cost much", "MAX_COST=much"),
        ("image_window 0", "VLM_IMAGE_WINDOW=0"),
        ("deep_thinking perhaps", "DEEP_THINKING=perhaps"),
        ("default_tier nobody", "DEFAULT_TIER=nobody"),
        ("tier.basic.tasks few", 'TIERS={"basic": {"tasks": "few"}}'),
        ("tier.basic.tasks -2", 'TIERS={"basic": {"tasks": -2}}'),
        ("tier.basic.tasks 1.5", 'TIERS={"basic": {"tasks": 1.5}}'),
    ],
)
async def test_a_value_is_checked_as_that_of_the_environment(tmp_path: Path, line: str, environment: str) -> None:
    file = tmp_path / "settings.env"
    file.write_text(environment, encoding="utf-8")
    with pytest.raises(SettingsError) as at_start:
        load_settings(file)
    async with a_world(tmp_path, settings=BASE) as world:
        told = words(await world.type(f"set {line}", ADA))
        assert f"{at_start.value} Nothing was changed." in told
        assert world.services.live.now == BASE
        assert await world.store.changes.all() == ()


async def test_a_dialect_is_one_that_there_is(tmp_path: Path) -> None:
    async with a_world(tmp_path, settings=BASE) as world:
        assert "is not known; use one of auto, tools" in words(await world.type("set dialect morse", ADA))
        assert "dialect: auto → autoglm" in words(await world.type("set dialect autoglm", ADA))
        assert "offline pilot" in words(await world.type("set model x", ADA)), "nothing answers to that name"


async def test_quotas_of_tiers_and_new_tiers(tmp_path: Path) -> None:
    async with a_world(tmp_path, settings=BASE) as world:
        assert "tier.basic.tasks: 3 → 1" in words(await world.type("set tier.basic.tasks 1", ADA))
        assert "tier.basic.cost: none → 2.5" in words(await world.type("set tier.basic.cost 2.5", ADA))
        assert "tier.guest.steps: none → 0" in words(await world.type("set tier.guest.steps 0", ADA))
        assert "default_tier: basic → guest" in words(await world.type("set default_tier guest", ADA))
        assert world.services.live.now.tiers == {"basic": Tier(tasks=1, cost=2.5), "guest": Tier(steps=0)}
        assert "0 of 0 steps (tier guest)" in words(await world.type("do open settings"))
        assert "DEFAULT_TIER: expected" in words(await world.type("set tier.guest.steps default", ADA)), "still in use"
        await world.type("set default_tier default", ADA)
        assert "tier.basic.tasks: 1 → none" in words(await world.type("set tier.basic.tasks none", ADA))
        assert (await world.type("do open settings")).task
    async with a_world(tmp_path, settings=BASE) as world:
        assert world.services.live.now.tiers["basic"] == Tier(cost=2.5)


async def test_nothing_secret_and_no_address_can_be_set_or_shown(tmp_path: Path) -> None:
    assert not set(FIELDS.values()) & set(secret_names(model_of(installed())))
    assert not [field for field in FIELDS.values() if field.endswith(("_url", "_token", "_key", "_ids"))]
    secret = model_of(installed()).model_validate({"vlm_api_key": "sk-secret", "discord_bot_token": "hidden"})
    async with a_world(tmp_path, settings=secret) as world:
        for name in (*secret_names(type(secret)), "vlm_base_url", "discord_admin_user_ids", "data_dir", "console_host"):
            with pytest.raises(UnknownSetting):
                known(name)
            assert "cannot be changed here" in words(await world.type(f"set {name} x", ADA))
        shown = words(await world.type("set", ADA))
        assert "sk-secret" not in shown
        assert "hidden" not in shown


async def test_what_cannot_be_used_any_more_is_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_world(tmp_path, settings=BASE) as world:
        await world.type("set default_tier basic", ADA)
        await world.type("set max_steps 9", ADA)
    bare = Settings.model_validate({})
    async with a_world(tmp_path, settings=bare) as world:
        assert world.services.live.now.max_steps == 9
        assert world.services.live.now.default_tier == ""
        assert "The value set for default_tier at run time is ignored" in caplog.text
        assert "default_tier: the value basic was set but is not used. DEFAULT_TIER: expected" in words(
            await world.type("set", ADA)
        )
        assert "max_steps: 9 → 8" in words(await world.type("set max_steps 8", ADA)), "it stands in nobody's way"
        await world.type("set default_tier default", ADA)
        assert set(world.services.live.changes) == {"max_steps"}


@pytest.mark.sqlite
async def test_doctor_looks_at_what_holds_also_beside_a_running_service(tmp_path: Path) -> None:
    settings = Settings.model_validate({**dict(BASE), "data_dir": tmp_path})
    assert await in_force(settings) == (settings, [])
    async with a_world(tmp_path, settings=settings) as world:
        await world.type("set model new-vl", ADA)
        await world.type("set default_tier basic", ADA)
        now, found = await in_force(settings)
        assert now.vlm_model == "new-vl"
        assert [one.text for one in found] == [
            "Changed with `set`, overriding the environment: default_tier=basic, model=new-vl"
        ]
    _, found = await in_force(Settings.model_validate({"data_dir": tmp_path}))
    assert [one.verdict for one in found] == ["note", "bad"]
    (tmp_path / DATABASE_NAME).write_bytes(b"no database")
    assert "could not be read" in (await in_force(settings))[1][0].text
