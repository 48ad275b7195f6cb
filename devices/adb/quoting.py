"""Quotes words for command lines of the phone's shell. No other module does so."""

from __future__ import annotations

import re

RECEIPT_VARIABLE = "OPENGUI_RECEIPT"
_RECEIPT = re.compile(r"[A-Za-z0-9._-]+")
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,+-]+")


def quote(text: str) -> str:
    """Return one word that a POSIX shell reads back as exactly `text`.

    Plain words stay as they are; everything else is put in single quotes, where no character is special. Raises
    ValueError for a NUL, which no command line can contain.
    """
    if "\0" in text:
        raise ValueError("a command line cannot carry a NUL")
    if _PLAIN.fullmatch(text) and "=" not in text:
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def command(*words: str | int) -> str:
    """Return a command line made of these words, each quoted for the phone's shell."""
    return " ".join(quote(str(word)) for word in words)


def with_receipt(line: str, receipt: str, number: int) -> str:
    """Return the simple command `line` with an environment variable in front that contains a receipt (the input's id)
    and the command's number.

    So the phone's own log of commands can be matched to an entry of the journal; the command itself ignores it. Raises
    ValueError if the receipt has characters other than letters, digits, `.`, `-` and `_`.
    """
    if not _RECEIPT.fullmatch(receipt):
        raise ValueError("a receipt is made of letters, digits, '.', '-' and '_'")
    return f"{RECEIPT_VARIABLE}={receipt}.{number} {line}"
