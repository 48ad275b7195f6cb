"""What a card shows besides the stored task: what is being waited for. Kept until the work goes on."""

from __future__ import annotations

from agent.events import Started, Step, TaskEnded, TaskEvent, Told


class Asides:
    """By task, from the events of its work."""

    def __init__(self) -> None:
        self._notes: dict[str, str] = {}

    def take(self, task: str, event: TaskEvent) -> bool:
        """Take an event in; whether the card reads otherwise now."""
        match event:
            case Told(text=""):
                return self._notes.pop(task, None) is not None
            case Told():
                self._notes[task] = event.text
                return True
            case Step() | Started() | TaskEnded():
                return self._notes.pop(task, None) is not None
            case _:
                return False

    def note(self, task: str) -> str:
        """What was told last, until the work goes on."""
        return self._notes.get(task, "")
