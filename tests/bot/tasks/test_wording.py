from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.questions import Question, QuestionKind
from agent.run import RunId
from bot.domain.task import BadText
from bot.tasks.input import MAX_TEXT, answer_of, choice_of, clean
from bot.tasks.secrets import LIFETIME_S, MemorySecrets


@given(st.text(st.characters(), max_size=60))
def test_clean_text_can_be_stored_and_stays_clean(text: str) -> None:
    try:
        kept = clean(text, "It")
    except BadText:
        return
    assert kept
    assert kept.encode()
    assert kept.replace("\n", "").isprintable() or not any(ord(sign) < 32 for sign in kept.replace("\n", ""))
    assert clean(kept, "It") == kept


@pytest.mark.parametrize(
    ("kind", "text", "answer"),
    [
        (QuestionKind.APPROVE, "allow", "allow"),
        (QuestionKind.APPROVE, " Yes! ", "allow"),
        (QuestionKind.APPROVE, "可以。", "allow"),
        (QuestionKind.APPROVE, "不可以", "deny"),
        (QuestionKind.APPROVE, "NO", "deny"),
        (QuestionKind.TAKE_OVER, "Done.", "done"),
        (QuestionKind.TAKE_OVER, "好了", "done"),
        (QuestionKind.ASK, " the blue one\x00 ", "the blue one"),
        (QuestionKind.SECRET, " pa\tss ", " pa\tss "),
    ],
)
def test_what_counts_as_an_answer(kind: QuestionKind, text: str, answer: str) -> None:
    assert answer_of(kind, text) == answer


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        (QuestionKind.APPROVE, "yes but only if it is cheap", "allow or deny"),
        (QuestionKind.APPROVE, "", "empty"),
        (QuestionKind.TAKE_OVER, "not yet", "answer done"),
        (QuestionKind.ASK, "x" * (MAX_TEXT + 1), "the limit is 4000"),
        (QuestionKind.SECRET, "", "1 to 4000"),
    ],
)
def test_what_does_not(kind: QuestionKind, text: str, why: str) -> None:
    with pytest.raises(BadText, match=why):
        answer_of(kind, text)


def test_where_only_choices_are_answers_a_secret_is_none() -> None:
    """Before, any text was an answer, which was kept and told to the model."""
    open_to_all = Question(
        id="1", run=RunId("1"), kind=QuestionKind.ASK, text="No code has come?", choices=("Resend", "Stop")
    )
    strict = open_to_all.model_copy(update={"strict": True})
    assert choice_of(open_to_all, "hunter22") == "hunter22"
    assert choice_of(strict, "resend") == "Resend"
    with pytest.raises(BadText, match="Resend / Stop") as refused:
        choice_of(strict, "hunter22")
    assert "hunter22" not in str(refused.value)


def test_a_secret_is_had_once_and_not_for_long() -> None:
    now = 0.0
    secrets = MemorySecrets(lambda: now)
    first, second = "1-1.1.1", "1-1.1.2"
    secrets.keep(first, "hunter2")
    secrets.keep(second, "hunter3")
    assert first != second
    assert "hunter" not in repr(secrets)
    assert "hunter2" not in first
    assert secrets.take(first) == "hunter2"
    assert secrets.take(first) is None
    now = LIFETIME_S
    assert secrets.take(second) is None
    assert secrets.take("") is None
