"""The recap: the marked steps as one moving picture, within its limits."""

from __future__ import annotations

import io
from dataclasses import replace
from uuid import uuid4

import pytest
from PIL import Image

from bot.cards.picture import RECAP_FRAMES, make_recap, spread
from bot.domain.task import StepRow
from tests.bot.records import a_step


class Screens:
    """Implements agent.ports.stores.Frames with what the test keeps."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def save(self, data: bytes, *, suffix: str) -> str:
        name = f"{uuid4().hex}{suffix}"
        self.kept[name] = data
        return name

    async def load(self, reference: str) -> bytes:
        return self.kept[reference]


def a_screen(shade: int, size: tuple[int, int] = (270, 600)) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", size, (shade % 256, 90, 200)).save(target, "PNG")
    return target.getvalue()


async def a_run(screens: Screens, length: int) -> list[StepRow]:
    return [
        replace(
            a_step(), step=number, frame=await screens.save(a_screen(number * 9), suffix=".png"), mark=(100, number * 8)
        )
        for number in range(1, length + 1)
    ]


async def test_each_step_is_a_frame_with_its_mark() -> None:
    screens = Screens()
    made = await make_recap(await a_run(screens, 5), screens)
    assert made is not None
    assert made.name == "recap.gif"
    with Image.open(io.BytesIO(made.data)) as gif:
        assert getattr(gif, "n_frames", 1) == 5
        shown = gif.convert("RGB")
        colours = [colour for _, colour in shown.getcolors(1 << 16) or []]
        assert any(isinstance(one, tuple) and one[0] > 180 for one in colours), "the ring"


async def test_a_long_run_is_spread_over_the_frames() -> None:
    steps = await a_run(Screens(), 60)
    chosen = spread(steps)
    assert len(chosen) == RECAP_FRAMES
    assert (chosen[0].step, chosen[-1].step) == (1, 60)


@pytest.mark.parametrize(("bytes_", "seconds"), [(500, 4.0), (3_000_000, 0.0)])
async def test_what_does_not_fit_is_left_out(bytes_: int, seconds: float) -> None:
    """Must fail without the comparison of bytes, and without the deadline: there was a recap."""
    screens = Screens()
    assert await make_recap(await a_run(screens, 6), screens, most_bytes=bytes_, seconds=seconds) is None


async def test_screens_that_are_not_kept_and_turned_phones_do_no_harm() -> None:
    screens = Screens()
    steps = await a_run(screens, 4)
    turned = replace(steps[0], frame=await screens.save(a_screen(40, (600, 270)), suffix=".png"))
    del screens.kept[steps[1].frame or ""]
    made = await make_recap([turned, *steps[1:]], screens)
    assert made is not None
    with Image.open(io.BytesIO(made.data)) as gif:
        assert getattr(gif, "n_frames", 1) == 3
    broken = replace(steps[2], frame=await screens.save(b"no picture", suffix=".png"))
    assert await make_recap([turned, broken], screens) is None
    assert await make_recap([turned, replace(turned, frame=None)], screens) is None
