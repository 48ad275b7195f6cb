"""What can be found without asking anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agent.models.state import ABOUT_THE_REQUEST, Cause, ModelState, ModelStatus
from bot.chats.installed import installed, model_of
from bot.checks import chats, files, model, service
from bot.checks.service import waited
from bot.config.settings import Settings
from bot.runtime.run_config import RunConfigs
from bot.runtime.settings import RuntimeSettings
from bot.texts import LANGUAGES, speaking
from bot.views.tasks import phone_json, state_words
from bot.wiring.team import refused_folders
from devices.phone import Health, PhoneInfo
from devices.wording import words
from tests.fixtures.databases import open_store

MODEL = {"vlm_api_key": SecretStr("key-0123"), "vlm_base_url": "http://127.0.0.1:1/v1", "vlm_model": "qwen3-vl-plus"}


@pytest.mark.parametrize(
    ("given", "verdict", "words"),
    [
        ({}, "note", "offline pilot"),
        (MODEL, "good", "qwen3-vl-plus"),
        (MODEL | {"vlm_model": ""}, "bad", "VLM_MODEL"),
        (MODEL | {"vlm_dialect": "klingon"}, "bad", "klingon"),
    ],
)
def test_the_model_as_it_is_set(given: dict[str, Any], verdict: str, words: str) -> None:
    found = model.set_up(Settings(**given))
    assert (found.area, found.verdict) == ("model", verdict)
    assert words in found.text
    assert "0123" not in found.text + found.fix


@pytest.mark.parametrize("cause", sorted(set(Cause) - ABOUT_THE_REQUEST))
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_fails_says_why_and_since_when_and_what_helps(cause: Cause, language: str) -> None:
    state = ModelState(ModelStatus.NOT_TESTED, "qwen3-vl-plus").after(cause, 1_795_700_000.0)
    with speaking(language):
        found = model.set_up(Settings.model_validate(MODEL), state)
        assert (found.verdict, found.cause, bool(found.fix)) == ("bad", cause, True)
        assert state_words(state) in found.text


def test_chats_as_they_are_set() -> None:
    model = model_of(installed())
    listed = model.model_validate({"discord_bot_token": "token-0123", "discord_allowed_user_ids": ("1",)})
    discord, slack, telegram, *_ = chats.set_up(listed, installed())
    assert (discord.verdict, slack.verdict, telegram.verdict) == ("good", "note", "note")
    open_to_all, *_ = chats.set_up(model.model_validate({"discord_bot_token": "token-0123"}), installed())
    assert open_to_all.verdict == "bad"
    assert "0123" not in repr((discord, slack, telegram, open_to_all))


def test_phones_as_they_are_known() -> None:
    ready = PhoneInfo("a", "a", "Pixel", Health.READY)
    locked = PhoneInfo("b", "b", "Desk", Health.LOCKED, "It is locked.", "Unlock it.")
    gone = PhoneInfo("c", "c", "Old", Health.OFFLINE, "It is away.", "Plug it in.")
    found = service.findings([phone_json(phone, ()) for phone in (ready, locked, gone)])
    assert [(one.verdict, one.fix) for one in found] == [("good", ""), ("note", "Unlock it."), ("bad", "Plug it in.")]
    assert service.findings([])[0].verdict == "bad"


def test_a_phone_of_another_service_is_no_fault() -> None:
    taken = PhoneInfo("a", "a", "Pixel", Health.BUSY_ELSEWHERE, words("phone.taken.reason"), words("phone.taken.fix"))
    (found,) = service.findings([phone_json(taken, ())])
    assert found.verdict == "note"
    assert "Pixel" in found.text
    assert "busy elsewhere" in found.text
    assert "Another opengui-bot service is using it" in found.text
    assert "ANDROID_SERIALS" in found.fix


def test_what_is_waited_for() -> None:
    assert "Free up space" in waited("disk", "It is full.", 0.0).fix
    chat = waited("discord", "It does not answer.", 0.0, installed())
    assert "for Discord since" in chat.text
    assert "chats" in chat.fix


@pytest.mark.parametrize(
    ("written", "verdict", "words"),
    [
        ('[refuse]\npackages = ["com.bank"]\n', "good", "do not turn off"),
        ('[approve.install]\nlabels = ["install"]\n', "note", "approve.install.labels: "),
        ("[approve", "bad", "POLICY"),
    ],
)
async def test_what_the_operators_rules_switch_off(tmp_path: Path, written: str, verdict: str, words: str) -> None:
    own = tmp_path / "rules.toml"
    own.write_text(written, encoding="utf-8")
    found = await files.findings(Settings(data_dir=tmp_path / "data", policy_file=own))
    (rules,) = [each for each in found if str(own) in each.text]
    assert rules.verdict == verdict
    assert words in rules.text + rules.fix


async def test_the_console_names_members_and_skills_that_cannot_be_used_as_the_doctor_does(tmp_path: Path) -> None:
    """Seen failing before the service had `refused`: only the doctor named them."""
    for folder, file, text in (
        ("agents/dietician", "AGENTS.md", "---\nname: dietician\ndescription: Eats.\ntools: [x_ray]\n---\nEat."),
        ("skills/order-lunch", "SKILL.md", "---\nname: order-dinner\ndescription: Orders.\n---\nOrder."),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / file).write_text(text)
    store = await open_store(tmp_path)
    try:
        live = await RuntimeSettings.open(Settings(data_dir=tmp_path), store)
        configs = RunConfigs(live.now, lambda _request, _away: None)
        check = service.ServiceCheck(live, tuple, tuple, configs, (), refused_folders)
        refused = [found for found in await check.near() if "is not used" in found.text]
    finally:
        await store.close()
    assert [(found.area, found.verdict) for found in refused] == [("files", "note")] * 2
    assert "agents/dietician" in refused[0].text
    assert "x_ray" in refused[0].text
    assert "skills/order-lunch" in refused[1].text
    assert all(found.fix for found in refused)
