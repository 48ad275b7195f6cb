"""How a line is written: as text for people, or as one JSON object for programs. Neither holds a secret."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

from bot.logs.context import fields
from bot.logs.terminals import sanitized


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
