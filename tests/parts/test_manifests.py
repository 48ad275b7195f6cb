"""What the manifests of the parts name is there."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest

from bot.part import Command
from bot.wiring.parts import NEEDED, installed_parts, lacking
from devices.virtual import VirtualPhones, virtual_phones
from devices.virtual_phone import part as virtual_phone_part
from tests.parts.copies import COMMANDS

OF_PARTS = [command for part in installed_parts() for command in part.commands]


@pytest.mark.parametrize("command", OF_PARTS, ids=[command.name for command in OF_PARTS])
def test_the_code_of_a_command_is_there(command: Command) -> None:
    assert callable(resolve_name(command.code))


def test_every_command_of_a_part_says_without_what_it_is_missing() -> None:
    """`phone` is one of the command line itself, which has the options from the part."""
    assert {*(command.name for command in OF_PARTS), "phone"} == {*NEEDED}
    assert {command: {*packages} for command, packages in NEEDED.items()} == {
        command: {part for part, names in COMMANDS.items() if command in names} for command in NEEDED
    }
    assert not any(map(lacking, NEEDED))


def test_the_virtual_phones_offer_what_their_border_asks_for() -> None:
    offered: VirtualPhones = virtual_phone_part  # mypy compares the two
    assert virtual_phones() is offered
