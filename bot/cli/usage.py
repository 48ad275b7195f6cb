"""`opengui usage`: what the tasks of the last days took."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from bot.cli.exits import OK
from bot.cli.remote import running_service
from bot.settings import Settings
from bot.store.directory import DataDirectory
from bot.store.store import Store
from bot.store.usage import UsageBy
from bot.tasks.views import usage_json
from bot.zones import last_days, zone_named


async def usage(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the running service, or read the data directory."""
    rows = await _rows(settings, options.by, options.days)
    for row in rows:
        print(json.dumps(row, ensure_ascii=False) if options.json else _line(row))
    if not rows and not options.json:
        print("No tasks in that time.")
    return OK


async def _rows(settings: Settings, by: str, days: int) -> list[dict[str, Any]]:
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            return await remote.usage(by, days)
    zone = zone_named(settings.time_zone)
    begin, end = last_days(days, time.time(), zone)
    with DataDirectory(settings.data_dir):
        store = await Store.open(settings.data_dir)
        try:
            return [usage_json(row) for row in await store.usage.grouped(UsageBy(by), begin, end, zone)]
        finally:
            await store.close()


def _line(row: dict[str, Any]) -> str:
    tokens = row["tokens"]
    cost = "" if tokens["cost"] is None else f"  cost {tokens['cost']:.4f}"
    used = f"{row['tasks']:>5} tasks  {row['steps']:>6} steps  {row['seconds'] / 60:>7.1f} min"
    line = f"{row['label'] or '-':<24}  {used}  {tokens['input'] + tokens['output']:>10} tokens{cost}"
    voice = row["voice"]
    if not voice["notes"]:
        return line
    spoken = "" if voice["cost"] is None else f"  cost {voice['cost']:.4f}"
    return f"{line}\n{'':<24}  {voice['notes']:>5} voice notes  {voice['seconds'] / 60:>7.1f} min{spoken}"
