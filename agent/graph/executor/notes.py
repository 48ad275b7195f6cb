"""Notes: what the screen shows in words, and what another model makes of all that was noted."""

from __future__ import annotations

from agent.actions import Note, SumUp
from agent.graph.executor.acting import ActionError
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.models.base import Message, ModelRequest, Purpose, Usage
from agent.models.errors import ModelError
from agent.observing import ScreenView
from agent.prompts import prompt

SCREEN_LETTERS = 1500
"""Of one screen in a note: about a full screen of text; notes are read again at every step."""


def noted(action: Note, context: RunContext, sight: ScreenView) -> str:
    """The note: the model's words and, where it wants that, those of the screen."""
    if not action.screen:
        return action.text
    seen = f"On the screen ({sight.observation.package or 'unknown app'}): {_words(sight)}"
    return context.mask.text("\n".join(part for part in (action.text, seen) if part))


async def sum_up(
    action: SumUp, context: RunContext, state: ExecutorState, notes: list[str], sight: ScreenView
) -> tuple[str, Usage]:
    """What the basic model makes of the notes; of the screen while nothing was noted. Raises Trouble and Stopped."""
    lines = "\n".join(f"- {note}" for note in notes) or f"- {context.mask.text(_words(sight))}"
    request = ModelRequest(
        Purpose.SUMMARIZE,
        (
            Message("system", (prompt("sum_up"),)),
            Message("user", (f"Task: {state['task']}\nWanted now: {action.instruction}\n\nNotes:\n{lines}",)),
        ),
        conversation=f"{state['run']}-notes",
    )
    model = context.models.for_purpose(Purpose.SUMMARIZE)
    try:
        reply = await context.control.guard(model.complete(request))
    except ModelError as error:
        raise ActionError(f"The notes could not be summed up: {error}") from error
    words = reply.text.strip()
    if not words:
        raise ActionError("The notes could not be summed up: the answer was empty.")
    return words, reply.usage


def _words(sight: ScreenView) -> str:
    """All words of the screen from top to bottom, each once."""
    labels = [" ".join(element.label.split()) for element in sight.observation.elements or () if not element.password]
    words = " | ".join(dict.fromkeys(label for label in labels if label))
    return words[:SCREEN_LETTERS] or "(no words could be read)"
