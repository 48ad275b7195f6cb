"""Sets up logging to standard error, with one line per event as text or JSON and without secrets. The latest lines are
kept in memory for `opengui logs`.
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
from bot.logs.lines import REDACTION, fields, sanitized

KEPT_LINES: Final = 1_000
"""Lines that are kept, and by which a follower may lag behind before it misses some."""

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
"""Libraries that log too much; httpx logs URLs, which may contain a token."""


class RecentLines(logging.Handler):
    """A log handler that keeps the latest lines in memory. Any thread may log; `follow` must be called in an event
    loop.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._written = 0
        self._guard = threading.Lock()
        self._followers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line and wake the followers. Errors are ignored, because the handler that prints the line reports
        them.
        """
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
        """Yield the last `last` lines. With `on`, continue with new lines without end; a slow reader misses some."""
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
"""The recent lines of this process."""


class _Covering(logging.Formatter):
    def __init__(self, cover: Callable[[str], str]) -> None:
        super().__init__()
        self._cover = cover

    def _traces(self, record: logging.LogRecord) -> list[str]:
        parts = [self.formatException(record.exc_info)] if record.exc_info else []
        parts += [self.formatStack(record.stack_info)] if record.stack_info else []
        return [self._cover(part) for part in parts]


class TextLines(_Covering):
    """A formatter that writes time, level, logger, task and message; further lines of a message are indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by any traceback."""
        about = ", ".join(f"{name} {value}" for name, value in fields().items())
        head = f"{self.formatTime(record)} {record.levelname:<7} {record.name}{f' [{about}]' if about else ''}"
        message = sanitized(self._cover(record.getMessage())).replace("\n", "\n    ")
        trace = "".join(f"\n{sanitized(part)}" for part in self._traces(record))
        return f"{head}: {message}{trace}"


class JsonLines(_Covering):
    """A formatter that writes a JSON object per line, with task, run, phone and trace if known. Times are UTC."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the log record as one line of JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._cover(record.getMessage()),
            **fields(),
        }
        if trace := "\n".join(self._traces(record)):
            line["trace"] = trace
        return json.dumps(line, ensure_ascii=False)


class Lines(logging.StreamHandler[TextIO]):
    """The handler for standard error. If a record cannot be formatted, only its origin is printed, not its values."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(formatter)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        """Print where the record came from; the standard library would print its arguments."""
        kind = sys.exc_info()[0]
        name = "an error" if kind is None else kind.__name__
        sys.stderr.write(f"A line from {record.pathname}:{record.lineno} could not be logged: {name}.\n")


def set_up_logs(settings: Settings, *, quiet: bool, forms: Iterable[str] = (), chatty: Iterable[str] = ()) -> None:
    """Send all logs to standard error and keep the latest lines in memory. For a `quiet` command no lines are kept and,
    unless LOG_LEVEL is set to another level than INFO, only warnings are shown.

    `forms` are regular expressions for further secrets to hide. `chatty` are further loggers that are limited to
    warnings.
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
    """Hide the secrets in these settings in the logs from now on. Called when settings change at run time."""
    REDACTION.learn(_secrets_of(settings))


def _secrets_of(settings: Settings) -> list[str]:
    values = (getattr(settings, name) for name in type(settings).model_fields)
    return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
