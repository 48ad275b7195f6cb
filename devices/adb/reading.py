"""Elements and state of a screen, read while its picture is captured."""

from __future__ import annotations

import asyncio
from typing import Any

from devices.adb.shell import Shell
from devices.adb.state import State, read_brief, read_state
from devices.adb.ui_tree import Trees
from devices.geometry import Size
from devices.phone import Element, Observation

_STATUS_BAR = 0.045
"""Share of the longer side that the status bar takes: its clock ticks."""


class ScreenReading:
    """One reading at a time, begun anew when the screen turns out to have changed. `drop` it at the end."""

    def __init__(self, trees: Trees, shell: Shell) -> None:
        self._trees = trees
        self._shell = shell
        self._tree: asyncio.Task[tuple[Element, ...] | None] | None = None
        self._state: asyncio.Task[State] | None = None
        self.size: Size | None = None
        self.brief = False
        """Whether only what an early look has to tell is asked of the state (see `read_brief`)."""

    @property
    def begun(self) -> bool:
        """Whether one is under way, or done."""
        return self._tree is not None

    def begin(self, size: Size, elements: tuple[Element, ...] | None = None, *, brief: bool = False) -> None:
        """Read a screen of this size; what was being read counts no more. With `elements` only its state is read."""
        self._tree = asyncio.create_task(self._read_tree(size, elements, self._tree))
        self.size = size
        self.begin_state(brief=brief)

    def begin_state(self, *, brief: bool = False) -> None:
        """Ask for the state anew; the elements are read on."""
        self._state = asyncio.create_task(self._read_state(brief, self._state))
        self.brief = brief

    @property
    def has_elements(self) -> bool:
        """Whether the elements have come, or will not."""
        return self._tree is not None and self._tree.done()

    async def result(self) -> tuple[tuple[Element, ...] | None, State]:
        """What was read. Raises PhoneGone, PhoneUnavailable, PhoneTimeout."""
        state = await self.state()
        return await self.elements(), state

    async def elements(self) -> tuple[Element, ...] | None:
        """The elements, None when they did not come in time. Raises as `result`."""
        assert self._tree is not None
        return await self._tree

    async def state(self) -> State:
        """The state; the elements may still be on their way. Raises as `result`."""
        assert self._state is not None
        return await self._state

    async def drop(self) -> None:
        """End what is still being read; whatever came of it is of no interest."""
        for task in (self._tree, self._state):
            if task is not None:
                await _end(task)

    async def _read_tree(
        self,
        size: Size,
        elements: tuple[Element, ...] | None,
        earlier: asyncio.Task[tuple[Element, ...] | None] | None,
    ) -> tuple[Element, ...] | None:
        if earlier is not None:
            await _end(earlier)
        return await self._trees.read(size) if elements is None else elements

    async def _read_state(self, brief: bool, earlier: asyncio.Task[State] | None) -> State:
        if earlier is not None:
            await _end(earlier)
        return await (read_brief if brief else read_state)(self._shell)


def same_facts(then: Observation, now: State) -> bool:
    """Whether app, page, keyboard, rotation and lock are as they were seen."""
    return (then.package, then.activity, then.keyboard_shown, then.rotation, then.locked, then.screen_on) == (
        now.package,
        now.activity,
        now.keyboard_shown,
        now.rotation,
        now.locked,
        now.screen_on,
    )


def same_elements(then: tuple[Element, ...] | None, now: tuple[Element, ...] | None, size: Size) -> bool:
    """Whether two trees are the same below the status bar. One that did not come in time contradicts nothing."""
    if then is None or now is None:
        return True
    top = max(size.width, size.height) * _STATUS_BAR
    return [e for e in then if e.bounds.centre.y > top] == [e for e in now if e.bounds.centre.y > top]


async def _end(task: asyncio.Task[Any]) -> None:
    """Cancel, and wait until it has let go of the phone. Its failure, if it has one, was another reading's."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
