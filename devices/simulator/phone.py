"""The virtual phone: state, screen, shell and adb daemon in one."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from PIL import Image

from devices.geometry import Size
from devices.simulator.adbd import AdbDaemon, Identity, LinkState
from devices.simulator.faults import Faults
from devices.simulator.files import Files
from devices.simulator.frame import Frame
from devices.simulator.journal import Journal
from devices.simulator.services import find_service


DEFAULT_SIZE = Size(1080, 2400)


class VirtualPhone:
    """One phone. `async with VirtualPhone() as phone:` starts and stops it."""

    def __init__(self, name: str = "virtual-1", *, size: Size = DEFAULT_SIZE, port: int = 0) -> None:
        self.name = name
        self.size = size
        self.files = Files()
        self.journal = Journal()
        self.faults = Faults()
        self._port = port
        self._adbd = AdbDaemon(
            Identity("virtual", "Virtual_Phone", "virtual"), lambda service: find_service(self, service)
        )

    @property
    def address(self) -> str:
        """Where `adb connect` finds it."""
        return f"127.0.0.1:{self._adbd.port}"

    async def __aenter__(self) -> Self:
        await self._adbd.start(self._port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._adbd.stop()

    async def frame(self) -> Frame:
        """The screen now."""
        return await asyncio.to_thread(lambda: Frame(Image.new("RGB", (self.size.width, self.size.height), "#204060")))

    async def set_link(self, state: LinkState) -> None:
        """Makes the phone unauthorized, offline, gone or open again."""
        await self._adbd.change(state)
