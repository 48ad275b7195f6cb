"""What the fake model answers: a list of answers with faults, or a function of the request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tests.fakes.model_server.recorded import Recorded


class Call(BaseModel):
    """A tool call; `arguments` is an object, or raw text to send something that is not JSON."""

    model_config = ConfigDict(frozen=True)

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)

    @property
    def raw(self) -> str:
        """The arguments as they go over the wire."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


class Answer(BaseModel):
    """One answer. The faults are those that real endpoints have; `when` picks an answer by words in the request.

    `usage`: "counted" (default), "missing", or the numbers to report. `pace` is seconds between streamed pieces of
    `piece` characters. `times` is how often it is given, 0 for always.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    tool_calls: tuple[Call, ...] = ()
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str = ""
    usage: Literal["counted", "missing"] | dict[str, Any] = "counted"
    when: str = ""
    times: int = 1
    pace: float = 0.0
    piece: int = 12

    status: int = 200
    error: dict[str, Any] | None = None
    body: dict[str, Any] | list[Any] | str | None = None
    """Send this instead of an answer, with the status: JSON, a page (it begins with "<"), or any other text."""
    retry_after: str = ""
    cut_after: int | None = None
    """Close the connection after this many pieces."""
    break_after: int | None = None
    """Stream an error event after this many pieces."""
    event: dict[str, Any] | None = None
    """The event that `break_after` streams, instead of the usual error."""
    garbage: bool = False
    """Answer 200 with something that is not the API."""
    hang: Literal["", "before", "during"] = ""
    """Never answer, or stop after the first piece, until the client goes away."""

    @property
    def finish(self) -> str:
        """The finish reason as chat completions name it."""
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")


def refused(status: int, message: str, *, code: str = "", param: str = "", times: int = 1) -> Answer:
    """An HTTP error with the usual body."""
    error = {"message": message, "type": "invalid_request_error", "param": param or None, "code": code or None}
    return Answer(status=status, error=error, times=times)


def rate_limited(retry_after: str = "", *, times: int = 1) -> Answer:
    """A 429, with the header when there is something to say."""
    error = {"message": "Rate limit reached.", "type": "requests", "param": None, "code": "rate_limit_exceeded"}
    return Answer(status=429, error=error, retry_after=retry_after, times=times)


NO_VISION = refused(400, "Invalid content type. image_url is only supported by certain models.", code="invalid_value")
SCRIPT_IS_OVER = refused(500, "The script of the fake model has no answer left.", times=0)

Script = Iterable[Answer | str] | Callable[[Recorded], Answer]


class Deck:
    """Gives the answers out: the first one that is left and matches the request."""

    def __init__(self, answers: Iterable[Answer | str]) -> None:
        given = [Answer(text=answer) if isinstance(answer, str) else answer for answer in answers]
        self._left: list[tuple[Answer, int]] = [(answer, answer.times) for answer in given]

    def __call__(self, request: Recorded) -> Answer:
        """The answer to this request."""
        for index, (answer, times) in enumerate(self._left):
            if answer.when in request.text:
                if times == 1:
                    del self._left[index]
                elif times > 1:
                    self._left[index] = (answer, times - 1)
                return answer
        return SCRIPT_IS_OVER


class ScriptFile(BaseModel):
    """A script as JSON: `{"personality": "openai", "key": "", "models": [], "replies": [{"text": "…"}, …]}`."""

    model_config = ConfigDict(extra="forbid")

    personality: str = "openai"
    key: str = ""
    models: tuple[str, ...] = ()
    replies: tuple[Answer, ...]


def read_script(path: Path) -> ScriptFile:
    """A script from a file. Raises pydantic.ValidationError."""
    return ScriptFile.model_validate_json(path.read_bytes())
