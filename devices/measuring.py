"""How long the parts of the work take: told to whoever listens in this process, and to nobody by default."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

Part = Literal["frame", "tree", "settle", "act", "model", "store"]
"""frame, tree: a picture, the elements. settle: until the screen stands still, with the looks that this takes. act: an
input on its way. model: a call with its retries. store: a transaction, or a file. Parts overlap.
"""
Listener = Callable[[Part], AbstractContextManager[object]]
"""Is entered when a part begins and left when it ends, with its exception when it fails. It must be quick."""

P = ParamSpec("P")
R = TypeVar("R")

_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """The listener hears of everything in this process until the block ends."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def measured(
    part: Part,
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """A coroutine function whose calls are such a part."""

    def around(work: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @wraps(work)
        async def heard(*args: P.args, **kwargs: P.kwargs) -> R:
            if not _listeners:
                return await work(*args, **kwargs)
            with ExitStack() as stack:
                for listener in _listeners:
                    stack.enter_context(listener(part))
                return await work(*args, **kwargs)

        return heard

    return around
