"""The parameters that all routes of the API share: the caller, and the limits of a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Protocol, TypeVar

from fastapi import Depends, Path, Query, Request

from bot.application.services import Services
from bot.texts import say
from bot.web.auth import caller_of
from bot.web.v1.calls import Calls
from bot.web.v1.models import MOST_NUMBER, MOST_ON_A_PAGE, NAME_LIMIT, Item, Listed, Page

Row = TypeVar("Row")


class BadPage(Exception):
    """The cursor in a request for a list, or the `Last-Event-ID` in one for a stream, is not valid."""

    def __init__(self) -> None:
        super().__init__(say("api.bad_page", most=MOST_ON_A_PAGE))


async def calls_of(request: Request) -> Calls:
    """Return the operations that the request's sender may call. It is a coroutine because FastAPI would run a plain
    function in a thread.
    """
    services: Services = request.app.state.services
    return Calls(services, caller_of(request), request.state.event)


Caller = Annotated[Calls, Depends(calls_of)]
Id = Annotated[str, Path(min_length=1, max_length=NAME_LIMIT)]
Limit = Annotated[int, Query(ge=1, le=MOST_ON_A_PAGE, description="How many at most.")]
Number = Annotated[int, Path(ge=1, le=MOST_NUMBER)]
Cursor = Annotated[str, Query(max_length=NAME_LIMIT, description="`next_cursor` of the page before.")]
NumberCursor = Annotated[
    str, Query(pattern="^[0-9]{0,18}$", max_length=18, description="`next_cursor` of the page before.")
]


class _Numbered(Protocol):
    @property
    def id(self) -> str: ...


N = TypeVar("N", bound=_Numbered)


def after(rows: Iterable[N], cursor: str) -> list[N]:
    """Return the rows whose number is above the cursor's, by number."""
    return sorted((one for one in rows if int(one.id) > int(cursor or 0)), key=lambda one: int(one.id))


def page(items: Sequence[Item], limit: int, key: str = "id") -> Listed[Any]:
    """Build one page of a list. `items` are the results, one more than `limit` if there are further pages; `key` is the
    field of the last item on this page that becomes the cursor.
    """
    more = len(items) > limit
    cursor = str(getattr(items[limit - 1], key)) if more else None
    return Listed(data=Page(items=list(items[:limit]), next_cursor=cursor, has_more=more))


def whole(items: Sequence[Item]) -> Listed[Any]:
    """Build a list that has all its items on one page."""
    return page(items, len(items))
