"""The `opengui show` command: prints one task, from its text through each step to its result."""

from __future__ import annotations

import argparse
import json
from textwrap import indent
from typing import Any

from agent.run import Outcome
from bot.cli.control import own_store
from bot.cli.exits import OK, Refused
from bot.cli.remote import running_service
from bot.cli.terminal import STYLE_OF, Style, Styled, print_styled
from bot.config.settings import Settings
from bot.domain.address import on_one_line
from bot.texts import say


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
