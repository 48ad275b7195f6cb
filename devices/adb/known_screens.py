"""The screens that a phone showed lately, with their elements: one that comes back is known before it tells them."""

from __future__ import annotations

from collections import deque

from devices.adb.pictures import Frame
from devices.adb.settling import Probe
from devices.adb.state import State
from devices.phone import Element

MOST = 8
"""A way into an app and back has about as many."""

Facts = tuple[str, str, bool, int]


class KnownScreens:
    """The newest screens of one phone, by picture, app, page, keyboard and rotation.

    What they tell is what the phone told then: whether it still holds has to be found out before anything is done.
    """

    def __init__(self) -> None:
        self._screens: deque[tuple[Facts, Probe, tuple[Element, ...]]] = deque(maxlen=MOST)

    def add(self, frame: Frame, state: State, elements: tuple[Element, ...] | None) -> None:
        """Keep what this screen has told."""
        if elements is None or frame.black:
            return
        probe, facts = _probe(frame), _facts(state)
        for known in [each for each in self._screens if each[0] == facts and each[1].same_as(probe)]:
            self._screens.remove(known)
        self._screens.append((facts, probe, elements))

    def elements_of(self, frame: Frame, state: State) -> tuple[Element, ...] | None:
        """What it told when it looked like this before, None when it did not lately."""
        probe, facts = _probe(frame), _facts(state)
        return next(
            (told for known, look, told in reversed(self._screens) if known == facts and look.same_as(probe)), None
        )


def _probe(frame: Frame) -> Probe:
    return Probe.of_small(frame.small, frame.size)


def _facts(state: State) -> Facts:
    return state.package, state.activity, state.keyboard_shown, state.rotation
