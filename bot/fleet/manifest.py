"""Registers the fleet (phones on other computers) as a part of the program. The message broker's client is loaded only
when it is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from bot.cli.options import add_json, number
from bot.config.installation import lack_of
from bot.config.settings import Settings, SettingsError
from bot.domain.finding import Finding
from bot.part import Command, Part, RunningService
from bot.texts import say, words
from devices.extras import Extra, is_installed

if TYPE_CHECKING:
    from fastapi import APIRouter
    from starlette.routing import BaseRoute

    from agent.guards.policy import Policy
    from bot.application.services import Services
    from bot.fleet.assembly import HubParts
    from bot.store.store import Store


def _fleet_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    doings = ("list", "invite", "revoke", "move", "config")
    add("what", choices=doings, nargs="?", default="list", help=say("cli.option.fleet_what"))
    add("host", nargs="?", default="", metavar="NAME", help=say("cli.option.fleet_name"))
    add("to", nargs="?", default="", metavar="HOST", help=say("cli.option.fleet_to"))
    add_json(parser)
    add("--store", default="/data/nats", metavar="DIR", help=say("cli.option.fleet_store"))
    add("--listen", default="0.0.0.0", metavar="ADDRESS", help=say("cli.option.fleet_listen"))  # noqa: S104 - hosts come from elsewhere
    add("--port", type=number, default=4222, metavar="PORT", help=say("cli.option.fleet_port"))
    add("--websocket", type=number, default=0, metavar="PORT", help=say("cli.option.fleet_websocket"))
    add("--tls-cert", default="", metavar="FILE", help=say("cli.option.fleet_tls_cert"))
    add("--tls-key", default="", metavar="FILE", help=say("cli.option.fleet_tls_key"))


def _host_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--join", default="", metavar="LINE", help=say("cli.option.host_join"))


async def _check(settings: Settings, service: RunningService | None) -> list[Finding]:
    from bot.fleet.check import findings  # noqa: PLC0415 - for the doctor alone

    return await findings(settings, service)


def _hub(settings: Settings, store: Store, policy: Policy) -> HubParts | None:
    """Build the hub, if there is one. Raises SettingsError if the engine's client is not installed."""
    if not settings.fleet_url:
        return None
    if not is_installed(Extra.FLEET):
        raise SettingsError(words("extra.setting", setting="FLEET_URL", why=lack_of(Extra.FLEET)))
    from bot.fleet.assembly import HubParts  # noqa: PLC0415 - only a hub loads the engine's client

    return HubParts(settings, store, policy)


def _routes(services: Services) -> Sequence[BaseRoute]:
    from bot.fleet.console import FleetRoutes, hub_of  # noqa: PLC0415 - for a service alone

    return FleetRoutes(hub_of(services.machines)).routes()


def _api() -> APIRouter:
    from bot.fleet.api import router  # noqa: PLC0415 - fastapi is loaded with the first request

    return router


PART: Final = Part(
    commands=(
        Command("fleet", "bot.fleet.command:fleet", _fleet_options),
        Command("host", "bot.fleet.host_command:host", _host_options, stays=True),
    ),
    check=_check,
    machines=_hub,
    routes=_routes,
    api=_api,
)
