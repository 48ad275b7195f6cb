"""What a typed line means: a command, or words for the task whose view is open."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agent.questions import QuestionKind
from bot.tasks.model import OpenQuestion

NOT_KEPT = "•••••• (not kept)"
"""Shown in place of a code or password."""


def command_of(text: str, thread: str, commands: Collection[str]) -> str | None:
    """The command in a line, None when it is none.

    A leading slash always makes a command. Without one, the first word decides in the console itself; in a task's
    view it does not, since "cancel that order" is an answer there.
    """
    line = text.strip()
    if line.startswith("/"):
        return line[1:].strip()
    if not thread and line.split(maxsplit=1)[0:1] and line.split(maxsplit=1)[0].lower() in commands:
        return line
    return None


def may_be_secret(command: str | None, questions: Sequence[OpenQuestion]) -> bool:
    """Whether the text could be a code or password that somebody was asked for: then it must not be kept."""
    asked = any(open_question.question.kind is QuestionKind.SECRET for open_question in questions)
    return asked and (command is None or command.split(maxsplit=1)[0:1] == ["answer"])
