"""Prevents tasks from being sent to LangSmith: it comes with LangGraph, and an environment variable alone would switch
it on.
"""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Final

logger = logging.getLogger(__name__)

SWITCHES: Final = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
    "LANGCHAIN_HANDLER",
)
"""The variables that `langsmith.utils.tracing_is_enabled` and `langchain_core.callbacks.manager` read. The first four
would send every prompt, screenshot and answer to a server; the old names without V2 make every graph fail.
"""


OFF: Final = frozenset({"", "0", "false"})
"""Values that mean no tracing (`langchain_core.utils.env.env_var_is_set`), in any case of letters."""


def keep_tracing_off(environment: MutableMapping[str, str]) -> None:
    """Remove the variables that switch tracing on from `environment`, and log a warning if one was set. Call it before
    any graph runs, because LangSmith caches what it has read.
    """
    found = [name for name in SWITCHES if environment.pop(name, "").strip().lower() not in OFF]
    if found:
        logger.warning("%s is ignored: what happens on phones is not sent to LangSmith.", ", ".join(found))
