"""A tool that sets controls which hold a value (sliders, wheels, date and time pickers) and reads the value back."""

from __future__ import annotations

import re
from datetime import date, time
from typing import Final, Literal

from pydantic import Field

from agent.actions import Action, ElementTarget, Target
from agent.effect_facts import Worded
from agent.graph.executor.action_spec import PhoneContext, PhoneTool
from agent.graph.executor.fingers import ControlValue, NotReached, TouchSession, together
from agent.graph.executor.picking import set_date, set_time, turn
from agent.graph.executor.targets import resolve_target
from agent.guards.pickers import Slider, Wheel, sliders_in, wheels_in
from agent.listing import id_name, words_of
from agent.observing import ScreenView
from agent.told_values import ToldNumber, number_in, numbers_in
from agent.tools.spec import ActionError, ActionResult, ungated
from agent.wording import Texts, shortened
from devices.errors import PhoneError
from devices.geometry import Point
from devices.phone import Element
from devices.wording import Words

WHICH: Final = "There are several of them. Name one as the target."
NO_RANGE: Final = "Its range is not told. Give the value as a percentage."
_MOST_MOVES: Final = 8
_SLIDE_MS: Final = 600
_NEAR: Final = 3
"""How many slider heights away its words may be."""


async def set_slider(
    f: TouchSession, slider: Slider, values: tuple[ToldNumber, ...], target: Element | None
) -> ControlValue:
    """Move a slider to one value, or its two thumbs to the two values of a range. `target` is the thumb meant if there
    are several. Raises Missed and what `TouchSession.tap` raises.
    """
    thumbs = slider.thumbs
    if len(values) == 1:
        ends = [n for n, thumb in enumerate(thumbs) if target is not None and thumb.bounds == target.bounds]
        if len(thumbs) > 1 and not ends:
            raise NotReached(WHICH)
        return await _slide(f, slider, ends[0] if ends else 0, values[0])
    if len(thumbs) != len(values):
        raise NotReached("It has one value, not two.")
    low, high = sorted(values, key=lambda each: each.value)
    now = _reading(f, slider, 1)
    # The end that moves away from the other goes first, so that they do not block each other.
    order = ((1, high), (0, low)) if now is None or high.value >= now.value else ((0, low), (1, high))
    shown = {n: await _slide(f, slider, n, value) for n, value in order}
    return together("-", shown[0], shown[1])


async def _slide(f: TouchSession, slider: Slider, thumb: int, wanted: ToldNumber) -> ControlValue:
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
        raise NotReached(NO_RANGE)
    low, high = _ends(here)
    for _ in range(_MOST_MOVES):
        read = told.value if told is not None and told.percent >= wanted.percent else None
        if told is not None and read is not None and abs(read - value) < 0.5 * (not value % 1) + 0.01:
            return ControlValue(str(told), read == value)
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
            return ControlValue(str(told or wanted), None)
        known[goal] = told.value
    return ControlValue(str(told), False)


def _again(f: TouchSession, slider: Slider) -> Slider:
    at = slider.track.bounds.centre
    found = next((each for each in sliders_in(f.elements) if each.track.bounds.holds(at)), None)
    if found is None:
        raise NotReached("The slider is not there any more.")
    return found


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


def _reading(f: TouchSession, slider: Slider, thumb: int) -> ToldNumber | None:
    """Return the value reported by the thumb, the track or the nearest words; None if there is not exactly one."""
    if slider.thumbs and (label := slider.thumbs[thumb].label):
        return number_in(label, f.locale)
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


NO_PICKER: Final = "Not done: no slider, wheel, calendar or clock on this screen takes {value!r}. Use touches."
NOT_SO: Final = "It was tried, and it does not show {value!r}. Look before you go on."
UNREAD: Final = "It was moved to where the value should be; the phone does not tell which one it has. Look."
NOT_ALL: Final = "Only the {part} was set: nothing here takes the rest. Go on from here."
_SHOWN: Final = 40
_DATE: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_TIME: Final = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap])?", re.IGNORECASE)
_RANGE: Final = re.compile(r"(-?\d[\d.,]*?)\s*(?:-|–|\.\.|to)\s*(-?\d[\d.,]*)\s*(%?)")
_TEXTS: Final = Texts(
    {
        "set": "set {value}",
        "set_on": "set {target} to {value}",
        "shows": "it shows {shown}",
        "unread": "it was moved to {shown}",
        "missed": "it shows {shown} instead",
    },
    zh={
        "set": "设为{value}",
        "set_on": "把{target}设为{value}",
        "shows": "现在显示 {shown}",
        "unread": "已移到 {shown}",
        "missed": "现在显示的是 {shown}",
    },
)


class SetValue(Action):
    """Set a slider, wheel or picker; press its OK yourself."""

    kind: Literal["set_value"] = "set_value"
    value: str = Field(min_length=1, max_length=60, description="2026-12-24, 18:45, 70%, 20-60, or words.")
    target: Target | None = Field(default=None, description="Which of several.")


def _date_of(wanted: str) -> date | None:
    """Return the value as a date. Raises ActionError for a day that does not exist."""
    found = _DATE.search(wanted)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError as error:
        raise ActionError(f"Not done: {wanted!r} is no date: {error}.") from None


