"""Cleans texts from people, limits their length, and reads them as answers."""

from __future__ import annotations

import unicodedata

from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, DONE, Question, QuestionKind
from bot.domain.task import BadText
from bot.texts import say
from devices.phone import Health

MAX_TEXT = 4_000
"""Maximum characters of a task, a note or an answer."""

_ALLOWING = frozenset(
    {ALLOW, "allowed", "yes", "y", "ok", "okay", "sure", "允许", "同意", "是", "是的", "好", "好的", "可以"}
)
_ALLOWING_FOR_TASK = frozenset(
    {ALLOW_FOR_TASK, "allow for the task", "allow for task", "本任务允许", "本任务内允许", "此任务允许", "为本任务允许"}
)
_DENYING = frozenset(
    {DENY, "denied", "no", "n", "拒绝", "不允许", "不同意", "否", "不", "不是", "不要", "不可以", "不行"}
)
_DONE = frozenset(
    {DONE, "ready", "finished", "ok", "okay", "yes", "完成", "完成了", "好", "好了", "好的", "做完了", "搞定"}
)


def health_words(health: Health) -> str:
    """Return a phone's state as one or two words for people."""
    return say(f"page.health.{health.name.lower()}")


def clean(text: str, what: str) -> str:
    """Return the text without control characters (line breaks stay). Raises BadText if nothing is left or it is too
    long; `what` names the text in the error message, such as "The task".
    """
    kept = without_controls(text)
    if not kept:
        raise BadText(say("desk.text.empty", what=what))
    if len(kept) > MAX_TEXT:
        raise BadText(say("desk.text.long", what=what, length=len(kept), most=MAX_TEXT))
    return kept


def without_controls(text: str) -> str:
    """Return the text without control characters (line breaks stay) and surrounding blanks."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(sign for sign in lines if sign == "\n" or unicodedata.category(sign) not in {"Cc", "Cs"}).strip()


def choice_of(question: Question, text: str) -> str:
    """Return the choice that the text stands for, if the question accepts only its choices; otherwise the text
    unchanged.

    Raises BadText if it is none of the choices. The error lists the choices but not the text, which may be a secret.
    Also raised for an approval for the whole task if the question does not offer one.
    """
    if question.kind is QuestionKind.APPROVE and text == ALLOW_FOR_TASK and text not in question.choices:
        raise BadText(say("desk.text.allow", allow=ALLOW, deny=DENY))
    if not question.strict:
        return text
    for choice in question.choices:
        if choice.casefold() == text.casefold():
            return choice
    raise BadText(say("desk.text.choice", choices=" / ".join(question.choices)))


def answer_of(kind: QuestionKind, text: str) -> str:
    """Return the text as an answer to a question of this kind: "yes" to an approval becomes `ALLOW`, for example. A
    secret is returned unchanged. Raises BadText saying what a valid answer is.
    """
    if kind is QuestionKind.SECRET:
        if not text or len(text) > MAX_TEXT:
            raise BadText(say("desk.text.secret", most=MAX_TEXT))
        return text
    cleaned = clean(text, say("desk.text.answer"))
    word = cleaned.casefold().strip(" .!。！")
    match kind:
        case QuestionKind.APPROVE if word in _ALLOWING:
            return ALLOW
        case QuestionKind.APPROVE if word in _ALLOWING_FOR_TASK:
            return ALLOW_FOR_TASK
        case QuestionKind.APPROVE if word in _DENYING:
            return DENY
        case QuestionKind.APPROVE:
            raise BadText(say("desk.text.allow", allow=ALLOW, deny=DENY))
        case QuestionKind.TAKE_OVER if word in _DONE:
            return DONE
        case QuestionKind.TAKE_OVER:
            raise BadText(say("desk.text.done", done=DONE))
        case _:
            return cleaned


def choice_typed(question: Question, typed: str) -> str:
    """Return the choice that was typed as its number, or as its text in any case. Any other text is returned
    unchanged.
    """
    text = typed.strip()
    if text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= len(question.choices):
        return question.choices[int(text) - 1]
    return next((choice for choice in question.choices if choice.casefold() == text.casefold()), typed)
