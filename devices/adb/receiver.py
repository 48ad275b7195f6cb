"""Determines from the phone's own log which window received an input.

Since Android 11, the input dispatcher logs which window gets the focus (`input_focus`) and, whenever another window
than before gets a touch or key, which one (`input_interaction`; AOSP InputDispatcher::updateInteractionTokensLocked).
It identifies a window by the same number as `mCurrentFocus`.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from devices.adb.shell import Shell
from devices.adb.state import State
from devices.errors import PhoneError
from devices.wording import words

logger = logging.getLogger(__name__)

TIMEOUT = 3.0
"""Seconds for reading the log; it is read after the input, and only the next observation waits for it."""
COMMAND = "logcat -b events -d -v epoch -s input_focus input_interaction"
_LINE = re.compile(r"^\s*(\d+\.\d+)\s.*?\b(input_focus|input_interaction)\s*:\s*(.*)$", re.MULTILINE)
_WINDOW = re.compile(r"(?:entering|with:|,)\s*([0-9a-f]{1,8}) ([^\s,]+)")
_NUMBER = re.compile(r"Window\{([0-9a-f]+) ")
_TICK = 0.001
"""Seconds; the log has no finer times."""


@dataclass(frozen=True, slots=True)
class _Note:
    """A log line: its time, whether it reports an input, and its windows by number."""

    at: float
    is_input: bool
    windows: dict[str, str]


async def read_receiver(shell: Shell, before: State) -> str:
    """Return the name of the window that received an input sent just after the state `before` was read, if it is not
    the window that was focused then.

    Returns "" if the expected window received it or it is unknown: before Android 11, without a window or clock in
    `before`, or if the log cannot be read.
    """
    number = _NUMBER.match(before.window)
    if number is None or before.clock is None:
        return ""
    try:
        answer = await shell.run(COMMAND, timeout=TIMEOUT, doing=words("phone.doing.window"))
    except PhoneError as error:
        logger.info("which window got an input could not be read: %s", error)
        return ""
    return other_receiver(answer.out, number.group(1), before.clock)


def other_receiver(log: str, expected: str, since: float) -> str:
    """Return the name of a window other than `expected` that received the first input after `since` (Unix seconds); ""
    if none.

    Only a window that took the focus counts. A touch may also go to a toolbar or a list of suggestions, which are next
    to the focused window and never have the focus.
    """
    focused = ""
    for note in map(_note, _LINE.findall(log)):
        if not note.is_input:
            focused = next(iter(note.windows), focused)
        elif note.at >= since - _TICK:
            swapped = expected not in note.windows and focused in note.windows
            return note.windows[focused] if swapped else ""
    return ""


def _note(line: tuple[str, str, str]) -> _Note:
    at, tag, text = line
    return _Note(float(at), tag == "input_interaction", dict(_WINDOW.findall(text)))
