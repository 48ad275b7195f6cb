"""Which window got an input, as the phone itself has written it down.

Since Android 11 the input dispatcher writes into the event log which window gets the focus (`input_focus`), and
whenever another window than before gets a touch or a key, which one (`input_interaction`; AOSP
InputDispatcher::updateInteractionTokensLocked). It calls a window by the same number as `mCurrentFocus` does.
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
"""Seconds for the log; it is read after the input, and nothing waits for it but the next look."""
COMMAND = "logcat -b events -d -v epoch -s input_focus input_interaction"
_LINE = re.compile(r"^\s*(\d+\.\d+)\s.*?\b(input_focus|input_interaction)\s*:\s*(.*)$", re.MULTILINE)
_WINDOW = re.compile(r"(?:entering|with:|,)\s*([0-9a-f]{1,8}) ([^\s,]+)")
_NUMBER = re.compile(r"Window\{([0-9a-f]+) ")
_TICK = 0.001
"""Seconds: the log tells no shorter times."""


@dataclass(frozen=True, slots=True)
class _Note:
    """A line of the log: when it was written, whether it tells of an input, and the windows by number."""

    at: float
    is_input: bool
    windows: dict[str, str]


async def read_receiver(shell: Shell, before: State) -> str:
    """The window that got the input that was sent after `before`, in place of the one that had the focus then.

    "" when it was that one, or when nobody can tell: before Android 11, without a clock in `before`, or when the log
    cannot be read. The input was sent all the same.
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
    """The name of another window than the `expected` one that got the first input `since` then (Unix seconds); "" for
    none.

    Only a window that came up counts, so one that had taken the focus: a touch may well go to a toolbar or a list of
    suggestions, which lie beside the window with the focus and never have it.
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
