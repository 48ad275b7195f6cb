"""Converts text to command lines: for ADBKeyboard (which receives text by broadcast) if selected, otherwise as key
presses if possible.
"""

from __future__ import annotations

import base64
import re
import unicodedata

from devices.adb.input_commands import KEYCODES
from devices.adb.quoting import command
from devices.errors import UntypableText
from devices.inputs import KEYS_IN_TEXT, as_typed
from devices.wording import words

BROADCAST_PACKAGE = "com.android.adbkeyboard"
BROADCAST_KEYBOARD = f"{BROADCAST_PACKAGE}/.AdbIME"
"""ADBKeyboard (github.com/senzhk/ADBKeyBoard), an input method that receives its text by broadcast."""

MAX_TEXT = 10_000
"""The maximum characters of one input; no ordinary text field takes more."""

KEY_CHUNK = 160
"""Characters for one `input text`. Each character is two injected events that are waited for, so a chunk takes about a
second on a slow phone, and a cancelled text stops soon.
"""

BROADCAST_CHUNK = 2000
"""Characters for one broadcast; Android limits an intent to about 1 MB and a shell argument to 128 KiB."""

MAX_DELETES = 1000
DELETE_MARGIN = 8
"""Additional deletes beyond the known length of a field; a delete in an empty field does nothing."""
UNKNOWN_DELETES = 200
_DELETES_PER_COMMAND = 250

_KEY_SIGNS = re.compile(f"([{re.escape(''.join(KEYS_IN_TEXT))}])")


def typing_commands(text: str, *, broadcast: bool) -> tuple[str, ...]:
    """Return the command lines that type `text` into the focused field. `broadcast` says whether ADBKeyboard is
    selected.

    Raises UntypableText as `check_text`, and without ADBKeyboard if the text is not ASCII.
    """
    check_text(text)
    if broadcast:
        return tuple(_broadcast(piece) for piece in _cut(text, BROADCAST_CHUNK))
    if not text.isascii():
        raise UntypableText(words("phone.rejected.letters"))
    return tuple(line for piece in _KEY_SIGNS.split(text) for line in _keys(piece))


def check_text(text: str) -> None:
    """Raise UntypableText if a text is too long, has control characters other than newline and tab, or differs from
    what `as_typed` returns, because additional keys would not have been approved.
    """
    if len(text) > MAX_TEXT:
        raise UntypableText(words("phone.rejected.long_text", length=len(text), limit=MAX_TEXT))
    control = any(unicodedata.category(each) in {"Cc", "Cs"} and each not in KEYS_IN_TEXT for each in text)
    if control or text != as_typed(text):
        raise UntypableText(words("phone.rejected.control_text"))


def clearing_commands(length: int | None, *, broadcast: bool) -> tuple[str, ...]:
    """Return the command lines that empty the focused field of `length` characters (None: unknown). `broadcast` says
    whether ADBKeyboard is selected.

    Without it, at most `MAX_DELETES` characters are deleted, or `UNKNOWN_DELETES` if the length is unknown.
    """
    if broadcast:
        return (command("am", "broadcast", "-a", "ADB_CLEAR_TEXT", "-p", BROADCAST_PACKAGE),)
    deletes = UNKNOWN_DELETES if length is None else min(MAX_DELETES, length + DELETE_MARGIN)
    keys = ["KEYCODE_MOVE_END", *["KEYCODE_DEL"] * deletes]
    return tuple(
        command("input", "keyevent", *keys[start : start + _DELETES_PER_COMMAND])
        for start in range(0, len(keys), _DELETES_PER_COMMAND)
    )


def is_left_of(text: str, left: str) -> bool:
    """Return whether `left` is what remains of `text` after a deletion in one place, or all of it. False for an empty
    `left`.

    A field may instead show its hint, which not every phone reports as such.
    """
    ways = range(len(left) + 1)
    return bool(left) and any(text.startswith(left[:at]) and text.endswith(left[at:]) for at in ways)


def _broadcast(piece: str) -> str:
    coded = base64.b64encode(piece.encode()).decode()
    # With -p, only the keyboard gets the broadcast; otherwise any app could read what is typed.
    return command("am", "broadcast", "-a", "ADB_INPUT_B64", "-p", BROADCAST_PACKAGE, "--es", "msg", coded)


def _keys(piece: str) -> list[str]:
    if piece in KEYS_IN_TEXT:
        return [command("input", "keyevent", KEYCODES[KEYS_IN_TEXT[piece]])]
    # `input text` reads "%s" as a space (AOSP InputShellCommand.sendText), so the two are never sent together.
    parts = re.split(r"(?<=%)(?=s)", piece)
    return [command("input", "text", chunk) for part in parts for chunk in _cut(part, KEY_CHUNK)]


def _cut(text: str, length: int) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]