def _time_of(wanted: str) -> time | None:
    """Return the value as a time. Raises ActionError for a time that does not exist."""
    found = _TIME.search(wanted)
    if found is None:
        return None
    hour, half = int(found[1]), (found[3] or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    try:
        return time(hour, int(found[2]))
    except ValueError as error:
        raise ActionError(f"Not done: {wanted!r} is no time: {error}.") from None


def _numbers_of(wanted: str) -> tuple[ToldNumber, ...]:
    """Return one number, or the two ends of a range; empty if the words say anything else."""
    found = _RANGE.fullmatch(wanted)
    read = [number_in(found[n] + found[3]) for n in (1, 2)] if found else [number_in(wanted)]
    known = tuple(each for each in read if each is not None)
    return known if len(known) == len(read) else ()


async def set_value(action: SetValue, context: PhoneContext) -> ActionResult:
    """Run the `set_value` tool: set the value, and return what the control shows then. Raises ActionError if nothing
    accepts the value, a person would have to approve it or the phone fails, and Stopped.
    """
    wanted, left = action.value.strip(), ""
    try:
        fingers = await TouchSession.on_screen(context)
    except PhoneError as error:
        raise ActionError(f"The value could not be set: {error}", uncertain=error.uncertain) from error
    try:
        target = _target(action, context, fingers)
        try:
            shown, left = await _set(fingers, wanted, target, context.phone.info.locale)
        except NotReached as missed:
            if not fingers.sent:
                raise ActionError(f"Not done: {missed}") from None
            shown, left = ControlValue(_standing(fingers.elements, target), False), str(missed)
    except PhoneError as error:
        raise ActionError(
            f"The value could not be set: {error}", uncertain=fingers.sent > 0 or error.uncertain
        ) from error
    told = left
    if shown.right is False:
        told = " ".join(filter(None, (NOT_SO.format(value=wanted), left)))
    elif shown.right is None:
        told = " ".join(filter(None, (UNREAD, left)))
    key = "shows" if shown.right else "unread" if shown.right is None else "missed"
    effect = Worded.of(_TEXTS.words(key, shown=repr(shortened(shown.text, _SHOWN))))
    return ActionResult((effect,), notices=(told,) if told else ())


def _target(action: SetValue, context: PhoneContext, fingers: TouchSession) -> Element | None:
    """Return the current element of the target."""
    if action.target is None or context.sight is None:
        return None
    where = resolve_target(action, context.sight)
    if where.element is not None:
        return fingers.now(where.element) or where.element
    holding = [e for e in fingers.elements if where.point is not None and e.bounds.holds(where.point)]
    return min(holding, key=lambda e: e.bounds.area, default=None)


def _standing(elements: tuple[Element, ...], target: Element | None) -> str:
    """Return the value that is shown, in a few words."""
    return " ".join(wheel.text for wheel in wheels_in(elements)) or ("" if target is None else target.label)


async def _set(f: TouchSession, wanted: str, target: Element | None, locale: str) -> tuple[ControlValue, str]:
    """Set what accepts the value, and return which part of it is left."""
    day, hour = _date_of(wanted), _time_of(wanted)
    if day is None and hour is None:
        return await _set_one(f, wanted, target), ""
    date_shown = None if day is None else await set_date(f, day, locale)
    time_shown = None if hour is None else await set_time(f, hour)
    shown = [each for each in (date_shown, time_shown) if each is not None]
    if not shown:
        raise ActionError(NO_PICKER.format(value=wanted))
    whole = len(shown) == (day is not None) + (hour is not None)
    left = "" if whole else NOT_ALL.format(part="date" if date_shown is not None else "time")
    return together(" ", *shown), left


async def _set_one(f: TouchSession, wanted: str, target: Element | None) -> ControlValue:
    """Set a wheel or slider: the target, or the only one."""
    wheels, sliders = wheels_in(f.elements), sliders_in(f.elements)
    if target is not None:
        at = target.bounds.centre
        wheels = [w for w in wheels if w.bounds.holds(at)]
        sliders = [s for s in sliders if s.track.bounds.holds(at) or target.bounds.holds(s.track.bounds.centre)]
    if len(wheels) + len(sliders) > 1:
        raise NotReached(WHICH)
    if wheels:
        return await _set_wheel(f, wheels[0], wanted)
    numbers = _numbers_of(wanted)
    if not sliders or not numbers:
        raise ActionError(NO_PICKER.format(value=wanted))
    return await set_slider(f, sliders[0], numbers, target)


async def _set_wheel(f: TouchSession, wheel: Wheel, wanted: str) -> ControlValue:
    numbers, plain = _numbers_of(wanted), wanted.casefold()
    number = numbers[0] if len(numbers) == 1 else None

    def away(now: Wheel) -> int | None:
        shown = number_in(now.text, f.locale)
        if now.text.strip().casefold() == plain or (number is not None and shown == number):
            return 0
        if number is None or shown is None or number.percent != shown.percent:
            return None
        steps = number.value - shown.value
        return int(steps) if steps.is_integer() and shown.value.is_integer() else None

    return ControlValue((await turn(f, wheel, away)).text, True)


def _described(action: SetValue, view: ScreenView | None) -> Words:
    value, target = repr(shortened(action.value, _SHOWN)), action.target
    if isinstance(target, ElementTarget) and view is not None and target.element < len(view.targets):
        element = view.targets[target.element]
        if name := words_of(element) or id_name(element):
            return _TEXTS.words("set_on", target=repr(shortened(name, _SHOWN)), value=value)
    return _TEXTS.words("set", value=value)


SET_VALUE: Final = PhoneTool(
    model=SetValue, describe=_described, gate=ungated, traits=frozenset({"touches"}), run=set_value
)
"""The rules judge each of its touches separately. Touches that need a person's approval are left to the model."""
