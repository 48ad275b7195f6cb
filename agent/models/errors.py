"""Everything a model call can fail with; each message is a sentence for a person.

ModelError
├── ModelUnreachable     no connection, time-out, 429 or 5xx to the last retry
├── ModelRefused         the endpoint said no and will say no again (4xx)
│   ├── ModelKeyRejected     401, 403, or no key
│   ├── UnknownModel         404, model_not_found
│   ├── InputTooLong         more than fits into the model's context window
│   └── NoVision             the model does not take pictures
└── ModelAnswerUnusable  an answer came, but not of the asked form
"""

from __future__ import annotations

from agent.models.base import Usage
from agent.models.cause import Cause


class ModelError(Exception):
    """A model call failed; nothing was done on the phone because of it. `cause` says why, `usage` what was spent on
    answers before it that are of no use without the one that failed.
    """

    cause = Cause.REFUSED

    def __init__(self, message: str, *, cause: Cause | None = None) -> None:
        super().__init__(message)
        self.cause = cause or type(self).cause
        self.usage = Usage()


class ModelUnreachable(ModelError):
    """No answer, after all retries. `status` is the HTTP status of the last one, 0 for none; `retry_after` is for how
    many seconds the endpoint asked to be left alone, None when it asked for nothing.
    """

    cause = Cause.NO_CONNECTION

    def __init__(
        self, message: str, *, status: int = 0, retry_after: float | None = None, cause: Cause | None = None
    ) -> None:
        super().__init__(message, cause=cause)
        self.status = status
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The endpoint refused the request; repeating it would not help."""


class ModelKeyRejected(ModelRefused):
    """The key is missing, wrong or not allowed."""

    cause = Cause.KEY_REJECTED


class UnknownModel(ModelRefused):
    """The endpoint does not know the model."""

    cause = Cause.UNKNOWN_MODEL


class InputTooLong(ModelRefused):
    """The request does not fit into the model's context window."""

    cause = Cause.TOO_LONG


class NoVision(ModelRefused):
    """The model does not accept pictures."""

    cause = Cause.NO_PICTURES


class ModelAnswerUnusable(ModelError):
    """The answer could not be read as what was asked for, even after a repair turn. `usage` is what it cost, `text`
    what the model has said instead.
    """

    cause = Cause.UNUSABLE

    def __init__(self, message: str, usage: Usage | None = None, *, text: str = "") -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        self.text = text
