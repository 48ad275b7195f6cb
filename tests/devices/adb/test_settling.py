from collections.abc import Iterator
from dataclasses import replace

import pytest
from PIL import Image, ImageDraw

from devices.adb.pictures import Frame, Wanted
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
        return frame if self._whole or wanted(frame.small, frame.size) else replace(frame, image=None)


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
