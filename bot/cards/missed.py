"""The list of what was written while the service was away, with a button for each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from bot.cards.buttons import Deed, button
from bot.cards.words import shortened
from bot.chats.outgoing import Message
from bot.missed.model import Missed
from bot.texts import say

LISTED = 20
"""Lines of one list: four rows of five buttons, and a length that one message takes everywhere."""
_IN_ROW = 5
_TEXT_LIMIT = 100
"""Characters of what was typed."""


def render_missed(missed: Sequence[Missed], zone: tzinfo) -> Message:
    """One message for one place. The latest are listed; how many more there were is told."""
    shown = list(enumerate(missed, 1))[-LISTED:]
    lines = [say("missed.line", number=number, **_facts(one, zone)) + _mark(one) for number, one in shown]
    if (more := len(missed) - len(shown)) > 0:
        lines.insert(0, say("missed.more", number=more))
    open_ones = [(number, one) for number, one in shown if not one.done]
    buttons = [button(Deed.MISSED, one.id, say("button.run_missed", number=number)) for number, one in open_ones]
    how = say("missed.how") if buttons else ""
    rows = tuple(tuple(buttons[start : start + _IN_ROW]) for start in range(0, len(buttons), _IN_ROW))
    return Message(heading=say("missed.heading"), body="\n".join(lines), footer=how, buttons=rows)


def _facts(one: Missed, zone: tzinfo) -> dict[str, str]:
    late = one.late
    written = datetime.fromtimestamp(late.written, zone)
    return {
        "time": f"{written:%m-%d %H:%M}",
        "person": late.person.name or late.person.id,
        "text": shortened(late.text, _TEXT_LIMIT),
    }


def _mark(one: Missed) -> str:
    return f" ✓ {say('missed.done')}" if one.done else ""
