"""The `opengui webhooks` command, which asks the running service."""

from __future__ import annotations

import argparse
import json
from urllib.parse import quote

from bot.cli.control import service_of
from bot.cli.exits import OK, Refused
from bot.config.settings import Settings
from bot.texts import say
from bot.webhooks.delivery import test_words

_ALL = "/api/v1/webhooks"


async def webhooks(options: argparse.Namespace, settings: Settings) -> int:
    """List, create, test, switch or remove webhooks. Returns the exit code. Raises Refused and ServiceGone."""
    if options.what != "list" and not options.webhook:
        raise Refused(say("webhook.usage"))
    path = f"{_ALL}/{quote(options.webhook, safe='')}"
    async with service_of(settings) as remote:
        match options.what:
            case "add":
                made = await remote.send(_ALL, url=options.webhook, everybody=options.everybody)
                print(say("webhook.made", webhook=made["id"], secret=made["secret"]))
            case "on":
                await remote.send(f"{path}/on")
                print(say("webhook.on", webhook=options.webhook))
            case "off":
                await remote.send(f"{path}/off")
                print(say("webhook.switched_by_hand", webhook=options.webhook))
            case "test":
                tested = await remote.send(f"{path}/test")
                print(test_words(options.webhook, tested["status"]))
            case "remove":
                await remote.send(path, "DELETE")
                print(say("webhook.removed", webhook=options.webhook))
            case _:
                rows = (await remote.read(f"{_ALL}?limit=100"))["data"]["items"]
                for row in rows:
                    state = say(f"webhook.off.{row['off']}") if row["off"] else say("webhook.is_on")
                    print(json.dumps(row) if options.json else f"{row['id']:>5}  {state}  {row['url']}")
                if not rows and not options.json:
                    print(say("webhook.none"))
    return OK
