"""What a card shows besides the stored task: what is being waited for. Kept until the work goes on."""

from __future__ import annotations

from datetime import tzinfo

from agent.events import ModelAway, Started, Step, TaskEnded, TaskEvent, Told
from bot.cards.formatting import model_away


class StatusNotes:
    """By task, from the events of its work. Times are told in `zone`."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._notes: dict[str, Told | ModelAway] = {}

    def take(self, task: str, event: TaskEvent) -> bool:
        """Take an event in; whether the card reads otherwise now."""
        match event:
            case Told(text=""):
                return self._notes.pop(task, None) is not None
            case ModelAway(until=None):
                return isinstance(self._notes.get(task), ModelAway) and self._notes.pop(task, None) is not None
            case Told() | ModelAway():
                self._notes[task] = event
                return True
            case Step() | Started() | TaskEnded():
                return self._notes.pop(task, None) is not None
            case _:
                return False

    def note(self, task: str) -> str:
        """What was told last, until the work goes on; in the language that is spoken."""
        match self._notes.get(task):
            case Told(text=text):
                return text
            case ModelAway() as away:
                return model_away(away, self._zone)
            case _:
                return ""
