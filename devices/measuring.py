"""Measures how long parts of the work take, for listeners in this process; by default there are none."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

Part = Literal["frame", "tree", "settle", "act", "model", "store"]
"""A measured part of the work; parts overlap. "frame" takes a picture, "tree" reads the elements, "settle" waits until
the screen stops moving (including its pictures), "act" sends an input, "model" is a call with its retries, and "store"
is a transaction or file.
"""
Listener = Callable[[Part], AbstractContextManager[object]]
"""Returns a context that is entered when a part begins and left, with any exception, when it ends. Must be quick."""

P = ParamSpec("P")
R = TypeVar("R")

_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Context manager: report all measured parts of the work in this process to the listener until the block ends."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def measured(
    part: Part,
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Return a decorator that measures each call of a coroutine function as this part of the work."""

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
