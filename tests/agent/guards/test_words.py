"""The words of the policy and of the tables, as the lexicon reads them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agent.guards.lexicon import tables
from agent.guards.policy import Policy
from agent.guards.words import spelled_out
from tests.agent.guards.screens import touch

CASES = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
SHARE_OF_ORDINARY = 0.02
"""Of the ordinary captions: so many may be asked about."""


def asked(caption: str) -> bool:
    """Whether a button with this caption, on a page that says nothing else, waits for a person."""
    window = {"window": "page", "title": "App", "buttons": [caption]}
    return Policy.default().gate(*touch(window, caption)).verdict == "approve"


def captions(kind: str) -> list[tuple[str, str]]:
    return [(group, caption) for group, each in CASES[kind].items() for caption in each]


@pytest.mark.parametrize(("group", "caption"), captions("held"))
def test_a_caption_with_a_consequence_waits(group: str, caption: str) -> None:
    """Seen failing for 203 of 231 with words for "buy" and "send", and none for an order that is completed, a share
    that is sold, a ride that is taken, a copy that is restored or a sign-in that is confirmed.
    """
    assert asked(caption), group


def test_captions_with_words_that_only_sound_like_it_do_not() -> None:
    """Seen failing for 25 of 79 with words that counted wherever a label begins with them: "Order by date",
    "Block party", "待付款", "系统更新".
    """
    ordinary = captions("free")
    wrong = [caption for _, caption in ordinary if asked(caption)]
    assert len(wrong) <= len(ordinary) * SHARE_OF_ORDINARY, wrong


@pytest.mark.parametrize("language", sorted(tables()))
def test_questions_for_a_secret_are_known_in_each_language(language: str) -> None:
    """Seen failing for all of them: the tables had no words for secrets."""
    lexicon = Policy.default().lexicon
    assert [each for each in CASES["secret"][language] if not lexicon.read(each).secret] == []


def test_other_codes_and_numbers_are_no_secrets() -> None:
    lexicon = Policy.default().lexicon
    assert [each for each in CASES["no_secret"]["any"] if lexicon.read(each).secret] == []


def test_alternatives_and_words_that_may_be_missing_are_spelled_out() -> None:
    assert list(spelled_out("sell")) == ["sell"]
    assert list(spelled_out("submit|place [new] order")) == [
        "submit new order",
        "submit order",
        "place new order",
        "place order",
    ]
    assert list(spelled_out("=sell|lend")) == ["=sell", "=lend"]
    assert list(spelled_out("取消 订单|预约")) == ["取消订单", "取消预约"]


@pytest.mark.parametrize(
    ("caption", "waits"),
    [
        ("Order", True),
        ("Order · $20.00", True),
        ("Order 12345", False),
        ("Complete the order", True),
        ("COMPLETE YOUR ORDER", True),
        ("Post", True),
        ("Post office opening hours", False),
        ("发送", True),
        ("正在发送", False),
    ],
)
def test_whole_captions_articles_and_things(caption: str, waits: bool) -> None:
    assert asked(caption) is waits
