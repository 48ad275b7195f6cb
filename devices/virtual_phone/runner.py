"""Runs virtual phones until Ctrl-C: starts them, tells where they are, and connects an adb server to them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from contextlib import AsyncExitStack

from devices.adb import host
from devices.adb.server import ServerAddress, ensure_running
from devices.errors import PhoneError
from devices.virtual_phone.control import Control
from devices.virtual_phone.options import LOCAL_ADB, density_for
from devices.virtual_phone.phone import VirtualPhone


async def run(options: argparse.Namespace, *, adb: tuple[str, int] = LOCAL_ADB) -> None:
    """Serves the phones of `add_options` until SIGINT or SIGTERM, or for a service until its input closes; `adb` is the
    server when none was named.

    Raises OSError when a port is taken or the state's folder cannot be used.
    """
    end = asyncio.Event()
    if options.until_input_closes:
        # Ctrl-C at the service's terminal comes here too, and the service has still to put its phones back.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _watch_input(end)
    else:
        _end_when_asked(end)
    async with AsyncExitStack() as stack:
        phones = [await _start(stack, options, number) for number in range(1, options.count + 1)]
        if not options.no_connect:
            server = ServerAddress(*(options.adb or adb))
            await _connect(server, phones)
            stack.push_async_callback(_disconnect, server, phones)
        if not options.json:
            _say("Ctrl-C ends the phones.")
        await end.wait()


async def _start(stack: AsyncExitStack, options: argparse.Namespace, number: int) -> VirtualPhone:
    name = f"virtual-{number}"
    phone = VirtualPhone(
        name,
        number=number,
        size=options.size,
        density=options.density or density_for(options.size),
        seed=options.seed,
        locale=options.language,
        dark=options.dark,
        faults=dict(options.fault),
        port=options.port + number - 1 if options.port else 0,
        state_file=options.state / f"{name}.json" if options.state else None,
    )
    await stack.enter_async_context(phone)
    control = Control(phone)
    await control.start(options.control_port + number - 1 if options.control_port else 0)
    stack.push_async_callback(control.stop)
    if options.json:
        _say(json.dumps({"name": phone.name, "address": phone.address, "control": control.url}))
    else:
        _say(f"{phone.name}: adb connect {phone.address}   control: {control.url}")
    return phone


async def _connect(server: ServerAddress, phones: list[VirtualPhone]) -> None:
    """Connects the adb server. Without one the phones run all the same: somebody else may come."""
    problem = ""
    try:
        await ensure_running(server)
        refused = [phone.address for phone in phones if not await host.connect(server, phone.address)]
        if refused:
            problem = f"The adb server at {server} does not connect to {', '.join(refused)}."
    except PhoneError as failure:
        problem = str(failure)
    if problem:
        sys.stderr.write(f"Not connected: {problem} The phones run; connect with the lines above.\n")


async def _disconnect(server: ServerAddress, phones: list[VirtualPhone]) -> None:
    """Takes the phones off the server's list, where they would stay as offline."""
    with contextlib.suppress(PhoneError):
        for phone in phones:
            await host.ask(server, f"host:disconnect:{phone.address}")


def _end_when_asked(end: asyncio.Event) -> None:
    """Ctrl-C and SIGTERM set it. Where the loop takes no signals, as on Windows, Ctrl-C is a KeyboardInterrupt."""
    with contextlib.suppress(NotImplementedError):
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, end.set)


def _watch_input(closed: asyncio.Event) -> None:
    """Sets the event when standard input closes, as it does when the process that started this one ends.

    A thread reads, since asyncio cannot wait for a file or /dev/null; it never keeps the process alive.
    """
    loop = asyncio.get_running_loop()

    def read() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        with contextlib.suppress(RuntimeError):  # the loop has ended first
            loop.call_soon_threadsafe(closed.set)

    threading.Thread(target=read, name="standard input", daemon=True).start()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
