"""Open: an app, or something on the page that opens when it is touched."""

from __future__ import annotations

from agent.models.offline.clauses import Open
from agent.models.offline.matching import SAME, likeness
from agent.models.offline.moves import Done, Move, Stuck
from agent.models.offline.page import Several
from agent.models.offline.strategies.launching import launch, names_of
from agent.models.offline.strategies.tapping import touch
from agent.models.offline.view import View


def open_next(clause: Open, view: View) -> Move:
    """The app; inside an app first what stands there under exactly this name."""
    if view.worked("open"):
        return Done() if not view.page.at_launcher else view.stuck("not_open", name=clause.name)
    if view.staged("tap", "settle", "lookdown", "lookup"):
        return touch(view, clause.name)
    inside = view.index > 0 and not view.page.at_launcher
    if inside and not view.staged("open") and _stands_there(clause.name, view):
        return touch(view, clause.name)
    move = launch(view, names_of(clause.name))
    if isinstance(move, Stuck) and inside:
        touched = touch(view, clause.name)
        return move if isinstance(touched, Stuck) else touched
    return move


def _stands_there(name: str, view: View) -> bool:
    found = view.page.find(name, such=view.page.tappable)
    return found is not None and not isinstance(found, Several) and likeness(name, found.text) >= SAME
