"""What lines in logs and terminals may contain: the task, run and phone that the current work is about, but no secrets,
and no control characters from people or phones.
"""

from __future__ import annotations

import io
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TextIO
from urllib.parse import quote, quote_plus

from agent.run import RunId


@dataclass(slots=True)
class About:
    """The task, run and phone of the current work; run and phone are "" while they are unknown. All work on a task
    shares one object, so work that began before the phone was known logs it as well.
    """

    task: str
    run: RunId | None = None
    phone: str = ""

    def fields(self) -> dict[str, str]:
        """Return the fields that are known, by name."""
        known = {"task": self.task, "run": str(self.run or ""), "phone": self.phone}
        return {name: value for name, value in known.items() if value}


ABOUT: ContextVar[About | None] = ContextVar("about", default=None)
"""Set where work on a task begins; asyncio tasks started from there inherit it."""


def fields() -> dict[str, str]:
    """Return the known fields (task, run, phone) of the current work, by name; empty outside the work on a task."""
    about = ABOUT.get()
    return {} if about is None else about.fields()


HIDDEN: Final = "[secret]"
SHORTEST: Final = 4
"""Least characters of a secret that is hidden. A shorter one would hide half of every line."""

_TOKENS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:ogt_|sk-|xai-|gsk_|hf_|ghp_|AIza)[\w-]{16,}"  # our own tokens, and keys of models
    r"|(?<=Bearer )[\w.~+/=-]{16,}"
)
_HEADER: Final = re.compile(
    r"(?i)(?P<name>\b(?:proxy-)?authorization|\bx-api-key|\bapi-key|\b(?:set-)?cookie)"
    r"(?:(?P<quoted>[\"']\s*[:,]\s*b?[\"'])[^\"'\r\n]*|(?P<plain>\s*[:=]\s*)(?:[a-z]+ +)?[^\s\"',]+)"
)
"""A header's value, in HTTP form or as a pair in Python or JSON."""
_PARAMETER: Final = re.compile(
    r"(?i)(?P<name>\b(?:access_|auth_|api_?|client_)?(?:token|key|secret|password|passwd|signature)"
    r"(?:=|[\"']\s*[:,]\s*b?[\"']))(?!\[secret\])[^\s\"'&,;)}\]]+"
)
"""`token=…` in an address, or `"password": "…"`."""
_LOGIN: Final = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,30}://)[^\s/@\"']+@")
"""The name and password in an address."""


class Redaction:
    """Hides secrets in texts: permanent ones, which are set with `know` and `learn`, and temporary ones, which are
    added with `cover`.

    Its methods may be called in any thread. `clock` returns seconds.
    """

    def __init__(self, fixed: Iterable[str] = (), *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._fixed = frozenset(fixed)
        self._live: dict[str, float] = {}
        self._pattern = _any_of(self._fixed)
        self._tokens = _TOKENS

    def know(self, fixed: Iterable[str], forms: Iterable[str] = ()) -> None:
        """Set the permanent secrets, replacing the former ones. `forms` are regular expressions for further secrets."""
        with self._lock:
            self._tokens = re.compile("|".join((*forms, _TOKENS.pattern)))
            self._fixed = frozenset(fixed)
            self._pattern = _any_of(self._fixed | self._live.keys())

    def learn(self, secrets: Iterable[str]) -> None:
        """Add permanent secrets that became known while the service runs."""
        with self._lock:
            self._fixed |= frozenset(secrets)
            self._pattern = _any_of(self._fixed | self._live.keys())

    def cover(self, value: str, seconds: float) -> None:
        """Hide this value for some seconds, such as a code that is being typed on a phone."""
        with self._lock:
            known = value in self._live
            self._live[value] = self._clock() + seconds
            if not known:
                self._pattern = _any_of(self._fixed | self._live.keys())

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        if self._live:
            self._forget_old()
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        text = self._tokens.sub(HIDDEN, text)
        text = _LOGIN.sub(rf"\g<scheme>{HIDDEN}@", text)
        text = _HEADER.sub(lambda found: f"{found['name']}{found['quoted'] or found['plain']}{HIDDEN}", text)
        return _PARAMETER.sub(rf"\g<name>{HIDDEN}", text)

    def _forget_old(self) -> None:
        with self._lock:
            now = self._clock()
            left = {value: until for value, until in self._live.items() if until > now}
            if len(left) < len(self._live):
                self._live = left
                self._pattern = _any_of(self._fixed | left.keys())


def _any_of(secrets: Iterable[str]) -> re.Pattern[str] | None:
    forms = {form for secret in secrets if len(secret) >= SHORTEST for form in _forms(secret)}
    if not forms:
        return None
    # Longest first, so that no rest is left of one that contains another.
    return re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))


def _forms(secret: str) -> set[str]:
    """Return the ways in which a value is written: plain, in Python, JSON or an address, and for `adb shell input
    text`.
    """
    written = repr(secret)[1:-1]
    bare = written.replace("\\'", "'")
    return {
        secret,
        written,
        bare,
        bare.replace("'", "\\'"),
        repr(secret.encode("utf-8", "surrogatepass"))[2:-1],
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, errors="replace"),
        quote(secret, safe="", errors="replace"),
        quote_plus(secret, errors="replace"),
        secret.replace(" ", "%s"),
    }


REDACTION: Final = Redaction()
"""The redaction of this process, whose logs share it."""


_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters of both sets (ISO 6429; terminals may treat 0x9b like ESC and a bracket) except tab and newline,
other line separators, and the characters that change the direction of text.
"""


def sanitized(text: str) -> str:
    """Return the text with each control character replaced by a visible one."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def sanitize_terminals() -> None:
    """Make standard output and error print only sanitized text to terminals; files and pipes are unaffected."""
    sys.stdout, sys.stderr = sanitize_stream(sys.stdout), sanitize_stream(sys.stderr)


def sanitize_stream(stream: TextIO) -> TextIO:
    """Return the stream, or a sanitizing replacement if it is a terminal; the original cannot be used afterwards."""
    if not isinstance(stream, io.TextIOWrapper) or not stream.isatty():
        return stream
    form, errors = stream.encoding, stream.errors
    return _Sanitized(stream.detach(), encoding=form, errors=errors, line_buffering=True)


class _Sanitized(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        super().write(sanitized(text))
        return len(text)


def write_as_it_is(stream: TextIO, text: str) -> None:
    """Write text that contains our own control characters. Any text from others in it must have been
    sanitized before.
    """
    write = super(_Sanitized, stream).write if isinstance(stream, _Sanitized) else stream.write
    write(text)
