"""The `opengui tasks` command: lists the latest tasks with their states."""

from __future__ import annotations

import argparse
import json
from typing import Any

from bot.cli.control import own_store
from bot.cli.exits import OK
from bot.cli.remote import running_service
from bot.cli.terminal import padded
from bot.config.settings import Settings
from bot.texts import say


async def tasks(options: argparse.Namespace, settings: Settings) -> int:
    """List the tasks from the running service or the data directory. Returns the exit code. Raises ServiceGone,
    SettingsError and StoreError.
    """
    rows = (await _rows(settings, options.limit))[: options.limit]
    for row in rows:
        if options.json:
            print(json.dumps(row, ensure_ascii=False))
        else:
            state = padded(say(f"page.standing.{row['outcome'] or row['state']}"), 11)
            print(f"{row['task']:>5}  {state}  {' '.join(row['text'].split())[:80]}")
    if not rows and not options.json:
        print(say("cli.tasks.none"))
    return OK


async def _rows(settings: Settings, limit: int) -> list[dict[str, Any]]:
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            return await remote.tasks()
    # Imported here so that asking a service loads no database.
    from bot.views.tasks import task_json  # noqa: PLC0415 - see above

    async with own_store(settings) as store:
        return [task_json(task) for task in await store.tasks.recent(limit)]
