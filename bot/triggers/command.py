"""The commands `opengui when` and `opengui triggers`, which ask the running service."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final
from urllib.parse import quote

from bot.cli.control import service_of
from bot.cli.exits import OK, Refused
from bot.cli.remote import body_of
from bot.cli.skill import draft_of_words
from bot.cli.terminal import padded
from bot.commands.parser import ParseError, draft_of, parse, with_skill
from bot.config.settings import Settings
from bot.texts import say
from bot.triggers.wish import CHANGE, LIST, split_when, wish_of

_ALL: Final = "/api/v1/triggers"


async def when(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the running service to store a trigger. Returns the exit code. Raises Refused and ServiceGone."""
    found = split_when(options.text.strip())
    wish = None if found is None else wish_of(found[0])
    if found is None or wish is None:
        raise Refused(say("trigger.form", example=say("command.when.example")))
    async with service_of(settings) as remote:
        try:
            call = with_skill(parse(found[1]), {each["name"] for each in await remote.skills()})
        except ParseError as error:
            raise Refused(str(error)) from error
        draft = draft_of_words(*[*call.rest.split(None, 1), ""][:2]) if call.name == "skill" else draft_of(call)
        body = body_of(draft) | {"phone": call.option("device") or options.device}
        limit: dict[str, Any] = {"per_hour": int(options.limit)} if options.limit.isdecimal() else {}
        made = await remote.send(
            _ALL,
            **body,
            source=wish.phone,
            app=wish.app,
            sender=wish.sender,
            words=list(wish.words),
            quiet=options.quiet,
            **limit,
        )
        print(made["told"])
    return OK


async def triggers(options: argparse.Namespace, settings: Settings) -> int:
    """List the triggers, or change one. Returns the exit code. Raises Refused and ServiceGone."""
    typed = " ".join(options.change)
    async with service_of(settings) as remote:
        if typed.casefold() in LIST:
            rows = (await remote.read(f"{_ALL}?limit=100"))["data"]["items"]
            for row in rows:
                print(json.dumps(row, ensure_ascii=False) if options.json else _line(row))
            if not rows and not options.json:
                print(say("trigger.none", example=say("command.when.example")))
            return OK
        found = CHANGE.fullmatch(typed)
        if found is None:
            raise Refused(say("trigger.usage", prefix=""))
        path = f"{_ALL}/{quote(found['trigger'], safe='')}"
        if (verb := found["verb"].lower()) == "remove":
            await remote.send(path, "DELETE")
            print(say("trigger.changed.removed", trigger=found["trigger"]))
        else:
            print((await remote.send(f"{path}/{verb}"))["told"])
    return OK


def _line(row: dict[str, object]) -> str:
    state = say("cli.schedules.paused") if row["paused"] else say("trigger.per_hour", number=row["per_hour"])
    return f"{row['id']:>5}  {padded(state, 20)}  {row['rule']}: {' '.join(str(row['text']).split())[:80]}"
