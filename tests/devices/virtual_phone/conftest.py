from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from devices.virtual_phone.ground_truth import GroundTruth
from devices.virtual_phone.phone import VirtualPhone
from tests.fixtures.adb import AdbServer

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@dataclass
class Hands:
    """Drives a virtual phone as a person with a terminal would: through the real adb."""

    phone: VirtualPhone
    adb: AdbServer

    def truth(self) -> GroundTruth:
        return self.phone.truth

    async def shell(self, line: str) -> tuple[int, str, str]:
        code, out, err = await self.adb.run("-s", self.phone.address, "shell", line)
        return code, out.decode(), err.decode()

    async def out(self, line: str) -> str:
        code, out, err = await self.shell(line)
        assert (code, err) == (0, ""), (line, code, out, err)
        return out

    async def nodes(self) -> list[dict[str, str]]:
        written = await self.out("uiautomator dump --compressed /dev/tty")
        return [node.attrib for node in ET.fromstring(written.rpartition("UI hier")[0].encode()).iter("node")]

    async def texts(self) -> list[str]:
        return [node["text"] or node["content-desc"] for node in await self.nodes()]

    async def tap(self, label: str) -> None:
        for node in await self.nodes():
            if label in {node["text"], node["content-desc"], node["resource-id"].rpartition("/")[2]}:
                left, top, right, bottom = map(int, re.findall(r"\d+", node["bounds"]))
                await self.out(f"input tap {(left + right) // 2} {(top + bottom) // 2}")
                return
        raise AssertionError(f"nothing is called {label!r} on this screen: {await self.texts()}")


@pytest.fixture
async def hands(adb_server: AdbServer) -> AsyncIterator[Hands]:
    async with VirtualPhone(clock=lambda: NOON) as phone:
        await adb_server.connect(phone.address)
        yield Hands(phone, adb_server)
        await adb_server.disconnect(phone.address)
