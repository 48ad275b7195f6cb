"""Registers triggers as an optional part of the program. Its modules are not loaded before the first trigger."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from bot.cli.options import add_json
from bot.part import Command, Part
from bot.texts import say

if TYPE_CHECKING:
    from fastapi import APIRouter

    from bot.application.services import Services


def _when_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="PLAN", help=say("cli.option.when_plan"))
    parser.add_argument("--device", default="", metavar="NAME", help=say("cli.option.when_device"))
    parser.add_argument("--quiet", default="", metavar="HH:MM-HH:MM", help=say("cli.option.when_quiet"))
    parser.add_argument("--limit", default="", metavar="N", help=say("cli.option.when_limit"))


def _triggers_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("change", nargs="*", metavar="CHANGE", help=say("cli.option.triggers_change"))
    add_json(parser)


def _api() -> APIRouter:
    from bot.triggers.api import router  # noqa: PLC0415 - fastapi is loaded with the first request

    return router


async def _work(services: Services) -> None:
    schedules = services.store.schedules
    schedules.trigger_begun.clear()
    while not await schedules.triggers():
        await schedules.trigger_begun.wait()
        schedules.trigger_begun.clear()
    from bot.triggers.watcher import TriggerWatcher  # noqa: PLC0415 - for a service with a trigger alone

    await TriggerWatcher(services).run()


PART: Final = Part(
    commands=(
        Command("when", "bot.triggers.command:when", _when_options),
        Command("triggers", "bot.triggers.command:triggers", _triggers_options),
    ),
    api=_api,
    work=_work,
)
