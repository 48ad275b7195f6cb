"""Moves sliders to a value by code: moves the thumb, reads the value, and corrects the position until it is right."""

from __future__ import annotations

from typing import Final

from agent.graph.executor.fingers import Fingers, Missed, Shown, together
from agent.guards.pickers import Slider, sliders_in
from agent.told_numbers import ToldNumber, number_in, numbers_in
from devices.geometry import Point
from devices.phone import Element

WHICH: Final = "There are several of them. Name one as the target."
NO_RANGE: Final = "Its range is not told. Give the value as a percentage."
_MOST_MOVES: Final = 8
_SLIDE_MS: Final = 600
_NEAR: Final = 3
"""How many slider heights away its words may be."""


async def set_slider(f: Fingers, slider: Slider, values: tuple[ToldNumber, ...], target: Element | None) -> Shown:
    """Move a slider to one value, or its two thumbs to the two values of a range. `target` is the thumb meant if there
    are several. Raises Missed and what `Fingers.tap` raises.
    """
    thumbs = slider.thumbs
    if len(values) == 1:
        ends = [n for n, thumb in enumerate(thumbs) if target is not None and thumb.bounds == target.bounds]
        if len(thumbs) > 1 and not ends:
            raise Missed(WHICH)
        return await _slide(f, slider, ends[0] if ends else 0, values[0])
    if len(thumbs) != len(values):
        raise Missed("It has one value, not two.")
    low, high = sorted(values, key=lambda each: each.value)
    now = _reading(f, slider, 1)
    # The end that moves away from the other goes first, so that they do not block each other.
    order = ((1, high), (0, low)) if now is None or high.value >= now.value else ((0, low), (1, high))
    shown = {n: await _slide(f, slider, n, value) for n, value in order}
    return together("-", shown[0], shown[1])


async def _slide(f: Fingers, slider: Slider, thumb: int, wanted: ToldNumber) -> Shown:
    """Move the thumb, read the value, and move again accordingly until it is right."""
    here, value = _again(f, slider), wanted.value
    known: dict[int, float] = {}
    for n, each in enumerate(here.thumbs):
        if (told := _reading(f, here, n)) is not None and told.percent >= wanted.percent:
            known[_along(here, each.bounds.centre)] = told.value
    told, at = _reading(f, here, thumb), None
    if here.thumbs:
        at = _along(here, here.thumbs[thumb].bounds.centre)
    if told is None and not wanted.percent and not 0 <= value <= 100:
        raise Missed(NO_RANGE)
    low, high = _ends(here)
    for _ in range(_MOST_MOVES):
        read = told.value if told is not None and told.percent >= wanted.percent else None
        if told is not None and read is not None and abs(read - value) < 0.5 * (not value % 1) + 0.01:
            return Shown(str(told), read == value)
        goal = _goal(here, known, value)
        rising = 1 if value > (value if read is None else read) else -1
        while goal in known and low < goal + rising < high:
            goal += rising  # the next pixel, because the calculated one is where it already was
        start = at if at is not None else _away(here, goal)
        await f.swipe(_point(here, start), _point(here, goal), _SLIDE_MS)
        here, before = _again(f, slider), told
        told = _reading(f, here, thumb)
        if told is not None and told == before and at is None:  # it does not follow a finger from any position
            await f.tap(_point(here, goal))
            here = _again(f, slider)
            told = _reading(f, here, thumb)
        at = _along(here, here.thumbs[thumb].bounds.centre) if here.thumbs else goal
        if told is None or told.percent < wanted.percent:  # a number that is not a percentage says nothing about one
            return Shown(str(told or wanted), None)
        known[goal] = told.value
    return Shown(str(told), False)


def _again(f: Fingers, slider: Slider) -> Slider:
    """Return the current state of the slider."""
    at = slider.track.bounds.centre
    found = [each for each in sliders_in(f.elements) if each.track.bounds.holds(at)]
    if not found:
        raise Missed("The slider is not there any more.")
    return found[0]


def _goal(slider: Slider, known: dict[int, float], value: float) -> int:
    """Return the pixels along the track for the value, calculated from previous readings."""
    low, high = _ends(slider)
    ordered = sorted(known, key=lambda at: abs(known[at] - value))
    other = next((at for at in ordered[1:] if known[at] != known[ordered[0]]), None)
    if other is not None:
        best = ordered[0]
        goal = best + (other - best) * (value - known[best]) / (known[other] - known[best])
    elif ordered and known[ordered[0]]:
        goal = low + (ordered[0] - low) * value / known[ordered[0]]
    else:
        goal = low + (high - low) * (value / 100 if 0 <= value <= 100 and not ordered else 0.5)
    return round(max(low, min(high, goal)))


def _ends(slider: Slider) -> tuple[int, int]:
    """Return the positions of the minimum and maximum along the track, half a thumb inside it."""
    box = slider.track.bounds
    length, across = box.right - box.left, box.bottom - box.top
    if slider.upright:
        length, across = across, length
    inset = min(across // 2, length // 10)
    return inset, length - inset


def _along(slider: Slider, point: Point) -> int:
    box = slider.track.bounds
    return box.bottom - point.y if slider.upright else point.x - box.left


def _point(slider: Slider, along: int) -> Point:
    box = slider.track.bounds
    middle = box.centre
    return Point(middle.x, box.bottom - along) if slider.upright else Point(box.left + along, middle.y)


def _away(slider: Slider, goal: int) -> int:
    """Return where a finger lands that ends at the goal: a little aside, so that it moves."""
    low, high = _ends(slider)
    way = (high - low) // 8
    return goal - way if goal - way >= low else goal + way


def _reading(f: Fingers, slider: Slider, thumb: int) -> ToldNumber | None:
    """Return the value reported by the thumb, the track or the nearest words; None if there is not exactly one."""
    own = slider.thumbs[thumb : thumb + 1] if slider.thumbs else ()
    for each in own:
        if each.label:
            return number_in(each.label, f.locale)
    if numbers := numbers_in(slider.track.label, f.locale):
        return numbers[thumb] if len(numbers) == max(1, len(slider.thumbs)) else None
    box = slider.track.bounds
    reach = _NEAR * min(box.bottom - box.top, box.right - box.left)
    near = [
        (abs(e.bounds.centre.y - box.centre.y) + max(0, e.bounds.left - box.right, box.left - e.bounds.right), n)
        for n, e in enumerate(f.elements)
        if any(map(str.isdecimal, e.text))
        and not e.editable
        and box.top - reach < e.bounds.centre.y < box.bottom + reach
    ]
    return number_in(f.elements[min(near)[1]].text, f.locale) if near else None
