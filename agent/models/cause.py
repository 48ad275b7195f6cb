"""Why a model gave no answer that can be used: a closed set of causes."""

from __future__ import annotations

from enum import StrEnum


class Cause(StrEnum):
    """Why a call failed. What helps is the sentence `remedy.…` of the same name."""

    NO_CONNECTION = "no_connection"
    """The endpoint cannot be reached, or it broke off."""
    NO_ANSWER = "no_answer"
    """It did not answer in time."""
    NO_API = "no_api"
    """What it answered is not an answer of a model."""
    OVERSIZED = "oversized"
    """It answered with more than any model says."""
    MOVED = "moved"
    """It sends requests on to another address."""
    NO_KEY = "no_key"
    KEY_REJECTED = "key_rejected"
    UNKNOWN_MODEL = "unknown_model"
    WRONG_ADDRESS = "wrong_address"
    NO_CREDIT = "no_credit"
    """The account is empty or locked, or its quota for the day or longer is used up."""
    BUSY = "busy"
    """Too many requests, or the model is still being loaded."""
    BROKEN = "broken"
    TOO_LONG = "too_long"
    """The request does not fit into the model's context window."""
    TOO_MANY_PICTURES = "too_many_pictures"
    NO_PICTURES = "no_pictures"
    """The model accepts no pictures."""
    FILTERED = "filtered"
    """A filter of the provider refused what was asked."""
    REFUSED = "refused"
    """Any other refusal."""
    UNUSABLE = "unusable"
    """The answer is not of the form that was asked for."""

    @property
    def passing(self) -> bool:
        """Whether the same request may be answered later, without anybody changing anything."""
        return self in {Cause.NO_CONNECTION, Cause.NO_ANSWER, Cause.NO_API, Cause.BUSY, Cause.BROKEN}
