"""Selects the strategy for each kind of clause, and the words that describe a finished clause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.offline.clauses import (
    Alarm,
    Ask,
    Clause,
    EnterSecret,
    Open,
    OpenUrl,
    Press,
    Read,
    Scroll,
    Search,
    SendMessage,
    SignIn,
    Tap,
    Toggle,
    TypeText,
    Wait,
    WriteNote,
)
from agent.offline.strategies.moving import press_next, scroll_next, url_next, wait_next
from agent.offline.strategies.reading import ask_next, read_next
from agent.offline.strategies.searching import search_next
from agent.offline.strategies.signing_in import sign_in_next
from agent.offline.strategies.switching import alarm_next, toggle_next
from agent.offline.strategies.tapping import open_next, tap_next
from agent.offline.strategies.typing import secret_next, type_next
from agent.offline.strategies.writing import message_next, note_next
from agent.offline.view import Move, View
from agent.offline.vocabulary import wording


def next_move(clause: Clause, view: View) -> Move:
    """Return the next move for this clause: an action, that it is done, or that it cannot be done."""
    return _STRATEGIES[type(clause)](clause, view)


_STRATEGIES: dict[type[Clause], Callable[[Any, View], Move]] = {
    Open: open_next,
    OpenUrl: url_next,
    Search: search_next,
    Tap: tap_next,
    TypeText: type_next,
    EnterSecret: secret_next,
    Scroll: scroll_next,
    Press: press_next,
    Toggle: toggle_next,
    Alarm: alarm_next,
    Wait: wait_next,
    Read: read_next,
    Ask: ask_next,
    SignIn: sign_in_next,
    WriteNote: note_next,
    SendMessage: message_next,
}


def done_words(clause: Clause, *, chinese: bool) -> str:
    """Return a few words for people about what a finished clause did."""
    key, name = _done(clause)
    if isinstance(clause, Scroll):
        name = wording(clause.direction, chinese=chinese)
    return wording(key, chinese=chinese, name=name)


def _done(clause: Clause) -> tuple[str, str]:
    match clause:
        case Open(name=name):
            return "done_open", name
        case OpenUrl(url=url):
            return "done_url", url
        case Search(query=query):
            return "done_search", query
        case Tap(label=label, nth=nth):
            return ("done_tap", label) if label else ("done_row", str(nth))
        case TypeText(text=text):
            return "done_type", text
        case EnterSecret(what=what):
            return "done_secret", what
        case Press(key=key):
            return "done_press", key.value
        case Toggle(label=label, on=on) | Alarm(time=label, on=on):
            return ("done_on" if on else "done_off"), label
        case SendMessage(to=to):
            return "done_message", to
        case _:
            return f"done_{_SIMPLE[type(clause)]}", ""


_SIMPLE: dict[type, str] = {
    Scroll: "scroll",
    Wait: "wait",
    Read: "read",
    Ask: "ask",
    SignIn: "sign_in",
    WriteNote: "note",
}
