"""Opens an app by one of its names."""

from __future__ import annotations

from agent.actions import OpenApp
from agent.models.offline.matching import folded
from agent.models.offline.moves import Act, Stuck
from agent.models.offline.view import View
from agent.models.offline.vocabulary import labels


def names_of(name: str) -> tuple[str, ...]:
    """The name as it was given, then the other names of the same thing."""
    same = [group for group in labels().same if folded(name) in map(folded, group)]
    return tuple(dict.fromkeys([name, *(other for group in same for other in group if folded(other) != folded(name))]))


def launch(view: View, names: tuple[str, ...]) -> Act | Stuck:
    """Open the app by the next of its names that was not tried yet."""
    failed = sum(not step.worked for step in view.staged("open"))
    if failed >= len(names):
        return view.stuck("not_open", name=names[0])
    return view.act(OpenApp(name=names[failed]), "open", "opening", name=names[0])


def launch_known(view: View, kind: str) -> Act | Stuck:
    """Open the app of a kind (see [apps] in labels.toml)."""
    return launch(view, labels().apps[kind])
