"""Makes the moving picture of the README: one task in the console, from the first letter to the result, in both themes.

`.venv/bin/python docs/pictures/film.py` writes it beside this file. Needs Chromium and `make test`'s environment.
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from PIL import Image
from playwright.async_api import Page, ViewportSize, async_playwright, expect

from devices.virtual_phone.phone import VirtualPhone

sys.path.insert(0, str(Path(__file__).parent))
from make import CHROMIUM, HERE, RUN_S, service

TASK: Final = "open browser and search OpenGUI, then tap the first result"
SEEN: Final = ViewportSize(width=1200, height=750)
WIDTH: Final = 960
"""Pixels of the film; a README shows it at most as wide."""
STEP_MS: Final = 1500
"""A virtual phone is quicker than any eye: this one takes its time."""
FRAME_S: Final = 0.25
KEY_MS: Final = 45
STAYS_MS: Final = 4000
"""How long the result is shown before it begins anew."""
LARGEST: Final = 900_000
"""Bytes of one film: a README should open quickly on a phone, too."""


async def main() -> None:
    """A fresh service and phone for each theme."""
    themes: tuple[tuple[Literal["light", "dark"], str], ...] = (("light", "run.webp"), ("dark", "run-dark.webp"))
    for scheme, name in themes:
        async with (
            VirtualPhone() as phone,
            service({phone.address: "Pixel"}) as (_, address),
            async_playwright() as playwright,
        ):
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = await browser.new_page(viewport=SEEN, color_scheme=scheme, locale="en-GB")
            await page.goto(address)
            await expect(page.locator("#link")).to_have_text("Connected")
            await expect(page.locator("#phone-list")).to_contain_text("Pixel", timeout=RUN_S * 1000)
            phone.faults.set(input_ms=STEP_MS)
            await film(page, name)
            await browser.close()


async def film(page: Page, name: str) -> None:
    """What the page shows from the first letter until the result stands there."""
    loop = asyncio.get_running_loop()
    frames: list[Image.Image] = []
    times: list[float] = []

    async def take() -> None:
        words = await page.evaluate("document.body.innerText")
        assert not re.search(r"token=|[\w-]{40,}", words), "the page shows something that looks like a token"
        frame = Image.open(io.BytesIO(await page.screenshot())).convert("RGB")
        frame = frame.resize((WIDTH, frame.height * WIDTH // frame.width), Image.Resampling.LANCZOS)
        if not frames or frame.tobytes() != frames[-1].tobytes():
            frames.append(frame)
            times.append(loop.time())

    box = page.get_by_label("Command", exact=True)
    typing = asyncio.create_task(_typed(page))
    async with asyncio.timeout(RUN_S):
        while not (typing.done() and await page.locator("#badge").get_by_text("succeeded").count()):
            await take()
            await asyncio.sleep(FRAME_S)
    await expect(box).to_be_visible()
    await asyncio.sleep(1)
    await take()
    lasts = [max(20, int((after - before) * 1000)) for before, after in pairwise(times)] + [STAYS_MS]
    buffer = io.BytesIO()
    frames[0].save(
        buffer, "WEBP", save_all=True, append_images=frames[1:], duration=lasts, loop=0, quality=72, method=6
    )
    assert buffer.tell() < LARGEST, f"{name} has {buffer.tell()} bytes"
    (HERE / name).write_bytes(buffer.getvalue())
    print(f"{name}: {buffer.tell() // 1000} kB, {len(frames)} frames, {sum(lasts) // 1000} s")


async def _typed(page: Page) -> None:
    await page.get_by_label("Command", exact=True).press_sequentially(TASK, delay=KEY_MS)
    await page.keyboard.press("Enter")


if __name__ == "__main__":
    asyncio.run(main())
