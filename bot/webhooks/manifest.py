"""Registers webhooks as an optional part of the program. Its modules are not loaded before the first webhook."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from bot.cli.options import add_json
from bot.part import Command, Part
from bot.texts import say

if TYPE_CHECKING:
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from bot.application.services import Services
    from bot.webhooks.hooks import Inbound


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    deeds = ("list", "add", "test", "off", "on", "remove")
    add("what", choices=deeds, nargs="?", default="list", help=say("cli.option.webhooks_what"))
    add("webhook", nargs="?", default="", metavar="URL|NUMBER", help=say("cli.option.webhooks_which"))
    add("--everybody", action="store_true", help=say("cli.option.webhooks_everybody"))
    add_json(parser)


def _routes(services: Services) -> Sequence[BaseRoute]:
    from starlette.routing import Route  # noqa: PLC0415 - the console has it

    @cache
    def inbound() -> Inbound:
        from bot.webhooks.hooks import Inbound  # noqa: PLC0415 - with the first call

        return Inbound(services)

    async def call(request: Request) -> Response:
        return await inbound().call(request)

    return [Route("/hooks/{name}", call, methods=["POST"])]


def _api() -> APIRouter:
    from bot.webhooks.api import router  # noqa: PLC0415 - fastapi is loaded with the first request

    return router


async def _work(services: Services) -> None:
    webhooks = services.store.webhooks
    webhooks.made.clear()
    while not await webhooks.any_on():
        await webhooks.made.wait()
        webhooks.made.clear()
    from bot.webhooks.sender import WebhookSender  # noqa: PLC0415 - for a service with a webhook alone

    await WebhookSender(services).run()


PART: Final = Part(
    commands=(Command("webhooks", "bot.webhooks.command:webhooks", _options),),
    routes=_routes,
    api=_api,
    work=_work,
)
