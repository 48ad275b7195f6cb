"""`opengui schedules`: what is given again at set times; and how it is paused, resumed, revoked or removed."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from bot.cli.control import given_to_any
from bot.cli.exits import OK
from bot.cli.remote import running_service
from bot.cli.terminal import padded
from bot.config.settings import Settings
from bot.texts import say


async def schedules(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the running service, or read the data directory. Raises Refused for a change that is not done."""
    if options.change:
        return await given_to_any("schedules", " ".join(options.change), settings)
    rows = await _rows(settings)
    for row in rows:
        print(json.dumps(row, ensure_ascii=False) if options.json else _line(row))
    if not rows and not options.json:
        print(say("cli.schedules.none"))
    return OK


async def _rows(settings: Settings) -> list[dict[str, Any]]:
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            return await remote.schedules()
    # Here and not above: who asks a service reads no database.
    from bot.store.directory import DataDirectory  # noqa: PLC0415 - see above
    from bot.store.store import Store  # noqa: PLC0415 - see above
    from bot.views.tasks import schedule_json  # noqa: PLC0415 - see above

    with DataDirectory(settings.data_dir):
        store = await Store.open(settings.data_dir)
        try:
            return [schedule_json(one) for one in await store.schedules.all()]
        finally:
            await store.close()


def _line(row: dict[str, Any]) -> str:
    due = datetime.fromtimestamp(row["due"], ZoneInfo(row["zone"]))
    when = say("cli.schedules.paused") if row["paused"] else f"{due:%Y-%m-%d %H:%M} ({row['zone']})"
    text = " ".join(row["text"].split())[:80]
    if row["watch"] is not None:
        # Here and not above: few lists have one.
        from bot.cards.watch import watch_line  # noqa: PLC0415 - see above
        from bot.domain.watch import Watch  # noqa: PLC0415 - see above

        text += f" → {watch_line(Watch.model_validate(row['watch']))}"
    return f"{row['schedule']:>5}  {padded(when, 32)}  {padded(row['rule'], 24)}  {row['person']}: {text}"
