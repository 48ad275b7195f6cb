"""What the desk answers when it cannot do what was asked. Each text is a sentence for the person."""

from __future__ import annotations

from bot.tasks.model import Task
from bot.texts import say


class TaskError(Exception):
    """The desk did not do what was asked."""


class UnknownTask(TaskError):
    """There is no such task."""

    def __init__(self, task: str) -> None:
        super().__init__(say("desk.no_task", task=task[:40]))


class UnknownQuestion(TaskError):
    """There is no such question."""

    def __init__(self, question: str) -> None:
        super().__init__(say("desk.no_question", question=question[:40]))


class WrongState(TaskError):
    """The task is in a state in which this cannot be done. `task` is as it stands now.

    `wanted` is the state that it was to have, or "taken" (over by a person) or "steered".
    """

    def __init__(self, task: Task, wanted: str) -> None:
        self.task = task
        self.state = task.state
        words = say(f"desk.wanted.{wanted}")
        super().__init__(say("desk.wrong_state", task=task.called, standing=_standing(task), wanted=words))


class NotWaiting(TaskError):
    """The task does not wait for a phone, so it has no place in a queue."""

    def __init__(self, task: Task) -> None:
        super().__init__(say("desk.not_waiting", task=task.called, standing=_standing(task)))


class BadText(TaskError):
    """A text is empty, too long, or no answer to a question of this kind."""


class DeskFull(TaskError):
    """Too many tasks live already."""


class OverQuota(TaskError):
    """The person has used up what they may use in a day; `detail` says what, for the audit."""

    def __init__(self, text: str, detail: str) -> None:
        self.detail = detail
        super().__init__(text)


class NotStill(TaskError):
    """The task was paused, but what it was doing on the phone has not come to rest yet. `task` is as it stands now."""

    def __init__(self, task: Task) -> None:
        self.task = task
        super().__init__(say("desk.not_still", task=task.called))


class MindFailed(TaskError):
    """The agent could not take the request."""


def _standing(task: Task) -> str:
    return say(f"desk.stands.{task.state}")
