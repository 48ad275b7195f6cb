"""The `opengui service install` and `uninstall` commands: show what would be done, and do it with `--apply`."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.installing.plan import Where, install, uninstall
from bot.cli.installing.steps import Failed, State, Step
from bot.config.settings import Settings
from bot.texts import say

MARKS = {State.RIGHT: "=", State.MISSING: "+", State.CHANGED: "!", State.SKIPPED: "-"}


async def service(options: argparse.Namespace, settings: Settings) -> int:
    """Print one line per step. The exit code is 0 unless a step failed."""
    # The settings file is taken over as it is written.
    return await asyncio.to_thread(_service, options, settings.file)


def _service(options: argparse.Namespace, env: Path) -> int:
    where = Where(Path(options.root).absolute(), options.overwrite)
    try:
        steps = install(where, env) if options.what == "install" else uninstall(where)
        if options.apply and not where.elsewhere and os.geteuid() != 0:
            print(say("install.root"))
            return UNAVAILABLE
        left = _carry_out(steps, apply=options.apply, overwrite=options.overwrite)
    except Failed as failed:
        print(say("install.failed", why=failed))
        return UNAVAILABLE
    if left:
        print(say("install.left", number=left))
    if not options.apply:
        print(say("install.nothing"))
    elif where.elsewhere:
        print(say("install.elsewhere", root=options.root))
    elif options.what == "install":
        print(say("install.done"))
    else:
        print(say("install.undone"))
    return OK


def _carry_out(steps: Sequence[Step], *, apply: bool, overwrite: bool) -> int:
    """Show and, with `apply`, carry out the steps; returns how many changed files were left alone. Raises Failed at the
    first step that fails.
    """
    left = 0
    for step in steps:
        state = step.look()
        standing = "" if state is State.MISSING else f" ({say(f'install.state.{state.value}')})"
        print(f"{MARKS[state]} {step.text}{standing}")
        left += state is State.CHANGED and not overwrite
        if apply and state in {State.MISSING, State.CHANGED}:
            step.do()
    return left
