"""All errors of a model call. Each message is a sentence for a person.

ModelError
├── ModelUnreachable     no connection, time-out, 429 or 5xx even at the last retry
├── ModelRefused         the endpoint refused and would refuse again (4xx)
│   ├── ModelKeyRejected     401, 403, or no key
│   ├── UnknownModel         404, model_not_found
│   ├── InputTooLong         the input exceeds the model's context window
│   └── NoVision             the model does not accept pictures
└── ModelAnswerUnusable  an answer came, but not in the requested form
"""

from __future__ import annotations

from agent.models.base import Usage
from agent.models.state import Cause


class ModelError(Exception):
    """A model call failed, so nothing was done on the phone.

    `cause` is the reason. `usage` counts the tokens of earlier answers that are useless without the failed one.
    """

    cause = Cause.REFUSED

    def __init__(self, message: str, *, cause: Cause | None = None) -> None:
        super().__init__(message)
        self.cause = cause or type(self).cause
        self.usage = Usage()


class ModelUnreachable(ModelError):
    """The endpoint did not answer, even after all retries. `status` is the last HTTP status, 0 if there was none.
    `retry_after` is how many seconds the endpoint asked to wait, None if it did not ask.
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
    """The API key is missing, wrong or not authorised."""

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
    """The answer did not have the required form, even after the model was asked to correct it.

    `usage` are the tokens that it cost, and `text` is what the model wrote instead.
    """

    cause = Cause.UNUSABLE

    def __init__(self, message: str, usage: Usage | None = None, *, text: str = "") -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        self.text = text
