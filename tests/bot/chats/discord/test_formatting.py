"""Plain text as Discord's markdown, and its splitting."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.chats.discord.formatting import drafts_of, escape, render, split
from bot.chats.plain_text import size
from bot.domain.outgoing import Message


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a *b* _c_ ~~d~~ ||e|| `f`", "a \\*b\\* \\_c\\_ \\~\\~d\\~\\~ \\|\\|e\\|\\| \\`f\\`"),
        ("# title", "\\# title"),
        ("  - item", "  \\- item"),
        ("-# small", "\\-# small"),
        ("> quote", "\\> quote"),
        ("12. twelfth", "12\\. twelfth"),
        ("https://example.org/a_b_c and _x_", "https://example.org/a_b_c and \\_x\\_"),
        ("[a](https://b.c) [click](https://evil.example)", "\\[a\\](https://b.c) \\[click\\](https://evil.example)"),
        ("<@1> <#2> <:e:3> <https://x.y>", "\\<@1> \\<#2> \\<:e:3> \\<https://x.y>"),
        ("C:\\temp", "C:\\\\temp"),
    ],
)
def test_markdown_of_others_is_shown_as_it_is(text: str, shown: str) -> None:
    """Seen failing (the second masked link stayed alive) with `discord.utils.escape_markdown` in its place."""
    assert escape(text) == shown


def test_heading_body_and_footer() -> None:
    message = Message("Done *now*", "It works.", "5 steps\n0.01 $")
    assert render(message, mention="7").parts == ("<@7> **Done \\*now\\***\nIt works.\n-# 5 steps\n-# 0.01 $",)


def test_code_blocks_stay_code() -> None:
    body = "look:\n```py\nx = a*b*c\n```\nand *that*"
    assert split(body, 1000) == ["look:\n```py\nx = a*b*c\n```\nand \\*that\\*"]


def test_a_fence_that_is_never_closed_is_text() -> None:
    assert split("```\nx*y*z", 1000) == ["\\`\\`\\`\nx\\*y\\*z"]


def test_code_cannot_break_out_of_its_block() -> None:
    (part,) = split("```\na ``` **b**\n```", 1000)
    assert part.count("```") == 2


def test_a_block_is_closed_and_opened_again_at_a_border() -> None:
    parts = split("```py\n" + "\n".join(f"line {number}" for number in range(60)) + "\n```", 200)
    assert len(parts) > 2
    for part in parts:
        assert part.startswith("```py\n")
        assert part.endswith("\n```")


def test_words_are_not_broken_and_long_words_are() -> None:
    parts = split("word " * 100, 104)
    assert all(set(part.split()) == {"word"} for part in parts)
    assert "".join(split("x" * 500, 104)) == "x" * 500


TEXT = st.text(st.sampled_from("ab *_`\\\n#->[]()<@😀9.") | st.characters(), max_size=600)


@settings(max_examples=200)
@given(TEXT, st.integers(80, 300))
@example("```\n" + "a" * 300 + "\n```", 80)
@example("\\" * 200, 81)
@example("😀" * 200, 80)
def test_splitting_loses_nothing_and_keeps_to_the_limit(body: str, room: int) -> None:
    parts = split(body, room)
    assert parts
    assert all(size(part) <= room for part in parts)
    for part in parts:
        fences = [line for line in part.splitlines() if line.startswith("```")]
        assert len(fences) % 2 == 0, "a code block is open at the end of a part"
        assert not re.search(r"(?<!\\)(?:\\\\)*\\$", part), "a backslash lost its character"
    assert letters("".join(parts)) == letters(body)


@settings(max_examples=50)
@given(st.builds(Message, heading=TEXT, body=st.text(max_size=20_000), footer=TEXT))
def test_no_message_is_longer_than_discord_takes(message: Message) -> None:
    for draft in drafts_of(message, mention="12345678901234567890"):
        assert size(draft.content) <= 2000


def letters(text: str) -> list[str]:
    return [character for character in text if character in "abxyzé😀"]
