"""Registers the workshop, in which shell and full Python run, as an optional part of the program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from bot.part import Command, Part, WorkshopOffer
from bot.texts import say
from bot.workshop import SOCKET


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(child=False)
    parser.add_argument("--socket", type=Path, default=SOCKET, metavar="PATH", help=say("cli.option.workshop_socket"))
    parser.add_argument("--user", default="opengui", metavar="NAME", help=say("cli.option.workshop_user"))


async def _look(setting: str) -> WorkshopOffer:
    from bot.workshop.client import look_for_workshop  # noqa: PLC0415 - whoever needs none does not load it

    return await look_for_workshop(setting)


PART: Final = Part(
    commands=(Command("workshop", "bot.workshop.__main__:serve", _add_options, is_sealed=True),),
    workshop=_look,
)
