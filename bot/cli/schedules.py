"""The commands `opengui schedule`, `schedules` and `watch`: create, list and change plans that run at set times, and
watches, which report a value.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from bot.cli.control import own_store, service_of, service_or_own
from bot.cli.exits import OK, USAGE, Refused
from bot.cli.questions import somebody_is_there
from bot.cli.remote import Remote, body_of, running_service
from bot.cli.skill import draft_of_words
from bot.cli.terminal import padded, print_rows
from bot.commands.parser import LIST_WORDS, SCHEDULE_CHANGE, ParseError, draft_of, parse, with_skill
from bot.config.settings import Settings
from bot.domain.schedule import plan_in
from bot.domain.task_request import TaskOptions
from bot.domain.watch import split_watch
from bot.texts import say


async def schedule(options: argparse.Namespace, settings: Settings) -> int:
    """Create a schedule in the running service, or do what `schedules` does. Returns the exit code. Raises Refused and
    ServiceGone; for what `schedules` does, also SettingsError and StoreError.
    """
    typed = options.text.strip()
    if typed.casefold() in LIST_WORDS:
        return await _listed(settings, as_json=False)
    if SCHEDULE_CHANGE.fullmatch(typed) is not None:
        return await _changed([typed], settings)
    async with service_of(settings) as remote:
        wish = await planned(options, typed, say("command.schedule.example"), remote)
        print((await remote.send("/api/v1/schedules", **wish))["told"])
    return OK


async def planned(options: argparse.Namespace, typed: str, example: str, remote: Remote) -> dict[str, Any]:
    """Convert a typed plan (`every 2h do …`) to the JSON that the API takes. The phone is the one in the plan, else the
    one in the options. Raises Refused for a text that is no plan (with the `example` of a valid one) or contains an
    invalid command; also ServiceGone.
    """
    if (found := plan_in(typed)) is None:
        raise Refused(say("schedule.bad.form", example=example))
    when, order = found
    try:
        call = with_skill(parse(order), {each["name"] for each in await remote.skills()})
    except ParseError as error:
        raise Refused(str(error)) from error
    draft = draft_of_words(*[*call.rest.split(None, 1), ""][:2]) if call.name == "skill" else draft_of(call)
    wish = body_of(draft)
    wish["phone"] = call.option("device") or options.device
    wish |= {name: value for name in TaskOptions.model_fields if (value := getattr(options, name))}
    return {"rule": when, **wish}


async def schedules(options: argparse.Namespace, settings: Settings) -> int:
    """List or change schedules, in the running service or the data directory. Returns the exit code. Raises Refused for
    a failed change; also ServiceGone, SettingsError and StoreError.
    """
    if options.change and options.change[0].casefold() not in LIST_WORDS:
        return await _changed(options.change, settings)
    return await _listed(settings, as_json=options.json)


async def _listed(settings: Settings, *, as_json: bool) -> int:
    return print_rows(await _rows(settings), _line, say("cli.schedules.none"), as_json=as_json)


async def _changed(words: Sequence[str], settings: Settings) -> int:
    found = SCHEDULE_CHANGE.fullmatch(" ".join(words))
    if found is None:
        raise Refused(say("schedule.usage", prefix=""))
    async with service_or_own(settings) as door:
        print(await door.change_schedule(found["verb"].lower(), found["schedule"]))
    return OK


async def _rows(settings: Settings) -> list[dict[str, Any]]:
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            return await remote.schedules()
    # Imported here so that asking a service loads no database.
    from bot.views.tasks import schedule_json  # noqa: PLC0415 - see above

    async with own_store(settings) as store:
        return [schedule_json(one) for one in await store.schedules.all() if one.plan.is_timed]


def _line(row: dict[str, Any]) -> str:
    due = datetime.fromtimestamp(row["due"], ZoneInfo(row["zone"]))
    when = say("cli.schedules.paused") if row["paused"] else f"{due:%Y-%m-%d %H:%M} ({row['zone']})"
    text = " ".join(row["text"].split())[:80]
    if row["watch"] is not None:
        # Imported here because few lists have a watch.
        from bot.cards.formatting import watch_line  # noqa: PLC0415 - see above
        from bot.domain.watch import Watch  # noqa: PLC0415 - see above

        text += f" → {watch_line(Watch.model_validate(row['watch']))}"
    return f"{row['schedule']:>5}  {padded(when, 32)}  {padded(row['rule'], 24)}  {row['person']}: {text}"


async def watch(options: argparse.Namespace, settings: Settings) -> int:
    """Have the running service create the watch. Returns the exit code. Raises Refused and ServiceGone."""
    example = say("command.watch.example")
    if (found := split_watch(options.text)) is None:
        raise Refused(say("watch.no_condition", example=example))
    plan, words = found
    async with service_of(settings) as remote:
        wish = await planned(options, plan, example, remote)
        made = await remote.send("/api/v1/schedules", tell_me_when=words, **wish)
        print(made["told"], flush=True)
        if not options.yes:
            if not somebody_is_there():
                await remote.change_schedule("remove", made["id"])
                print(say("cli.watch.unseen"), file=sys.stderr)
                return USAGE
            answer = await asyncio.to_thread(input, say("cli.watch.ask"))
            if answer.strip().casefold() not in {"y", "yes", "是", "好"}:
                print(await remote.change_schedule("remove", made["id"]))
                return OK
        print(await remote.change_schedule("resume", made["id"]))
    return OK
