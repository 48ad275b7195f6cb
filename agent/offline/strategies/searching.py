"""The strategy for searching: type the query into the search field, press Enter, and read the results."""

from __future__ import annotations

from agent.offline.clauses import Open, OpenUrl, Search
from agent.offline.matching import folded
from agent.offline.strategies.tapping import launch_known, touched
from agent.offline.strategies.typing import field_of, fill
from agent.offline.view import Done, Move, Page, View
from agent.offline.vocabulary import labels
from agent.scene import ScreenElement

MAX_RESULTS = 10
_LONGEST_BUTTON = 30
_TOP = 0.2
"""The share of the height in which a page's only field is its search."""


def search_next(clause: Search, view: View) -> Move:
    """Return the next move of a search clause: types the query and submits it, a second time if the first try failed.
    The titles of the results are the data.
    """
    steps = view.staged("search")
    if steps and steps[-1].worked:
        if view.page.keyboard or not _shown(view.page, clause.query):
            return view.stuck("no_results", name=clause.query)
        return Done(found=results(view.page))
    if len(steps) > 1:
        return view.stuck("no_results", name=clause.query)
    field = _search_field(view.page)
    if field is not None:
        return fill(view, field, clause.query, "search", clear=True, submit=True)
    if view.page.at_launcher and not view.worked("open"):
        return launch_known(view, "browser")
    button = _search_button(view.page)
    if button is not None and not view.staged("reveal"):
        return touched(view, button, stage="reveal")
    if not isinstance(view.before, Open | OpenUrl) and not view.worked("open"):
        return launch_known(view, "browser")
    return view.stuck("no_search")


def results(page: Page) -> str:
    """Return the titles of the rows on a page of results, one per line; without rows, all text of the page."""
    lines = [row.line for row in page.rows[:MAX_RESULTS]]
    return "\n".join(lines) or page.text(2 * MAX_RESULTS)


def _shown(page: Page, query: str) -> bool:
    wanted = folded(query)
    return any(wanted in folded(each.text) for each in page.named)


def _search_field(page: Page) -> ScreenElement | None:
    """Return the field labelled as search, in a browser the address bar, elsewhere the only field at the top."""
    if (field := field_of(page, "search")) is not None:
        return field
    if page.in_browser and page.fields:
        return page.fields[0]
    if len(page.fields) == 1 and not any(field_of(page, kind) for kind in labels().fields if kind != "search"):
        height = max(each.bounds.bottom for each in page.elements)
        return page.fields[0] if page.fields[0].bounds.bottom < height * _TOP else None
    return None


def _search_button(page: Page) -> ScreenElement | None:
    """Return what is called Search, or begins with it in a few words, like "Search settings"."""
    words = tuple(folded(word) for word in labels().buttons["search"])
    fitting = [each for each in page.named if folded(each.text).startswith(words) and page.tappable(each)]
    shortest = min(fitting, key=lambda each: len(each.text), default=None)
    return shortest if shortest is not None and len(shortest.text) <= _LONGEST_BUTTON else None
