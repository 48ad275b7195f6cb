"""The questions that the agent asks a person through the bot, their answers, and the approvals that a person gives in
advance.

Recipients and texts are compared exactly. Anything unknown never matches.
"""

from __future__ import annotations

import asyncio
import unicodedata
from enum import StrEnum
from typing import Final

from pydantic import BaseModel

from agent.run import RunId

MAX_NAME: Final = 60
"""The maximum letters of a recipient's name, so that a person sees all of what they approve."""


class Recipient(BaseModel, frozen=True):
    """The recipient of a message in an app: the name at the top of the conversation on the screen."""

    name: str
    app: str
    """The package of the app."""
    app_name: str = ""
    """The phone's name for the app."""


class StandingYes(BaseModel, frozen=True):
    """A person's approval in advance for sending messages to one recipient. It covers nothing but sending."""

    to: str
    """The recipient's name, as the app writes it."""
    app: str = ""
    """The app's package. With a schedule, it may also be the phone's name for the app, or "" for any app."""
    text: str | None = None
    """The whole text that may be sent; None for any text, which only an approval within a task may have."""
    by: str = ""
    """The person who gave the approval."""
    schedule: str = ""
    """The schedule to which the approval belongs and which allows one message per run; "" if it was given within a
    task.
    """

    def covers(self, to: Recipient, text: str | None) -> bool:
        """Whether this approves a message to this recipient with this whole text (None if unknown)."""
        if not self.to or same_words(self.to) != same_words(to.name):
            return False
        if self.text is None:
            return not self.schedule and self.app == to.app
        if text is None or same_words(self.text) != same_words(text):
            return False
        return not self.app or self.app == to.app or self.app.casefold() == to.app_name.casefold()


def same_words(text: str) -> str:
    """Return a text in the form in which texts are compared: composed letters, no surrounding whitespace. Look-alike
    letters stay different.
    """
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


class QuestionKind(StrEnum):
    """What kind of answer a question asks for."""

    ASK = "ask"
    APPROVE = "approve"
    TAKE_OVER = "take over"
    SECRET = "secret"  # noqa: S105 - the name of a kind, not a secret


ALLOW = "allow"
ALLOW_FOR_TASK = "allow for this task"
"""The choice that allows this message and further ones to the same recipient until the task ends. Only questions with a
`to` offer it.
"""
DENY = "deny"
DONE = "done"


class QuestionOrigin(StrEnum):
    """Who asks the question and therefore continues when it is answered."""

    RUN = "run"
    MEMBER = "member"
    """A team member that works without a phone."""
    TAKEOVER = "takeover"
    """The task service, while a person uses the phone by hand. No run waits for the answer."""


class Question(BaseModel, frozen=True):
    """A question to a person. Its `id` stays the same if it is asked again after a restart."""

    id: str
    origin: QuestionOrigin = QuestionOrigin.RUN
    run: RunId | None = None
    """The run that waits for the answer; None if none does."""
    kind: QuestionKind
    text: str
    choices: tuple[str, ...] = ()
    strict: bool = False
    """Whether only the choices are accepted: in free text, people might reveal a secret."""
    detail: str = ""
    """For an approval: the exact text or amount, and the reason for asking. For a secret: what the model said
    about it.
    """
    consequence: str = ""
    """For an approval: the name of the rule that requires it; "" if no rule does."""
    again: bool = False
    """For a secret: whether one was already typed into the same field in this run, and the phone asks for it again."""
    to: Recipient | None = None
    """For the approval of a message: its recipient if known. The person can then allow further messages for
    the task.
    """
    sends: str = ""
    """For the approval of a message: its whole text; "" if the screen does not show it reliably."""
    frame: str | None = None
    """The reference of the screenshot that is shown with the question; None if there is none."""
    before: str | None = None
    """For a repeated approval: the reference of the screenshot that was approved before, which is shown next to
    `frame`.
    """


class Answer(BaseModel, frozen=True):
    """An answer to the question with the id `question`.

    For a secret, `text` is not the value but the id under which it is kept in memory (the question's id). `by` is the
    person. `expired` means that no answer came in time.
    """

    question: str
    text: str = ""
    by: str = ""
    expired: bool = False


class AnswerBox:
    """Keeps answers until the code that asked collects them."""

    def __init__(self) -> None:
        self._answers: dict[str, Answer] = {}
        self._came = asyncio.Event()

    def give(self, answer: Answer) -> None:
        """Store an answer. Only the first answer to a question counts."""
        self._answers.setdefault(answer.question, answer)
        self._came.set()

    async def answer_to(self, question: str) -> Answer:
        """Wait for the answer to this question and return it."""
        while question not in self._answers:
            self._came.clear()
            await self._came.wait()
        return self._answers.pop(question)
