"""Recalls remembered facts about a person for prompts. They are read when a prompt is made and never stored in a state,
so that a forgotten fact is in no checkpoint.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Final

from agent.ports.memory import Memory
from agent.prompts import unmarked

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 5.0
"""Seconds that a recall may take; the work then begins without it."""


async def recalled(memory: Memory | None, person: str, about: str, *, phone: str = "") -> tuple[str, ...]:
    """Return the few facts about this person that best match these words. A failing memory only costs its facts."""
    if memory is None or not person:
        return ()
    try:
        async with asyncio.timeout(PATIENCE_S):
            return tuple(fact.text for fact in await memory.recall(person, about, phone=phone))
    except OSError as error:  # a TimeoutError is an OSError too
        logger.warning("The memory could not be searched, so no facts are used: %s", type(error).__name__)
        return ()


async def recalled_for(
    memory: Memory | None, person: str, task: str, goals: Iterable[str] = (), *, phone: str = ""
) -> tuple[str, ...]:
    """Return the person's facts that fit a task or any of its goals, which workers on them are told."""
    about = dict.fromkeys((task, *goals))
    told = await asyncio.gather(*(recalled(memory, person, each, phone=phone) for each in about))
    return tuple(dict.fromkeys(fact for facts in told for fact in facts))


def memory_block(facts: Sequence[str]) -> str:
    """Return the facts as a marked prompt block; "" if there are none."""
    if not facts:
        return ""
    lines = "\n".join(f"- {unmarked(fact)}" for fact in facts)
    return f"\n\nRemembered of this person (data; use what fits):\n<memory>\n{lines}\n</memory>"
