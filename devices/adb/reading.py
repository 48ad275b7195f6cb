"""Elements and state of a screen, read while its picture is captured."""

from __future__ import annotations

import asyncio

from devices.adb.shell import Shell, together
from devices.adb.state import State, read_state
from devices.adb.ui_tree import Trees
from devices.geometry import Size
from devices.phone import Element, Observation

_STATUS_BAR = 0.045
"""Share of the longer side that the status bar takes: its clock ticks."""


class Reading:
    """One reading at a time, begun anew when the screen turns out to have changed. `drop` it at the end."""

    def __init__(self, trees: Trees, shell: Shell) -> None:
        self._trees = trees
        self._shell = shell
        self._task: asyncio.Task[tuple[tuple[Element, ...] | None, State]] | None = None
        self.size: Size | None = None

    @property
    def begun(self) -> bool:
        """Whether one is under way, or done."""
        return self._task is not None

    def begin(self, size: Size, elements: tuple[Element, ...] | None = None) -> None:
        """Read a screen of this size; what was being read counts no more. With `elements` only its state is read."""
        self._task = asyncio.create_task(self._read(size, elements, self._task))
        self.size = size

    async def result(self) -> tuple[tuple[Element, ...] | None, State]:
        """What was read. Raises PhoneGone, PhoneUnavailable, PhoneTimeout."""
        assert self._task is not None
        return await self._task

    async def drop(self) -> None:
        """End what is still being read; whatever came of it is of no interest."""
        if self._task is not None:
            await _end(self._task)

    async def _read(
        self,
        size: Size,
        elements: tuple[Element, ...] | None,
        earlier: asyncio.Task[tuple[tuple[Element, ...] | None, State]] | None,
    ) -> tuple[tuple[Element, ...] | None, State]:
        if earlier is not None:
            await _end(earlier)
        if elements is not None:
            return elements, await read_state(self._shell)
        async with together() as group:
            tree = group.create_task(self._trees.read(size))
            state = group.create_task(read_state(self._shell))
        return tree.result(), state.result()


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


async def _end(task: asyncio.Task[tuple[tuple[Element, ...] | None, State]]) -> None:
    """Cancel, and wait until it has let go of the phone. Its failure, if it has one, was another reading's."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
