"""Makes the pictures of the documents: a real service, a virtual phone, the offline pilot and a real browser.

`.venv/bin/python docs/pictures/make.py` writes them beside this file. Needs Chromium and `make test`'s environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, STDOUT, Process, create_subprocess_exec
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.async_api import Page, ViewportSize, async_playwright, expect

from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.apps.browser import search
from devices.virtual_phone.phone import VirtualPhone

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
TASK = "do --device Kitchen open browser and search OpenGUI, then tap the first result, then go back"
DESKTOP, LOW = ViewportSize(width=1440, height=900), ViewportSize(width=1200, height=620)
SMALL = ViewportSize(width=1000, height=560)
NARROW = ViewportSize(width=390, height=844)
START_S, RUN_S = 60.0, 120.0
SLOW_MS = 4000
REPLAYED = 2
"""Steps forward in the replay, to one with a touch."""
MORNING = datetime(2025, 5, 14, 9, 41).astimezone()
LARGEST = 400_000
"""Bytes of one picture: a README should open quickly on a phone, too."""


async def main() -> None:
    """The phone by itself, then the console in the middle of a task, and its pages when that is done."""
    await phone_screens()
    await new_phone()
    async with (
        VirtualPhone() as phone,
        VirtualPhone(number=2, clock=lambda: MORNING) as other,
        service({phone.address: "Kitchen", other.address: "Office"}) as (process, address),
        async_playwright() as playwright,
    ):
        # Chromium's own sandbox needs rights that containers do not give.
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page(viewport=DESKTOP, color_scheme="light", locale="en-GB")
        await page.goto(address)
        await expect(page.locator("#link")).to_have_text("Connected")
        for name in ("Kitchen", "Office"):
            await expect(page.locator("#phone-list")).to_contain_text(name, timeout=RUN_S * 1000)
        # A virtual phone is quicker than any eye: this one takes its time to answer.
        phone.faults.set(input_ms=SLOW_MS)
        await page.get_by_label("Command", exact=True).fill(TASK)
        await page.keyboard.press("Enter")
        await expect(page.locator("#task-list")).to_contain_text("step 3", timeout=RUN_S * 1000)
        await expect(page.locator("#stage")).to_contain_text("3 steps")
        await expect(page.locator("#stage img")).to_be_visible()
        # The service stands still for a moment, so that all pictures show the same one.
        process.send_signal(signal.SIGSTOP)
        try:
            await shoot(page, "console.png")
            await page.emulate_media(color_scheme="dark")
            await shoot(page, "console-dark.png")
            await page.emulate_media(color_scheme="light")
            await page.set_viewport_size(NARROW)
            await shoot(page, "console-phone.png")
        finally:
            process.send_signal(signal.SIGCONT)
        await page.set_viewport_size(DESKTOP)
        await expect(page.locator("#badge")).to_contain_text("succeeded", timeout=RUN_S * 1000)
        assert phone.truth.searches == ("OpenGUI",)
        await page.get_by_role("link", name="Replay").click()
        await expect(page.locator("#view .screen img")).to_be_visible()
        for _ in range(REPLAYED):
            await page.keyboard.press("ArrowRight")
        await expect(page.locator("#view .screen circle").first).to_be_visible()
        await shoot(page, "console-replay.png")
        other.windows.launch("shop")
        other.changed()
        await page.set_viewport_size(LOW)
        await page.evaluate("location.hash = '#phones'")
        await expect(page.locator("#view .phone img")).to_have_count(2)
        await shoot(page, "console-phones.png")
        await browser.close()


async def new_phone() -> None:
    """The page of phones while a new one waits for its question to be answered, and once it is."""
    async with VirtualPhone(clock=lambda: MORNING) as phone, async_playwright() as playwright:
        await phone.set_link(LinkState.UNAUTHORIZED)
        async with service({phone.address: "My phone"}) as (_, address):
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = await browser.new_page(viewport=SMALL, color_scheme="light", locale="en-GB")
            await page.goto(address)
            await page.evaluate("location.hash = '#phones'")
            await expect(page.locator("#view .phone")).to_contain_text("unauthorized", timeout=RUN_S * 1000)
            await shoot(page, "phone-waiting.png")
            await phone.set_link(LinkState.OPEN)
            await expect(page.locator("#view .phone img")).to_be_visible(timeout=RUN_S * 1000)
            await shoot(page, "phone-ready.png")
            await browser.close()


async def shoot(page: Page, name: str) -> None:
    """One picture of the page; fails when the start token could be read in it."""
    words = await page.evaluate("document.body.innerText")
    assert not re.search(r"token=|[\w-]{40,}", words), "the page shows something that looks like a token"
    write(await page.screenshot(animations="disabled"), name)


async def phone_screens() -> None:
    """Three screens of the virtual phone, side by side."""
    screens = []
    async with VirtualPhone(clock=lambda: MORNING) as phone:
        screens.append(await phone.encoded(png=True))
        phone.windows.launch("browser")
        search(phone.windows, "OpenGUI")
        screens.append(await phone.encoded(png=True))
        phone.windows.launch("shop")
        screens.append(await phone.encoded(png=True))
    write(side_by_side(screens), "phone.png")


def side_by_side(screens: list[bytes], height: int = 900, gap: int = 36, radius: int = 32) -> bytes:
    """The screens at this height, with round corners, on nothing."""
    shown = [Image.open(io.BytesIO(screen)).convert("RGB") for screen in screens]
    shown = [image.resize((image.width * height // image.height, height), Image.Resampling.LANCZOS) for image in shown]
    ground = Image.new("RGBA", (sum(image.width for image in shown) + gap * (len(shown) - 1), height))
    left = 0
    for image in shown:
        mask = Image.new("L", image.size)
        ImageDraw.Draw(mask).rounded_rectangle((0, 0, image.width - 1, image.height - 1), radius, fill=255)
        ground.paste(image, (left, 0), mask)
        left += image.width + gap
    buffer = io.BytesIO()
    ground.save(buffer, "PNG")
    return buffer.getvalue()


def write(png: bytes, name: str) -> None:
    """The picture, as small as it gets; what has no see-through corners has a palette of 256 colours."""
    buffer = io.BytesIO()
    image: Image.Image = Image.open(io.BytesIO(png))
    if image.mode != "RGBA":
        image = image.quantize(256, dither=Image.Dither.NONE)
    image.save(buffer, "PNG", optimize=True)
    assert buffer.tell() < LARGEST, f"{name} has {buffer.tell()} bytes"
    (HERE / name).write_bytes(buffer.getvalue())
    print(f"{name}: {buffer.tell() // 1000} kB")


@asynccontextmanager
async def service(phones: Mapping[str, str]) -> AsyncIterator[tuple[Process, str]]:
    """A service with these phones, by address with their names, and nothing else; and the address of its console."""
    port = free_port()
    with tempfile.TemporaryDirectory() as directory:
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
        settings = {
            "PYTHONPATH": str(REPOSITORY),
            "ANDROID_ADB_SERVER_PORT": str(port),
            "ANDROID_SERIALS": ",".join(phones),
            "PHONE_NAMES": ",".join(f"{serial}={name}" for serial, name in phones.items()),
            "VIRTUAL_PHONES": "0",
            "CONSOLE_PORT": "0",
            "DATA_DIR": str(Path(directory) / "data"),
        }
        process = await create_subprocess_exec(
            sys.executable, "-m", "bot.cli", "run", cwd=directory, env={**kept, **settings}, stdout=PIPE, stderr=STDOUT
        )
        try:
            async with asyncio.timeout(START_S):
                address = await console_of(process)
            draining = asyncio.create_task(drained(process))
            yield process, address
            process.send_signal(signal.SIGTERM)
            await process.wait()
            await draining
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            await kill_adb_server(port)


async def console_of(process: Process) -> str:
    """The address that the service prints, once it is ready."""
    assert process.stdout is not None
    address = ""
    while line := (await process.stdout.readline()).decode():
        if line.startswith("Console: "):
            address = line.removeprefix("Console: ").strip()
        if "Ready." in line:
            return address
    raise RuntimeError("the service ended before it was ready")


async def drained(process: Process) -> None:
    """Reads on, so that the service never waits for its reader."""
    assert process.stdout is not None
    while await process.stdout.readline():
        pass


async def kill_adb_server(port: int) -> None:
    """Ends the adb server that the service began; it would live on for others."""
    with contextlib.suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"0009host:kill")
        await writer.drain()
        writer.close()


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    asyncio.run(main())
