"""The `opengui host` command: lets this computer's phones work for a hub on another computer."""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import sys

from bot.cli.exits import OK, UNAVAILABLE, USAGE
from bot.config.installation import lack_of
from bot.config.settings import Settings
from bot.fleet.messages import HOST_KEYS
from bot.texts import ENGLISH, say, speaking
from bot.wiring.core import policy_of
from bot.wiring.memory import freeze_gc, tune_malloc
from devices.extras import Extra, is_installed
from devices.wording import said

_LINE = re.compile(r"(?P<url>(?:nats|tls|ws|wss)://[^#\s]+)#(?P<name>[a-z0-9-]{1,32})\.(?P<code>[\w-]{16,64})")


async def host(options: argparse.Namespace, settings: Settings) -> int:
    """Join the hub if `--join` is given, then work for it until a signal ends the process. Returns the exit code."""
    if not is_installed(Extra.FLEET):
        return _failed(said(lack_of(Extra.FLEET)), USAGE)
    from bot.fleet.assembly import host_keys, open_host  # noqa: PLC0415 - the engine's client is an extra
    from bot.fleet.engine import EngineAway  # noqa: PLC0415 - the same
    from bot.fleet.sign_in import JoinRefused, join  # noqa: PLC0415 - the same

    keys = host_keys(settings)
    if options.join:
        line = (await asyncio.to_thread(sys.stdin.readline)).strip() if options.join == "-" else options.join
        found = _LINE.fullmatch(line)
        if found is None:
            return _failed(say("fleet.join_form"), USAGE)
        try:
            keys = await join(found["url"], found["name"], found["code"])
        except JoinRefused as refused:
            return _failed(say("fleet.refused", why=refused), UNAVAILABLE)
        except EngineAway as away:
            return _failed(say("fleet.unreached", why=f"{away}."), UNAVAILABLE)
        keys.keep(settings.data_dir / HOST_KEYS)
        print(say("fleet.joined", name=keys.name), flush=True)
    if keys is None:
        return _failed(say("fleet.not_joined"), USAGE)
    tune_malloc()
    working = say("fleet.working", name=keys.name)
    with speaking(ENGLISH):
        async with open_host(settings, keys, policy_of(settings)) as made:
            freeze_gc()
            work = asyncio.create_task(made.run(ready=lambda: print(working, flush=True)))
            loop = asyncio.get_running_loop()
            for each in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(each, work.cancel)
            try:
                await work
            except asyncio.CancelledError:
                return OK
    return OK


def _failed(why: str, code: int) -> int:
    print(say("cli.failed", prog="opengui host", why=why), file=sys.stderr)
    return code
