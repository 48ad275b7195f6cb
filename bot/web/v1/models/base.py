"""The building blocks of the API's models: limits, kinds of text, paginated lists, and the form of a refusal."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

TEXT_LIMIT = 20_000
"""Characters of a task, a message or an answer."""
NAME_LIMIT = 100
MOST_ON_A_PAGE = 100
MOST_NUMBER = 10**18 - 1
"""Largest number of a message."""

Item = TypeVar("Item")


class Sent(BaseModel):
    """The base class of request bodies. Unknown fields are errors, and values are not converted: "1" is not a
    number.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Got(BaseModel):
    """The base class of answers. Their docstrings and field descriptions appear in the OpenAPI document."""

    model_config = ConfigDict(frozen=True)


Text = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT)]
Name = Annotated[str, Field(max_length=NAME_LIMIT)]
Arguments = Annotated[
    dict[Annotated[str, Field(max_length=NAME_LIMIT)], Annotated[str, Field(max_length=TEXT_LIMIT)]],
    Field(max_length=40),
]


class Problem(Got):
    """The answer to a request that was refused or failed."""

    code: str = Field(description="Short and stable, for programs.")
    message: str = Field(description="A sentence for people, in the language that Accept-Language asks for.")
    details: Any = Field(default=None, description="More, where there is more to say.")


class Page(Got, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next_cursor: str | None = Field(description="What to send as `cursor` for the next page; null on the last one.")
    has_more: bool


class Listed(Got, Generic[Item]):
    """A list, of which each answer contains one page."""

    code: Literal["ok"] = "ok"
    data: Page[Item]
