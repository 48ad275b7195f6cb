"""Every language says the same things, and people are spoken to in their own."""

from __future__ import annotations

import asyncio
import string

import pytest

from bot.commands.spec import COMMANDS
from bot.texts import LANGUAGES, catalogue, language_of, say, speaking

OTHERS = LANGUAGES[1:]


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_there_in_every_language(language: str) -> None:
    assert catalogue(language).keys() == catalogue().keys()


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_fills_in_the_same_values(language: str) -> None:
    different = [
        key for key, text in catalogue(language).items() if placeholders(text) != placeholders(catalogue()[key])
    ]
    assert different == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_fits_the_menus_and_its_examples_can_be_typed(language: str) -> None:
    with speaking(language):
        for command in COMMANDS:
            assert 0 < len(command.help) <= 100
            assert command.example.split()[0] == command.name


@pytest.mark.parametrize(
    ("setting", "locale", "language"),
    [
        ("auto", "zh-CN", "zh"),
        ("auto", "zh_Hant_TW", "zh"),
        ("auto", "zh", "zh"),
        ("auto", "en-GB", "en"),
        ("auto", "fr", "en"),
        ("auto", "", "en"),
        ("zh", "en-US", "zh"),
        ("en", "zh-CN", "en"),
    ],
)
def test_the_setting_goes_before_the_locale(setting: str, locale: str, language: str) -> None:
    assert language_of(setting, locale) == language


def test_the_language_holds_for_the_block_and_for_what_begins_in_it() -> None:
    async def told() -> tuple[str, str]:
        with speaking("zh"):
            task = asyncio.create_task(asyncio.to_thread(say, "button.stop"))
        return await task, say("button.stop")

    assert asyncio.run(told()) == ("停止", "Stop")


def test_an_unknown_language_is_english() -> None:
    with speaking("tlh"):
        assert say("button.stop") == "Stop"
