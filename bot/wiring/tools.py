"""The tools of a run that need no phone, by the settings. What they are made with is loaded when one is used first."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.executor.built_in import BUILT_IN
from agent.ports.workshop import Workshop
from agent.tools.compute import CALCULATE, PYTHON
from agent.tools.shell import shell_tools
from agent.tools.web import read_page, web_search
from bot.config.settings import Settings

if TYPE_CHECKING:
    from agent.tools.egress import Egress
    from agent.tools.searching import Search


def actions_of(settings: Settings, workshop: Workshop | None = None) -> ActionRegistry:
    """What a run can do on the phone and without it. Pages are read from the public internet alone; shell and full
    Python are there with a workshop.
    """
    actions = BUILT_IN.plus(CALCULATE, PYTHON)
    if workshop is not None:
        actions = actions.plus(*shell_tools(workshop, lambda _context: None))
    if not settings.web_tools:
        return actions
    actions = actions.plus(read_page(_public))
    if settings.searxng_url or settings.tavily_api_key.get_secret_value():
        actions = actions.plus(web_search(cache(lambda: _search(settings))))
    return actions


@cache
def _public() -> Egress:
    from agent.tools.egress import Egress  # noqa: PLC0415 - only where something is fetched

    return Egress()


def _search(settings: Settings) -> Search:
    from agent.tools.egress import Egress  # noqa: PLC0415 - only where something is searched
    from agent.tools.searching import SearXng, Tavily, endpoint_of  # noqa: PLC0415 - the same

    if settings.searxng_url:
        return SearXng(settings.searxng_url, Egress(named=frozenset({endpoint_of(settings.searxng_url)})))
    return Tavily(settings.tavily_api_key.get_secret_value(), _public())
