"""The only place where words become a command line for the phone's shell."""

from __future__ import annotations

import re

RECEIPT_VARIABLE = "OPENGUI_RECEIPT"
_RECEIPT = re.compile(r"[A-Za-z0-9._-]+")
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,+-]+")


def quote(text: str) -> str:
    """One word that a POSIX shell reads back as exactly `text`.

    Plain words stay as they are; everything else goes between single quotes, where a shell gives no sign a meaning.
    Raises ValueError for a NUL, which no command line can carry.
    """
    if "\0" in text:
        raise ValueError("a command line cannot carry a NUL")
    if _PLAIN.fullmatch(text) and "=" not in text:
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def command(*words: str | int) -> str:
    """A command line of these words, each of them quoted."""
    return " ".join(quote(str(word)) for word in words)


def with_receipt(line: str, receipt: str, number: int) -> str:
    """The simple command `line` with its receipt as an environment assignment in front.

    The phone's own record of commands can so be tied to one row of the journal; the command itself does not see it.
    Raises ValueError when the receipt has other signs than letters, digits, `.`, `-` and `_`.
    """
    if not _RECEIPT.fullmatch(receipt):
        raise ValueError("a receipt is made of letters, digits, '.', '-' and '_'")
    return f"{RECEIPT_VARIABLE}={receipt}.{number} {line}"
