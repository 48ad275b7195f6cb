"""What an action did, in words: the difference between two looks at a phone."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2s

from PIL import Image, ImageChops, ImageStat

from devices.phone import Observation

MAX_WORDS_LISTED = 6
THUMB = (54, 120)
STATUS_BAR_SHARE = 0.04
"""The clock and the signal change by themselves: the top of the screen does not count."""
CHANGED_MEAN = 0.8
"""Mean difference of the small grey pictures (0–255) above which a screen counts as changed; a blinking caret stays
well below."""


def fingerprint(observation: Observation) -> str:
    """A word for a screen that stays the same while nothing a person would notice has changed."""
    words = "|".join(sorted(_in_order(observation)))
    image = "none" if observation.small is None else _hash(observation.small)
    states = "".join("1" if e.checked else "0" for e in observation.elements or () if e.checkable)
    return f"{observation.package}/{observation.activity}/{hash_text(words)}/{states}/{image if not words else ''}"


def hash_text(text: str) -> str:
    """A short stable digest."""
    return blake2s(text.encode(), digest_size=8).hexdigest()


def changed(before: Observation, after: Observation) -> bool:
    """Whether a person would see a difference."""
    if (before.package, before.activity, before.size) != (after.package, after.activity, after.size):
        return True
    if before.small is None or after.small is None:
        return fingerprint(before) != fingerprint(after)
    difference = ImageChops.difference(_thumb(before.small), _thumb(after.small))
    return ImageStat.Stat(difference).mean[0] > CHANGED_MEAN or _counted(before) != _counted(after)


def describe(before: Observation, after: Observation) -> str:
    """One line for the model: what is different now."""
    parts: list[str] = []
    if before.package != after.package:
        parts.append(f"app is now {after.package or 'unknown'}")
    elif before.activity != after.activity:
        parts.append("another page of the app")
    old, new = _counted(before), _counted(after)
    # Counted, because a word may stand there twice: the "On" below one switch says nothing of another.
    appeared = [word for word in _in_order(after) if new[word] > old[word]]
    vanished = [word for word in _in_order(before) if old[word] > new[word]]
    if appeared:
        parts.append("new: " + _listed(appeared))
    if vanished:
        parts.append("gone: " + _listed(vanished))
    if before.keyboard_shown != after.keyboard_shown:
        parts.append("keyboard opened" if after.keyboard_shown else "keyboard closed")
    if before.rotation != after.rotation:
        parts.append("screen turned")
    parts.extend(_switched(before, after))
    if parts:
        return "; ".join(parts)
    return "the screen changed" if changed(before, after) else "nothing visible changed"


def _switched(before: Observation, after: Observation) -> list[str]:
    """What was turned on or off; switches that nothing tells apart are left out, for a list may have moved."""
    old, new = _switches(before), _switches(after)
    return [
        f"{label or identifier!r} is now {'on' if states[0] else 'off'}"
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


def _listed(words: list[str]) -> str:
    unique = list(dict.fromkeys(words))
    shown = ", ".join(repr(word[:60]) for word in unique[:MAX_WORDS_LISTED])
    more = len(unique) - MAX_WORDS_LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def _thumb(small: Image.Image) -> Image.Image:
    top = int(small.height * STATUS_BAR_SHARE)
    return small.resize(THUMB, Image.Resampling.BOX, box=(0, top, small.width, small.height))


def _hash(small: Image.Image) -> str:
    coarse = _thumb(small).resize((12, 16), Image.Resampling.BOX)
    return hash_text(bytes(value >> 4 for value in coarse.tobytes()).hex())
