"""How the model behind an endpoint is doing, as one value for everything that shows or asks it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from agent.models.cause import Cause

ABOUT_THE_REQUEST: Final = frozenset(
    {Cause.OVERSIZED, Cause.TOO_LONG, Cause.TOO_MANY_PICTURES, Cause.FILTERED, Cause.REFUSED, Cause.UNUSABLE}
)
"""Causes that say nothing of the next request: the endpoint answered."""


class ModelStatus(StrEnum):
    """What is known of a model."""

    OFFLINE = "offline"
    """No endpoint is set: the offline pilot works in its place."""
    NOT_TESTED = "not_tested"
    """Nothing has been asked of it since it was set."""
    CONNECTED = "connected"
    """It gave an answer to the last request."""
    FAILING = "failing"
    """It gave none, because of `ModelState.cause`."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model as it was at the last request to it. `model` is its name at the endpoint, "" without one.

    `cause` is why it fails, None unless `status` is FAILING; `stand_in` is the model that answers in its place then, ""
    for none. `since` is in Unix seconds: when it got into this state,
    None before the first request.
    """

    status: ModelStatus
    model: str = ""
    cause: Cause | None = None
    since: float | None = None
    stand_in: str = ""

    def after(self, cause: Cause | None, now: float, stand_in: str = "") -> ModelState:
        """The state after a request at `now` (Unix seconds) that failed because of `cause`, None for an answer; with a
        `stand_in` that has answered it.
        """
        if self.status is ModelStatus.OFFLINE:
            return self
        if cause in ABOUT_THE_REQUEST:
            cause = None
        status = ModelStatus.CONNECTED if cause is None else ModelStatus.FAILING
        if (status, cause) == (self.status, self.cause):
            return self if stand_in == self.stand_in else replace(self, stand_in=stand_in)
        return replace(self, status=status, cause=cause, since=now, stand_in=stand_in)
