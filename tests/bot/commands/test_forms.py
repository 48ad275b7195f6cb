"""Commands as they are picked from lists: each deed means what is typed, and help and completion know them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.commands.parser import Form, forms_of, parse
from bot.commands.spec import COMMANDS, OptionKind
from bot.config.settings import Settings
from bot.domain.incoming import CommandCall
from bot.texts import LANGUAGES, speaking
from tests.bot.commands.test_overview import words
from tests.bot.world import ADA, ANNA, CHANNEL, a_world

FORMS = tuple(form for command in COMMANDS for form in forms_of(command))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.path.replace(" ", "-"))
def test_each_deed_means_a_line_that_can_be_typed(form: Form) -> None:
    given = {field.name: f"{field.name}1" for field in form.fields} | dict.fromkeys(form.options, "true")
    if form.command.text is not None and form.words is None:
        given[form.command.text.name] = "some text"
    call = form.call(given)
    flags = {option.name for option in form.command.options if option.kind is OptionKind.FLAG}
    options = [f"--{name}" if name in flags else f"--{name} {value}" for name, value in call.options.items()]
    assert parse(" ".join([call.name, *options, call.rest])) == call


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_deed_and_field_is_explained_within_the_limits_of_menus(language: str) -> None:
    with speaking(language):
        assert all(0 < len(form.help) <= 100 for form in FORMS)
        assert all(0 < len(field.help) <= 100 for form in FORMS for field in form.fields)
    assert len({form.path for form in FORMS}) == len(FORMS)


async def test_help_that_is_picked_tells_what_can_be_picked(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        picked = words(await world.invoke(CommandCall("help")))
        assert "schedule remove: Remove a schedule for good" in picked
        assert "schedules" not in picked
        assert "admin set" not in picked
        assert "admin set" in words(await world.invoke(CommandCall("help"), ADA))
        assert "schedules" in words(await world.type("help"))


async def test_tiers_and_settings_are_completed_for_admins(tmp_path: Path) -> None:
    tiers = Settings.model_validate({"tiers": {"guest": {"tasks": 1}, "big": {}}, "default_tier": "guest"})
    async with a_world(tmp_path, settings=tiers) as world:
        offered = world.commands.suggestions(ADA, CHANNEL, "tier", "")
        assert [value for _, value in offered] == ["guest", "big", "default"]
        assert ("max_steps", "max_steps") in world.commands.suggestions(ADA, CHANNEL, "setting", "steps")
        for option in ("tier", "setting"):
            assert world.commands.suggestions(ANNA, CHANNEL, option, "") == ()
