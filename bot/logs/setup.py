"""Logs: to standard error, one line an event, as text for people or as one JSON object for programs, never a secret in
them. The latest lines are kept in memory for `opengui logs`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from datetime import UTC, datetime
from typing import Final, TextIO

from pydantic import SecretStr

from bot.config.settings import Settings
from bot.logs.context import fields
from bot.logs.redaction import REDACTION
from bot.logs.terminals import sanitized

KEPT_LINES: Final = 1_000
"""Lines that are kept, and that a follower may lag behind before it misses some."""

CHATTY: Final = (
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
    "openai",
    "aiohttp.access",
    "aiosqlite",
    "PIL",
)
"""Libraries that tell more than an operator wants to read; httpx tells URLs, which may hold a token."""


class RecentLines(logging.Handler):
    """A handler that keeps the last lines. Any thread may write to it; `follow` belongs to one event loop."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._written = 0
        self._guard = threading.Lock()
        self._followers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line, and wake who follows. What cannot be written is told by the handler that prints."""
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001 - whatever the values of a record raise
            return
        with self._guard:
            self._lines.append(line)
            self._written += 1
            followers = tuple(self._followers)
        for loop, news in followers:
            loop.call_soon_threadsafe(news.set)

    async def follow(self, last: int, *, on: bool) -> AsyncGenerator[str]:
        """The `last` lines so far; with `on` those to come as well, without an end. Who is too slow misses some."""
        news = asyncio.Event()
        follower = asyncio.get_running_loop(), news
        with self._guard:
            self._followers.add(follower)
            told = max(0, self._written - last)
        try:
            while True:
                news.clear()
                with self._guard:
                    missing = min(self._written - told, len(self._lines))
                    lines = list(self._lines)[len(self._lines) - missing :] if missing else []
                    told = self._written
                for line in lines:
                    yield line
                if not on:
                    return
                await news.wait()
        finally:
            with self._guard:
                self._followers.discard(follower)


RECENT: Final = RecentLines()
"""Those of this process."""


class TextLines(logging.Formatter):
    """Time, level, origin, what it is about, and the message. Further lines of a message are set in."""

    def __init__(self, cover: Callable[[str], str]) -> None:
        super().__init__()
        self._cover = cover

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the trace below."""
        about = ", ".join(f"{name} {value}" for name, value in fields().items())
        head = f"{self.formatTime(record)} {record.levelname:<7} {record.name}{f' [{about}]' if about else ''}"
        message = sanitized(self._cover(record.getMessage())).replace("\n", "\n    ")
        trace = "".join(f"\n{sanitized(part)}" for part in _traces(self, record, self._cover))
        return f"{head}: {message}{trace}"


class JsonLines(logging.Formatter):
    """One object for each line: time (UTC), level, logger, message, and task, run, phone and trace where there are."""

    def __init__(self, cover: Callable[[str], str]) -> None:
        super().__init__()
        self._cover = cover

    def format(self, record: logging.LogRecord) -> str:
        """The object."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._cover(record.getMessage()),
            **fields(),
        }
        if trace := "\n".join(_traces(self, record, self._cover)):
            line["trace"] = trace
        return json.dumps(line, ensure_ascii=False)


class Lines(logging.StreamHandler[TextIO]):
    """To standard error. A record that cannot be written tells where it was made, and none of its values."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(formatter)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        """The standard library would write the arguments out as they are."""
        kind = sys.exc_info()[0]
        name = "an error" if kind is None else kind.__name__
        sys.stderr.write(f"A line from {record.pathname}:{record.lineno} could not be logged: {name}.\n")


def _traces(formatter: logging.Formatter, record: logging.LogRecord, cover: Callable[[str], str]) -> list[str]:
    parts = [formatter.formatException(record.exc_info)] if record.exc_info else []
    parts += [formatter.formatStack(record.stack_info)] if record.stack_info else []
    return [cover(part) for part in parts]


def set_up_logs(settings: Settings, *, quiet: bool, forms: Iterable[str] = (), chatty: Iterable[str] = ()) -> None:
    """Send all logs to standard error, and keep the latest lines. A `quiet` command shows only warnings and keeps none.

    `forms` are regular expressions of what else is a secret, `chatty` further loggers that show warnings only.
    """
    REDACTION.know(_secrets_of(settings), forms)
    root = logging.getLogger()
    form = JsonLines(REDACTION) if settings.log_format == "json" else TextLines(REDACTION)
    RECENT.setFormatter(form)
    root.handlers[:] = [Lines(form)] if quiet else [Lines(form), RECENT]
    root.setLevel(logging.WARNING if quiet and settings.log_level == "INFO" else settings.log_level)
    for name in (*CHATTY, *chatty):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def cover_secrets(settings: Settings) -> None:
    """What is secret in these settings stands in no line from now on: they were made while the process ran."""
    REDACTION.learn(_secrets_of(settings))


def _secrets_of(settings: Settings) -> list[str]:
    values = (getattr(settings, name) for name in type(settings).model_fields)
    return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
