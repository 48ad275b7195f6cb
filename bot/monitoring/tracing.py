"""Nobody outside hears of tasks: LangSmith comes with LangGraph, and a variable alone would switch its sending on."""

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
"""What `langsmith.utils.tracing_is_enabled` and `langchain_core.callbacks.manager` read. The first four send every
prompt, screenshot and answer to a server; the old names without V2 make every graph fail instead.
"""


OFF: Final = frozenset({"", "0", "false"})
"""Values that ask for no tracing (`langchain_core.utils.env.env_var_is_set`, in any case of letters)."""


def keep_tracing_off(environment: MutableMapping[str, str]) -> None:
    """Take the switches away, and say so if one was on. Before any graph runs: LangSmith remembers what it has read."""
    found = [name for name in SWITCHES if environment.pop(name, "").strip().lower() not in OFF]
    if found:
        logger.warning("%s is ignored: what happens on phones is not sent to LangSmith.", ", ".join(found))
