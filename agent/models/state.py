"""The state of a model as a value: whether it works, and why not. It is used by everything that shows or
checks models.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from agent.models.cause import Cause

ABOUT_THE_REQUEST: Final = frozenset(
    {Cause.OVERSIZED, Cause.TOO_LONG, Cause.TOO_MANY_PICTURES, Cause.FILTERED, Cause.REFUSED, Cause.UNUSABLE}
)
"""Causes that only concern one request, so that the model still counts as working."""


class ModelStatus(StrEnum):
    """What is known about whether a model works."""

    OFFLINE = "offline"
    """No endpoint is configured: the offline pilot works in its place."""
    NOT_TESTED = "not_tested"
    """The model has not been called since it was configured."""
    CONNECTED = "connected"
    """The model answered the last request."""
    FAILING = "failing"
    """The model did not answer the last request, because of `ModelState.cause`."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """The state of a model after the last request to it.

    `model` is its name at the endpoint, "" if there is none. `cause` is why it fails; None unless `status` is FAILING.
    `since` is when the state began, in Unix seconds, or None before the first request. `stand_in` is the model that
    answers in its place, "" for none.
    """

    status: ModelStatus
    model: str = ""
    cause: Cause | None = None
    since: float | None = None
    stand_in: str = ""

    def after(self, cause: Cause | None, now: float, stand_in: str = "") -> ModelState:
        """Return the state after a request at the time `now` (Unix seconds).

        `cause` is why the request failed, None if it succeeded. `stand_in` is the model that answered it instead, ""
        for none.
        """
        if self.status is ModelStatus.OFFLINE:
            return self
        if cause in ABOUT_THE_REQUEST:
            cause = None
        status = ModelStatus.CONNECTED if cause is None else ModelStatus.FAILING
        if (status, cause) == (self.status, self.cause):
            return self if stand_in == self.stand_in else replace(self, stand_in=stand_in)
        return replace(self, status=status, cause=cause, since=now, stand_in=stand_in)
