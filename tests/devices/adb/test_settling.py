import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest
from PIL import Image, ImageDraw

from devices.adb.screenshots import Frame, Wanted
from devices.adb.settling import Probe, settle

SIZE = (540, 1200)


def screen(*boxes: tuple[int, int, int, int]) -> Image.Image:
    image = Image.new("RGB", SIZE, "#f0f0f0")
    draw = ImageDraw.Draw(image)
    for box in boxes:
        draw.rectangle(box, fill="#202020")
    return image


def same(one: Image.Image, other: Image.Image) -> bool:
    return Probe.of(one).same_as(Probe.of(other))


def test_what_counts_as_a_change() -> None:
    assert same(screen(), screen())
    assert not same(screen(), screen((100, 400, 140, 420))), "a switch"
    assert not same(screen(), screen((100, 400, 115, 425))), "a letter"
    assert not same(screen(), screen((0, 400, 540, 402))), "a line"
    assert not same(screen(), screen().resize((1200, 540))), "a turn"


def test_clock_and_caret_are_no_change() -> None:
    assert same(screen(), screen((20, 5, 100, 40))), "the status bar"
    assert same(screen(), screen((200, 400, 203, 450))), "a caret"


class Camera:
    """Gives these pictures, the last one again and again."""

    def __init__(self, *images: Image.Image, whole: bool = False) -> None:
        self._images: Iterator[Image.Image] = iter(images)
        self._last = images[-1]
        self._whole = whole
        """Whether each frame is whole, wanted or not, as a PNG is."""
        self.taken = 0

    async def capture(self, wanted: Wanted) -> Frame:
        self.taken += 1
        self._last = next(self._images, self._last)
        frame = Frame.of(self._last)
        return frame if self._whole or wanted(frame.thumbnail, frame.size) else replace(frame, image=None)


A, B, C = screen(), screen((0, 300, 540, 600)), screen((0, 700, 540, 900))


async def test_the_frame_that_agrees_with_the_one_before_is_returned() -> None:
    camera = Camera(A, B, C, C)
    rest = await settle(camera.capture, Probe.of(A), first_change=5, patience=9)
    assert rest.settled
    assert rest.frame.image is C
    assert camera.taken == 4


@pytest.mark.parametrize("whole", [False, True])
async def test_an_input_without_effect_is_waited_for_only_shortly(whole: bool) -> None:
    camera = Camera(A, whole=whole)
    rest = await settle(camera.capture, Probe.of(A), first_change=0.15, patience=9)
    assert rest.settled
    assert rest.frame.image is A
    assert 2 <= camera.taken <= 4


async def test_a_screen_that_never_rests_is_given_up() -> None:
    camera = Camera(*[B, C] * 50)
    rest = await settle(camera.capture, Probe.of(A), first_change=0.1, patience=0.3)
    assert not rest.settled
    assert rest.frame.image is not None
    assert camera.taken < 8


async def test_what_the_camera_raises_is_passed_on() -> None:
    async def broken(_wanted: Wanted) -> Frame:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await settle(broken, Probe.of(A), first_change=1, patience=1)


async def test_a_glance_ends_at_the_first_frame_that_shows_a_change() -> None:
    camera = Camera(B, C, C)
    rest = await settle(camera.capture, Probe.of(A), first_change=5, patience=9, glance=True)
    assert not rest.settled
    assert rest.frame.image is B
    assert camera.taken == 1


async def test_a_glance_at_nothing_new_goes_on_until_the_screen_rests() -> None:
    """A change that comes late is in full swing: it is not returned at once."""
    camera = Camera(A, B, C, C)
    told: list[tuple[bool, bool]] = []
    rest = await settle(
        camera.capture,
        Probe.of(A),
        first_change=5,
        patience=9,
        glance=True,
        shown=lambda frame, new: told.append((frame.image is None, new)),
    )
    assert rest.settled
    assert rest.frame.image is C
    assert told == [(True, False), (False, True), (False, True)]


@pytest.mark.usefixtures("virtual_time")
async def test_the_second_of_a_pair_begins_before_the_first_has_come() -> None:
    """So a screen that stands still is known after one frame and a gap, and one that moves is looked at further."""
    loop, begun = asyncio.get_running_loop(), list[float]()

    def slow(*images: Image.Image) -> Callable[[Wanted], Awaitable[Frame]]:
        camera = Camera(*images, whole=True)

        async def capture(wanted: Wanted) -> Frame:
            begun.append(loop.time())
            frame = await camera.capture(wanted)
            await asyncio.sleep(0.25)
            return frame

        return capture

    began = loop.time()
    rest = await settle(slow(B), Probe.of(A), first_change=5, patience=9, paired=True, clock=loop.time)
    assert rest.settled
    assert loop.time() - began < 0.4
    assert begun[1] - begun[0] > 0.099  # the loop wakes a timer early by up to the resolution of its clock
    begun.clear()
    rest = await settle(slow(B, C), Probe.of(A), first_change=5, patience=9, paired=True, clock=loop.time)
    assert rest.settled
    assert rest.frame.image is C
    assert len(begun) == 3


async def test_of_a_pair_that_cannot_be_taken_both_are_ended() -> None:
    async def broken(_wanted: Wanted) -> Frame:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await settle(broken, Probe.of(A), first_change=1, patience=1, paired=True)
    assert asyncio.all_tasks() == {asyncio.current_task()}
