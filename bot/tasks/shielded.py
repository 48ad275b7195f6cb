"""Runs calls that must not be interrupted half way, and calls that must not take long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from agent.error_mapping import fault_of
from bot.domain.task import AgentFailed

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class ShieldedCalls:
    """Runs calls as tasks of their own, and keeps references to them until they have ended."""

    def __init__(self, patience: float) -> None:
        self._timeout = patience
        self._running: set[asyncio.Task[Any]] = set()

    async def shield(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await `work` and return its result. It is completed even if the caller is cancelled, so that what is
        committed is also acted on.
        """
        running = self._begin(work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            running.add_done_callback(_log_failure)
            raise

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Run `work` in the background. A failure is logged."""
        self._begin(work).add_done_callback(_log_failure)

    async def with_timeout(self, work: Coroutine[Any, Any, object], *, seconds: float | None = None) -> bool:
        """Await a call to the agent with a time limit (`seconds`, by default that of the service). Returns False if it
        took longer, and then continues in the background, or if it raised TimeoutError itself.

        Raises AgentFailed if the call failed for another reason.
        """
        running = self._begin(work)
        await asyncio.wait({running}, timeout=self._timeout if seconds is None else seconds)
        if not running.done():
            running.add_done_callback(_log_failure)
            return False
        try:
            running.result()
        except TimeoutError:
            return False
        except Exception as error:
            logger.exception("A request to the agent failed because of a fault in the program")
            raise AgentFailed(fault_of(error).sentence) from error
        return True

    async def stop(self, seconds: float) -> None:
        """Cancel the calls that are still running, waiting at most this many seconds."""
        running = self._running - {asyncio.current_task()}
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=seconds)

    def _begin(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        running = asyncio.create_task(work)
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return running


def _log_failure(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("A request failed after its caller was cancelled", exc_info=error)
