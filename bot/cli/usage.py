"""The `opengui usage` command: prints what the tasks of the last days used."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from bot.cli.control import own_store
from bot.cli.exits import OK
from bot.cli.remote import running_service
from bot.cli.terminal import padded
from bot.config.settings import Settings
from bot.domain.locale import last_days, zone_named
from bot.texts import say

LABEL_CELLS = 24


async def usage(options: argparse.Namespace, settings: Settings) -> int:
    """Print the usage from the running service or the data directory. Returns the exit code. Raises ServiceGone,
    SettingsError and StoreError.
    """
    rows = await _rows(settings, options.by, options.days)
    for row in rows:
        print(json.dumps(row, ensure_ascii=False) if options.json else _line(row, options.by))
    if not rows and not options.json:
        print(say("cli.usage.none"))
    return OK


async def _rows(settings: Settings, by: str, days: int) -> list[dict[str, Any]]:
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            return await remote.usage(by, days)
    zone = zone_named(settings.time_zone)
    begin, end = last_days(days, time.time(), zone)
    # Imported here so that asking a service loads no database.
    from bot.store.totals import UsageBy  # noqa: PLC0415 - see above
    from bot.views.tasks import usage_json  # noqa: PLC0415 - see above

    async with own_store(settings) as store:
        return [usage_json(row) for row in await store.usage.grouped(UsageBy(by), begin, end, zone)]


def _line(row: dict[str, Any], by: str) -> str:
    tokens, voice = row["tokens"], row["voice"]
    used = say(
        "cli.usage.line",
        tasks=f"{row['tasks']:>5}",
        steps=f"{row['steps']:>6}",
        minutes=f"{row['seconds'] / 60:>7.1f}",
        tokens=f"{tokens['input'] + tokens['output']:>10}",
    )
    line = f"{padded(_label(row, by), LABEL_CELLS)}  {used}{_cost(tokens['cost'])}"
    if not voice["notes"]:
        return line
    spoken = say("cli.usage.voice", notes=f"{voice['notes']:>5}", minutes=f"{voice['seconds'] / 60:>7.1f}")
    return f"{line}\n{'':<{LABEL_CELLS}}  {spoken}{_cost(voice['cost'])}"


def _label(row: dict[str, Any], by: str) -> str:
    if by != "role":
        return row["label"] or "-"
    from bot.cards.formatting import role_name  # noqa: PLC0415 - loads what a task is, which the other tables need not

    return role_name(row["key"])


def _cost(cost: float | None) -> str:
    return "" if cost is None else f"  {say('cli.usage.cost', cost=f'{cost:.4f}')}"
