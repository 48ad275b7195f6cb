"""What the desk answers when it cannot do what was asked. Each text is a sentence for the person."""

from __future__ import annotations

from bot.tasks.model import Task, TaskState


class TaskError(Exception):
    """The desk did not do what was asked."""


class UnknownTask(TaskError):
    """There is no such task."""

    def __init__(self, task: str) -> None:
        super().__init__(f"There is no task {task!r}.")


class UnknownQuestion(TaskError):
    """There is no such question."""

    def __init__(self, question: str) -> None:
        super().__init__(f"There is no question {question!r}.")


class WrongState(TaskError):
    """The task is in a state in which this cannot be done. `task` is as it stands now."""

    def __init__(self, task: Task, wanted: str) -> None:
        self.task = task
        self.state = task.state
        super().__init__(f"Task {task.called} {_STANDS[task.state]}: it cannot be {wanted} now.")


class NotWaiting(TaskError):
    """The task does not wait for a phone, so it has no place in a queue."""

    def __init__(self, task: Task) -> None:
        super().__init__(
            f"Task {task.called} {_STANDS[task.state]} and does not wait for a phone. Nothing was changed."
        )


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
        super().__init__(
            f"Task {task.called} is paused: it begins nothing new. What it was just doing has not ended yet and may "
            "still reach the phone."
        )


class MindFailed(TaskError):
    """The agent could not take the request."""


_STANDS = {
    TaskState.QUEUED: "is queued",
    TaskState.WORKING: "is at work",
    TaskState.WAITING: "waits for an answer",
    TaskState.PAUSED: "is paused",
    TaskState.INTERRUPTED: "was interrupted by a restart",
    TaskState.ENDED: "has ended",
}
