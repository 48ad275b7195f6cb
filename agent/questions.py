"""Questions to a person and their answers, as they cross the border to the bot."""

from __future__ import annotations

import asyncio
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from agent.run_id import RunId
from agent.standing_yes import Recipient


class QuestionKind(StrEnum):
    """What a person is asked for."""

    ASK = "ask"
    APPROVE = "approve"
    TAKE_OVER = "take over"
    SECRET = "secret"  # noqa: S105 - the name of a kind, not a secret


ALLOW = "allow"
ALLOW_FOR_TASK = "allow for this task"
"""Allow this, and more sends to the same recipient until the task ends. Only a question with a `to` has it."""
DENY = "deny"
DONE = "done"


class QuestionOrigin(StrEnum):
    """Who asks, and so who goes on when it is answered."""

    RUN = "run"
    MEMBER = "member"
    """Somebody of the team who works without a phone."""
    TAKEOVER = "takeover"
    """The task service, because a person does something on the phone by hand: no run waits for the answer."""


class Question(BaseModel):
    """A question to a person. `id` is the same when the same question comes again after a restart."""

    model_config = ConfigDict(frozen=True)

    id: str
    origin: QuestionOrigin = QuestionOrigin.RUN
    run: RunId | None = None
    """The run that waits for the answer, None where none does."""
    kind: QuestionKind
    text: str
    choices: tuple[str, ...] = ()
    strict: bool = False
    """Whether only the choices are answers: in words of their own people might tell a secret."""
    detail: str = ""
    """For an approval: the exact text or amount, and why a person is asked. For a secret: what the model said of it."""
    consequence: str = ""
    """For an approval: the name of the rule that asks for it, "" where none of the rules does."""
    again: bool = False
    """For a secret: one was typed into the same field before in this run, and the phone wants it once more."""
    to: Recipient | None = None
    """For an approval of a message: to whom it goes, where that is known. It can then be allowed for the task."""
    sends: str = ""
    """For an approval of a message: its whole text, "" where the screen does not tell it for sure."""
    frame: str | None = None
    """Reference of the screenshot to show with it."""
    before: str | None = None
    """Reference of the screenshot that was allowed before, of an approval that is asked anew: shown beside `frame`."""


class Answer(BaseModel):
    """An answer. For a secret, `text` is the id under which the value waits in memory: that of the question.

    `expired` says that nobody answered in time.
    """

    model_config = ConfigDict(frozen=True)

    question: str
    text: str = ""
    by: str = ""
    expired: bool = False


class AnswerBox:
    """Where answers wait for whoever has asked."""

    def __init__(self) -> None:
        self._answers: dict[str, Answer] = {}
        self._came = asyncio.Event()

    def give(self, answer: Answer) -> None:
        """An answer has come; the first one for a question counts."""
        self._answers.setdefault(answer.question, answer)
        self._came.set()

    async def answer_to(self, question: str) -> Answer:
        """The answer to this question, whenever it comes."""
        while question not in self._answers:
            self._came.clear()
            await self._came.wait()
        return self._answers.pop(question)
