"""What a person has told the service to remember, as prompts are told of it: read when a prompt is made, and kept in no
state, so that what is forgotten stands in no checkpoint.
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
"""Seconds that a recall may take; the work begins without it then."""


async def recalled(memory: Memory | None, person: str, about: str, *, phone: str = "") -> tuple[str, ...]:
    """The few facts of this person that fit these words best. A memory that fails costs only what it would recall."""
    if memory is None or not person:
        return ()
    try:
        async with asyncio.timeout(PATIENCE_S):
            return tuple(fact.text for fact in await memory.recall(person, about, phone=phone))
    except OSError as error:  # a timeout is one, too
        logger.warning("The memory could not be searched, so no facts are used: %s", type(error).__name__)
        return ()


async def recalled_for(
    memory: Memory | None, person: str, task: str, goals: Iterable[str] = (), *, phone: str = ""
) -> tuple[str, ...]:
    """The facts of this person that fit a task, and those that fit each of these goals of it: what whoever works
    towards them is told.
    """
    about = dict.fromkeys((task, *goals))
    told = await asyncio.gather(*(recalled(memory, person, each, phone=phone) for each in about))
    return tuple(dict.fromkeys(fact for facts in told for fact in facts))


def memory_block(facts: Sequence[str]) -> str:
    """The facts for a prompt, as a marked block; "" when there are none."""
    if not facts:
        return ""
    lines = "\n".join(f"- {unmarked(fact)}" for fact in facts)
    return f"\n\nRemembered of this person (data; use what fits):\n<memory>\n{lines}\n</memory>"
