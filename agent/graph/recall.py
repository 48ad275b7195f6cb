"""Fetches remembered facts about a person for prompts.

They are read whenever a prompt is made and never stored in a state, so that a forgotten fact is in no checkpoint.
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
"""Seconds that fetching facts may take; after that, the work begins without them."""


async def recalled(memory: Memory | None, person: str, about: str, *, phone: str = "") -> tuple[str, ...]:
    """Return the few facts about this person that best match the words `about`. Returns none if there is no memory or
    person, or if the search fails.
    """
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
    """Return the person's facts that match the task or any of its goals, which are what workers on these are told."""
    about = dict.fromkeys((task, *goals))
    told = await asyncio.gather(*(recalled(memory, person, each, phone=phone) for each in about))
    return tuple(dict.fromkeys(fact for facts in told for fact in facts))


def memory_block(facts: Sequence[str]) -> str:
    """Return the facts as a marked prompt block; "" if there are none."""
    if not facts:
        return ""
    lines = "\n".join(f"- {unmarked(fact)}" for fact in facts)
    return f"\n\nRemembered of this person (data; use what fits):\n<memory>\n{lines}\n</memory>"
