"""The program `screenrecord --output-format=h264 … -`: writes the screen as H.264 to standard output, a picture
whenever it has changed.

As in AOSP frameworks/av/cmds/screenrecord/screenrecord.cpp, the size stays when the phone is rotated, and the screen
is shown smaller inside it; a secure window is black. It needs PyAV (`pip install av`), and does not exist without it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
from fractions import Fraction
from functools import partial

from PIL import Image, ImageOps

from devices.virtual_phone.adbd import Service
from devices.virtual_phone.device import Device
from devices.virtual_phone.protocol import Stream

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
