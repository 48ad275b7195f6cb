"""The commands `opengui tasks`, `show` and `usage`, which print the latest tasks, one task with its steps, and what the
tasks of the last days used.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from textwrap import indent
from typing import Any

from agent.run import Outcome
from bot.cli.control import own_store
from bot.cli.exits import OK, Refused
from bot.cli.remote import running_service
from bot.cli.terminal import STYLE_OF, Style, Styled, padded, print_rows, print_styled
from bot.config.settings import Settings
from bot.domain.address import on_one_line
from bot.domain.locale import last_days, zone_named
from bot.texts import say


async def tasks(options: argparse.Namespace, settings: Settings) -> int:
    """List the tasks from the running service or the data directory. Returns the exit code. Raises ServiceGone,
    SettingsError and StoreError.
    """
    rows = (await _task_rows(settings, options.limit))[: options.limit]
    return print_rows(rows, _task_line, say("cli.tasks.none"), as_json=options.json)


def _task_line(row: dict[str, Any]) -> str:
    state = padded(say(f"page.standing.{row['outcome'] or row['state']}"), 11)
    return f"{row['task']:>5}  {state}  {' '.join(row['text'].split())[:80]}"


async def _task_rows(settings: Settings, limit: int) -> list[dict[str, Any]]:
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            return await remote.tasks()
    # Imported here so that asking a service loads no database.
    from bot.views.tasks import task_json  # noqa: PLC0415 - see above

    async with own_store(settings) as store:
        return [task_json(task) for task in await store.tasks.recent(limit)]


async def show(options: argparse.Namespace, settings: Settings) -> int:
    """Print a task from the running service or the data directory. Returns the exit code. Raises Refused if the task
    does not exist; also ServiceGone, SettingsError and StoreError.
    """
    task, steps = await _found(options.task, settings)
    if options.json:
        print(json.dumps(task | {"steps": steps}, ensure_ascii=False))
        return OK
    standing = task["outcome"] or task["state"]
    style = STYLE_OF[Outcome(task["outcome"])] if task["outcome"] else Style.DIM
    state = Styled(say(f"page.standing.{standing}"), style)
    print_styled(f"{say('cli.do.task', task=task['task'])}  ", state, f"  {task['phone_name']}".rstrip())
    print(f"  {on_one_line(' '.join(task['text'].split()))}")
    summary, data = task["summary"] or "", task["data"] or ""
    if steps and steps[-1]["summary"] == summary:
        steps = steps[:-1]  # it repeats the result, which is printed below
    for step in steps:
        where = f"{step['phone']}: " if step["part"] else ""
        what = on_one_line(step["summary"])
        done = say("page.replay.denied", what=what) if step["denied"] else what
        print(f"{step['step']:>3}  {where}{done}")
    for text in (summary, "" if data in summary else data):
        if text:
            print(indent(text, "  "))
    return OK


async def _found(wished: str, settings: Settings) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            name = wished or next((row["task"] for row in await remote.tasks()), "")
            if not name:
                raise Refused(say("cli.tasks.none"))
            return await remote.task(name)
    # Imported here so that asking a service loads no database.
    from bot.views.tasks import step_json, task_json  # noqa: PLC0415 - see above

    async with own_store(settings) as store:
        latest = await store.tasks.recent(1)
        task = await store.tasks.get(wished) if wished else next(iter(latest), None)
        if task is None:
            raise Refused(say("page.task.unknown") if wished else say("cli.tasks.none"))
        rows = await store.steps.of(task.id)
    names = {row.app: row.app_shown for row in rows}
    return task_json(task), [step_json(row, names) for row in rows]


LABEL_CELLS = 24


async def usage(options: argparse.Namespace, settings: Settings) -> int:
    """Print the usage from the running service or the data directory. Returns the exit code. Raises ServiceGone,
    SettingsError and StoreError.
    """
    rows = await _usage_rows(settings, options.by, options.days)
    return print_rows(rows, partial(_line, by=options.by), say("cli.usage.none"), as_json=options.json)


async def _usage_rows(settings: Settings, by: str, days: int) -> list[dict[str, Any]]:
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
