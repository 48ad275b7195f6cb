"""The services of the phone that an adb server can open: shell, exec, sync, and those of uiautomator2's server.

Names and framing: AOSP packages/modules/adb/SERVICES.TXT and shell_protocol.h.
"""

from __future__ import annotations

import asyncio
import struct

from devices.adb.ownership import AGAIN_AFTER, HELD, HOLD, TAKEN
from devices.virtual_phone.adbd import Service
from devices.virtual_phone.device import Device
from devices.virtual_phone.happenings import reboot_soon
from devices.virtual_phone.protocol import Stream
from devices.virtual_phone.screenrecord import find_recording
from devices.virtual_phone.shell.call import ERR, OUT, Output
from devices.virtual_phone.shell.commands import COMMANDS
from devices.virtual_phone.shell.interpreter import Interpreter
from devices.virtual_phone.sync import serve_sync
from devices.virtual_phone.uiautomator_server import find_automation

# ShellProtocol::Id in shell_protocol.h.
EXIT_ID = 3
PACKET = struct.Struct("<BI")


def find_service(phone: Device, name: str) -> Service | None:
    """Return the service with this name; None when the phone has none."""
    kind, _, argument = name.partition(":")
    flavour, *options = kind.split(",")

    async def shell(stream: Stream) -> None:
        code, output = await _run(phone, argument, flavour)
        if flavour == "shell" and "v2" in options:
            await stream.write(_packets(output, code))
        else:
            await stream.write(output.of(OUT, ERR))

    async def lock(stream: Stream) -> None:
        if phone.locked_by_service:
            await asyncio.sleep(AGAIN_AFTER)
        if phone.locked_by_service:
            await stream.write(TAKEN)
            return
        phone.locked_by_service = True
        try:
            await stream.write(HELD)
            await stream.read_exactly(1)
        finally:
            phone.locked_by_service = False

    async def sync(stream: Stream) -> None:
        await serve_sync(phone, stream)

    async def restart(_stream: Stream) -> None:
        reboot_soon(phone)

    if (automation := find_automation(phone, name)) is not None:
        return automation
    if (recording := find_recording(phone, name)) is not None:
        return recording
    if name == f"exec:{HOLD}":
        return lock
    if flavour in {"shell", "exec"} and argument:
        return shell
    if name == "sync:":
        return sync
    if name == "reboot:":
        return restart
    return None


async def _run(phone: Device, line: str, kind: str) -> tuple[int, Output]:
    """Run a line as the phone's faults allow, and the scenario events that are due before and after it."""
    await phone.moments.came(line)
    until = await phone.faults.before_command(line)
    answer = await Interpreter(phone, COMMANDS, kind).run(line)
    await asyncio.sleep(until - asyncio.get_running_loop().time())
    await phone.moments.passed(line)
    return answer


def _packets(output: Output, code: int) -> bytes:
    """Shell protocol packets: an id, a length and the bytes; at last the exit code."""
    packets = [PACKET.pack(descriptor, len(data)) + data for descriptor, data in output.chunks]
    return b"".join((*packets, PACKET.pack(EXIT_ID, 1), bytes([code & 0xFF])))
