"""What a card shows besides the stored task: the todo list, and what is being waited for. Kept while it lives."""

from __future__ import annotations

from agent.events import Planned, Started, Step, TaskEvent, Todo, Told


class Asides:
    """By task, from the events of its work. A restart begins with none; the next plan brings them back."""

    def __init__(self) -> None:
        self._todos: dict[str, tuple[Todo, ...]] = {}
        self._notes: dict[str, str] = {}

    def take(self, task: str, event: TaskEvent) -> bool:
        """Take an event in; whether the card reads otherwise now."""
        match event:
            case Planned():
                self._todos[task] = event.todos
                return True
            case Told():
                self._notes[task] = event.text
                return True
            case Step() | Started():
                return self._notes.pop(task, None) is not None
            case _:
                return False

    def todos(self, task: str) -> tuple[Todo, ...]:
        """The todo list as last planned."""
        return self._todos.get(task, ())

    def note(self, task: str) -> str:
        """What was told last, until the work goes on."""
        return self._notes.get(task, "")

    def forget(self, task: str) -> None:
        """The task has ended."""
        self._todos.pop(task, None)
        self._notes.pop(task, None)
