"""The services that a host can open: shell, exec, sync, and those of uiautomator2's server.

Names and framing: AOSP packages/modules/adb/SERVICES.TXT and shell_protocol.h.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from devices.simulator.adbd import Service
from devices.simulator.rebooting import reboot_soon
from devices.simulator.shell.call import ERR, OUT, Output
from devices.simulator.shell.commands import COMMANDS
from devices.simulator.shell.interpreter import Interpreter
from devices.simulator.stream import Stream
from devices.simulator.sync import serve_sync

if TYPE_CHECKING:
    from devices.simulator.phone import VirtualPhone

# ShellProtocol::Id in shell_protocol.h.
EXIT_ID = 3
PACKET = struct.Struct("<BI")


def find_service(phone: VirtualPhone, name: str) -> Service | None:
    """The service that the host asked for, None when the phone has none of that name."""
    kind, _, argument = name.partition(":")
    flavour, *options = kind.split(",")

    async def shell(stream: Stream) -> None:
        code, output = await _run(phone, argument, flavour)
        if flavour == "shell" and "v2" in options:
            await stream.write(_packets(output, code))
        else:
            await stream.write(output.of(OUT, ERR))

    async def sync(stream: Stream) -> None:
        await serve_sync(phone, stream)

    async def restart(_stream: Stream) -> None:
        reboot_soon(phone)

    if (automation := phone.uiautomator.find(name)) is not None:
        return automation
    if flavour in {"shell", "exec"} and argument:
        return shell
    if name == "sync:":
        return sync
    if name == "reboot:":
        return restart
    return None


async def _run(phone: VirtualPhone, line: str, kind: str) -> tuple[int, Output]:
    """Runs a line as the phone's faults allow, and what was to happen after it."""
    await phone.moments.came(line)
    await phone.faults.before_command(line)
    answer = await Interpreter(phone, COMMANDS, kind).run(line)
    await phone.moments.passed(line)
    return answer


def _packets(output: Output, code: int) -> bytes:
    """Shell protocol packets: an id, a length and the bytes; at last the exit code."""
    packets = [PACKET.pack(descriptor, len(data)) + data for descriptor, data in output.chunks]
    return b"".join((*packets, PACKET.pack(EXIT_ID, 1), bytes([code & 0xFF])))
