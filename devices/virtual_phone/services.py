"""The services of the phone that an adb server can open: shell, exec, file transfer (sync), `screenrecord`, and those
of uiautomator2's server.

Source: AOSP packages/modules/adb/SYNC.TXT and file_sync_protocol.h. Numbers are little-endian and 32 bits wide.

As in AOSP frameworks/av/cmds/screenrecord/screenrecord.cpp, the size stays when the phone is rotated, and the screen
is shown smaller inside it; a secure window is black. It needs PyAV (`pip install av`), and does not exist without it.

Names and framing: AOSP packages/modules/adb/SERVICES.TXT and shell_protocol.h.
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
import struct
from fractions import Fraction
from functools import partial

from PIL import Image, ImageOps

from devices.adb.ownership import AGAIN_AFTER, HELD, HOLD, TAKEN
from devices.virtual_phone.adbd import Service, Stream
from devices.virtual_phone.device import Device
from devices.virtual_phone.files import FileRefused, Files
from devices.virtual_phone.happenings import reboot_soon
from devices.virtual_phone.shell.commands import COMMANDS
from devices.virtual_phone.shell.interpreter import ERR, OUT, Interpreter, Output
from devices.virtual_phone.uiautomator_server import find_automation

REQUEST = struct.Struct("<4sI")
STAT = struct.Struct("<4sIII")
ENTRY = struct.Struct("<4sIIII")
# SYNC_DATA_MAX in file_sync_protocol.h.
CHUNK = 64 * 1024
# The longest path that file_sync_service.cpp takes.
MAX_PATH_BYTES = 1024


async def serve_sync(phone: Device, stream: Stream) -> None:
    """Answer file requests until QUIT or the end of the stream. Faults and scenario events know a request as `sync
    SEND /path`.
    """
    files = phone.files
    while True:
        request, length = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
        if request == b"QUIT":
            return
        if length > MAX_PATH_BYTES:
            await _fail(stream, "path too long")
            return
        path = (await stream.read_exactly(length)).decode("utf-8", "surrogateescape")
        name = request.decode("ascii", "replace")
        line = f"sync {name} {path}"
        await phone.moments.happen_at(line, before=True)
        await phone.faults.hold(line)
        entry = phone.journal.add("sync", name, (name, path))
        await phone.moments.happen_at(line, before=False)
        match request:
            case b"STAT":
                await stream.write(STAT.pack(b"STAT", *files.stat(path)))
            case b"LIST":
                await _list(files, stream, path)
            case b"RECV":
                await _receive(files, stream, path)
            case b"SEND":
                await _send(files, stream, path)
            case _:
                await _fail(stream, f"unknown command {request!r}")
                return
        entry.code = 0


async def _list(files: Files, stream: Stream, path: str) -> None:
    for name in files.names(path):
        mode, size, when = files.stat(f"{path.rstrip('/')}/{name}")
        encoded = name.encode("utf-8", "surrogateescape")
        await stream.write(ENTRY.pack(b"DENT", mode, size, when, len(encoded)) + encoded)
    await stream.write(ENTRY.pack(b"DONE", 0, 0, 0, 0))


async def _receive(files: Files, stream: Stream, path: str) -> None:
    content = files.read(path)
    if content is None:
        await _fail(stream, "open failed: No such file or directory")
        return
    for start in range(0, len(content), CHUNK):
        part = content[start : start + CHUNK]
        await stream.write(REQUEST.pack(b"DATA", len(part)) + part)
    await stream.write(REQUEST.pack(b"DONE", 0))


async def _send(files: Files, stream: Stream, path_and_mode: str) -> None:
    path, _, _mode = path_and_mode.rpartition(",")
    content = bytearray()
    while True:
        kind, length = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
        if kind == b"DONE":
            break
        if kind != b"DATA" or length > CHUNK:
            await _fail(stream, "invalid data message")
            return
        content += await stream.read_exactly(length)
    try:
        files.write(path, bytes(content), modified=length)
    except FileRefused as problem:
        await _fail(stream, f"couldn't create file: {problem}")
        return
    await stream.write(REQUEST.pack(b"OKAY", 0))


async def _fail(stream: Stream, reason: str) -> None:
    encoded = reason.encode()
    await stream.write(REQUEST.pack(b"FAIL", len(encoded)) + encoded)


LOOK_S = 1 / 30
"""Seconds between two checks of the screen."""
LONGEST_S = 180.0
"""kMaxTimeLimitSec in screenrecord.cpp."""
_RECORDING = re.compile(r"(?:exec|shell[^:]*):(screenrecord .*--output-format=h264.* -)")


def find_recording(phone: Device, name: str) -> Service | None:
    """Return the service that records the screen if the name asks for it; None otherwise, or if the phone cannot
    record (the fault `no_recording`, or PyAV is missing).
    """
    found = _RECORDING.fullmatch(name)
    if found is None or phone.faults.no_recording or importlib.util.find_spec("av") is None:
        return None
    return partial(_record, phone, found[1])


async def _record(phone: Device, line: str, stream: Stream) -> None:
    entry = phone.journal.add("exec", line, tuple(line.split()))
    await phone.faults.before_command(line)
    options = dict(re.findall(r"--([a-z-]+)[ =](\S+)", line))
    screen = phone.scene().size
    width, height = map(int, options["size"].split("x")) if "size" in options else screen
    encoder = Encoder((width, height), int(options.get("bit-rate", 20_000_000)))
    loop = asyncio.get_running_loop()
    until = loop.time() + min(LONGEST_S, float(options.get("time-limit", LONGEST_S)))
    shown = None
    try:
        while loop.time() < until:
            frame = await phone.frame()
            if frame is not shown:
                shown = frame
                await stream.write(await asyncio.to_thread(encoder.encode, frame.image))
            await asyncio.sleep(LOOK_S)
    finally:
        entry.code = 0


class Encoder:
    """Encodes pictures as H.264, each fitted into `size` (width, height), with at most `bit_rate` bits per second."""

    def __init__(self, size: tuple[int, int], bit_rate: int) -> None:
        import av  # noqa: PLC0415 - only tests and developers have it

        self._size = size
        self._picture = av.VideoFrame.from_image
        self._codec = av.CodecContext.create("libx264", "w")
        self._codec.width, self._codec.height = size
        self._codec.pix_fmt = "yuv420p"
        self._codec.time_base = Fraction(1, 30)
        self._codec.bit_rate = bit_rate
        self._codec.options = {"preset": "ultrafast", "tune": "zerolatency", "profile": "baseline", "threads": "1"}
        self._count = 0

    def encode(self, image: Image.Image) -> bytes:
        """Return the picture as an H.264 access unit; the first one contains the parameter sets. Blocks for some 15
        ms.
        """
        frame = self._picture(ImageOps.pad(image.convert("RGB"), self._size))  # type: ignore[no-untyped-call]
        frame.pts = self._count
        self._count += 1
        return b"".join(bytes(packet) for packet in self._codec.encode(frame))


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
        return partial(serve_sync, phone)
    if name == "reboot:":
        return restart
    return None


async def _run(phone: Device, line: str, kind: str) -> tuple[int, Output]:
    """Run a line as the phone's faults allow, and the scenario events that are due before and after it."""
    await phone.moments.happen_at(line, before=True)
    until = await phone.faults.before_command(line)
    answer = await Interpreter(phone, COMMANDS, kind).run(line)
    await asyncio.sleep(until - asyncio.get_running_loop().time())
    await phone.moments.happen_at(line, before=False)
    return answer


def _packets(output: Output, code: int) -> bytes:
    """Shell protocol packets: an id, a length and the bytes; at last the exit code."""
    packets = [PACKET.pack(descriptor, len(data)) + data for descriptor, data in output.chunks]
    return b"".join((*packets, PACKET.pack(EXIT_ID, 1), bytes([code & 0xFF])))
