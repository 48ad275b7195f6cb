"""Removes secrets from log lines: known ones, in whatever encoding they appear, and everything that looks like one."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import quote, quote_plus

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
