"""Compares two observations of a phone: what an action changed, and whether both show the same screen apart from clocks
and small movements.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import blake2s

from PIL import Image, ImageChops, ImageStat

from agent.effect_facts import (
    AppChanged,
    Appeared,
    Disappeared,
    Effect,
    KeyboardClosed,
    KeyboardOpened,
    NothingChanged,
    PageChanged,
    PhoneNote,
    ScreenChanged,
    ScreenTurned,
    SwitchedTo,
    TextNow,
)
from devices.phone import Element, InputResult, Observation

MAX_WORDS_LISTED = 6
MAX_LETTERS = 60
"""The maximum number of letters of a listed word. A "word" is the whole text of an element here, which may be a
paragraph.
"""
THUMB = (54, 120)
STATUS_BAR_SHARE = 0.04
"""The top share of the screen that is ignored, because the clock and the signal change on their own."""
CHANGED_MEAN = 0.8
"""A screen counts as changed if its small grey picture (0–255) differs by more than this on average. A blinking caret
stays well below.
"""


def fingerprint(observation: Observation) -> str:
    """Return a text that identifies what is shown: the app, its page, the words and the states of switches. The picture
    counts only if there are no words.
    """
    words = "|".join(sorted(_in_order(observation)))
    image = "none" if observation.thumbnail is None else hash_text(_coarse(observation.thumbnail))
    states = "".join("1" if e.checked else "0" for e in observation.elements or () if e.checkable)
    return f"{observation.package}/{observation.activity}/{hash_text(words)}/{states}/{image if not words else ''}"


def hash_text(text: str) -> str:
    """Return a short stable digest of a text."""
    return blake2s(text.encode(), digest_size=8).hexdigest()


def changed(before: Observation, after: Observation) -> bool:
    """Whether a person would see a difference between the two observations."""
    if (before.package, before.activity, before.size) != (after.package, after.activity, after.size):
        return True
    if before.thumbnail is None or after.thumbnail is None:
        return fingerprint(before) != fingerprint(after)
    if moved(before, after, least=CHANGED_MEAN):
        return True
    return before.elements is not None and after.elements is not None and _counted(before) != _counted(after)


def difference(before: Observation, after: Observation) -> tuple[Effect, ...]:
    """Return the effects that the two observations show, in the order in which they are reported. There is always at
    least one.
    """
    found: list[Effect] = []
    if before.package != after.package:
        found.append(AppChanged(app=after.package))
    elif before.activity != after.activity:
        found.append(PageChanged())
    known = before.elements is not None and after.elements is not None
    # Without known words, none can have appeared or gone.
    old, new = (_counted(before), _counted(after)) if known else (Counter[str](), Counter[str]())
    # Counted, because a word may appear twice: the "On" below one switch says nothing about another.
    appeared = [word for word in _in_order(after) if new[word] > old[word]]
    vanished = [word for word in _in_order(before) if old[word] > new[word]]
    if appeared:
        words, more = _listed(appeared)
        found.append(Appeared(words=words, more=more))
    if vanished:
        words, more = _listed(vanished)
        found.append(Disappeared(words=words, more=more))
    if before.keyboard_shown != after.keyboard_shown:
        found.append(KeyboardOpened() if after.keyboard_shown else KeyboardClosed())
    if before.rotation != after.rotation:
        found.append(ScreenTurned())
    found.extend(_switched(before, after) if known else ())
    if found:
        return tuple(found)
    return (ScreenChanged() if changed(before, after) else NothingChanged(),)


def told_effects(done: InputResult | None, *, covered: bool = False) -> tuple[Effect, ...]:
    """Return the effects that the phone itself reported about an input. With `covered`, the content of a field is left
    out.
    """
    if done is None:
        return ()
    read = () if done.field_text is None or covered else (TextNow(text=done.field_text),)
    return (*read, *map(PhoneNote.of, done.notes))


def _switched(before: Observation, after: Observation) -> list[SwitchedTo]:
    """Return the switches that changed. Switches that cannot be told apart are left out: a list may have moved."""
    old, new = _switches(before), _switches(after)
    return [
        SwitchedTo(name=label or identifier, on=states[0])
        for (identifier, label), states in new.items()
        if len(states) == 1 and old.get((identifier, label), states) == [not states[0]]
    ]


def _switches(observation: Observation) -> dict[tuple[str, str], list[bool]]:
    found: dict[tuple[str, str], list[bool]] = {}
    for element in observation.elements or ():
        if element.checkable:
            found.setdefault((element.resource_id, element.label), []).append(element.checked)
    return found


def _counted(observation: Observation) -> Counter[str]:
    return Counter(_in_order(observation))


def _in_order(observation: Observation) -> list[str]:
    limit = int(observation.size.height * STATUS_BAR_SHARE)
    return [" ".join(e.label.split()) for e in observation.elements or () if e.label and e.bounds.centre.y > limit]


def _listed(words: list[str]) -> tuple[tuple[str, ...], int]:
    """Return the first distinct words, shortened, and how many more there are."""
    unique = list(dict.fromkeys(words))
    shown = tuple(word[:MAX_LETTERS] for word in unique[:MAX_WORDS_LISTED])
    return shown, len(unique) - len(shown)


def _thumb(thumbnail: Image.Image) -> Image.Image:
    top = int(thumbnail.height * STATUS_BAR_SHARE)
    return thumbnail.resize(THUMB, Image.Resampling.BOX, box=(0, top, thumbnail.width, thumbnail.height))


MOVED_MEAN = 4.0
"""The mean difference of two small grey pictures (0–255) from which an action counts as having an effect although no
word changed, for example in a map or drawing. A banner or a second hand stays below.
"""
SCROLLED_MEAN = 0.8
"""The same threshold after a scroll, which may do no more than move a picture."""
_SECONDS = re.compile(r"\b\d{1,2}:\d{2}:\d{2}\b")
_CLOCKS = ("clock", "chronometer")


def screen_word(observation: Observation) -> str:
    """Return a digest of the screen that stays the same while only clocks change."""
    top = observation.size.height * STATUS_BAR_SHARE
    below = [e for e in observation.elements or () if e.bounds.centre.y > top]
    words = sorted({_SECONDS.sub("", " ".join(e.label.split())) for e in below if e.label and not _is_clock(e)})
    states = "".join(f"{e.checked:d}{e.selected:d}" for e in below if e.checkable or e.selected)
    focus = next((f"{e.resource_id}{e.bounds}" for e in below if e.focused), "")
    image = _coarse(observation.thumbnail) if observation.thumbnail is not None and not words else ""
    told = [
        observation.package,
        observation.activity,
        str(observation.rotation),
        *words,
        states,
        focus,
        str(observation.keyboard_shown),
        image,
    ]
    return hash_text("\n".join(told))


def moved(before: Observation, after: Observation, *, least: float) -> bool:
    """Whether the pictures of two observations differ by more than `least` (mean grey value, 0–255), ignoring the
    status bar. False if there are no pictures or the screens differ in size.
    """
    if before.thumbnail is None or after.thumbnail is None or before.size != after.size:
        return False
    difference = ImageChops.difference(_thumb(before.thumbnail), _thumb(after.thumbnail))
    return ImageStat.Stat(difference).mean[0] > least


def _is_clock(element: Element) -> bool:
    name = f"{element.resource_id} {element.class_name}".lower()
    return any(clock in name for clock in _CLOCKS) and bool(re.search(r"\d", element.label))


def _coarse(thumbnail: Image.Image) -> str:
    coarse = _thumb(thumbnail).resize((12, 16), Image.Resampling.BOX)
    return bytes(value >> 4 for value in coarse.tobytes()).hex()
