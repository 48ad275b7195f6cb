"""Notes: what the screen shows in words, and what another model makes of all that was noted."""

from __future__ import annotations

from agent.actions import Note, SumUp
from agent.graph.executor.action_spec import PhoneContext
from agent.models.base import Message, ModelRequest, Purpose
from agent.models.errors import ModelError
from agent.observing import ScreenView
from agent.prompts import prompt, unmarked
from agent.tools.spec import ActionError, Done

SUMMED_UP = "Your notes were summed up: the answer is the last of your notes."
SCREEN_LETTERS = 1500
"""Of one screen in a note: about a full screen of text; notes are read again at every step."""


async def note(action: Note, context: PhoneContext) -> Done:
    """A note: the model's words and, where it wants that, those of the screen."""
    assert context.sight is not None
    if not action.screen:
        return Done(notes=(action.text,))
    seen = f"On the screen ({context.sight.observation.package or 'unknown app'}): {_words(context.sight)}"
    return Done(notes=("\n".join(part for part in (action.text, seen) if part),))


async def sum_up(action: SumUp, context: PhoneContext) -> Done:
    """What the basic model makes of the notes; of the screen while nothing was noted. Raises ActionError and Stopped.

    It is kept as a note, where the model reads it as data, and as data of the task.
    """
    assert context.sight is not None
    lines = "\n".join(f"- {each}" for each in context.notes) or f"- {context.mask.text(_words(context.sight))}"
    request = ModelRequest(
        Purpose.SUMMARIZE,
        (
            Message("system", (prompt("sum_up"),)),
            Message(
                "user",
                (f"Task: {context.task}\nWanted now: {action.instruction}\n\n<notes>\n{unmarked(lines)}\n</notes>",),
            ),
        ),
        conversation=f"{context.run}-notes",
        task=context.run.task,
    )
    model = context.models.for_purpose(Purpose.SUMMARIZE)
    try:
        reply = await context.control.guard(model.complete(request))
    except ModelError as error:
        raise ActionError(f"The notes could not be summed up: {error}") from error
    words = reply.text.strip()
    if not words:
        raise ActionError("The notes could not be summed up: the answer was empty.")
    return Done(told=(SUMMED_UP,), notes=(words,), gathered=words, usage=reply.usage)


def _words(sight: ScreenView) -> str:
    """All words of the screen from top to bottom, each once."""
    labels = [" ".join(element.label.split()) for element in sight.observation.elements or () if not element.password]
    words = " | ".join(dict.fromkeys(label for label in labels if label))
    return words[:SCREEN_LETTERS] or "(no words could be read)"
