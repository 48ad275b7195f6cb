"""Splitting, escaping and counting; the fake's reading of HTML is the judge."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.chats.plain_text import HEADING
from bot.chats.telegram import limits
from bot.chats.telegram.formatting import JOINER, Part, card_of, drafts_of, quiet, render
from bot.domain.address import Person
from bot.domain.outgoing import Message, Picture
from tests.fakes.telegram.markup import parse, units
from tests.fakes.telegram.world import Entity, User

ALICE = Person("telegram", "5", "Alice <b>")
USERS = {5: User(5, "Alice")}

texts = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("<>&\"'`@_*\n\r 打🇩🇪👩\ud83d"),
    ),
    max_size=600,
)
long_texts = st.builds(lambda text, times: text * times, texts, st.integers(1, 60))


def read(part: Part) -> tuple[str, list[Entity]]:
    return parse(part.html, "HTML", USERS)


def words(text: str) -> list[str]:
    return text.replace(JOINER, "").encode("utf-16", "surrogatepass").decode("utf-16", "replace").split()


@settings(max_examples=150)
@given(texts, long_texts, texts, st.booleans(), st.booleans())
@example("", "x" * 9000, "", True, True)
@example("@alice", "```python\n" + "print('@bob')\n" * 900 + "```\nafter @bob", "f@x", False, False)
@example("", "x" * 4080 + "\n" + "y" * 9000 + "\n \n", "", False, False)
@example("", "```\n```", "", False, False)
@example("h" * 400, "🇩🇪" * 4000, "f" * 900, True, True)
def test_every_piece_is_html_that_telegram_takes(
    heading: str, body: str, footer: str, photo: bool, mention: bool
) -> None:
    picture = Picture("screen.jpg", b"x") if photo else None
    message = Message(heading, body, footer, picture)
    drafts, files = drafts_of(message, mention=ALICE if mention else None)
    assert 1 <= len(drafts) <= limits.PARTS
    for index, draft in enumerate(drafts):
        plain, entities = read(draft.part)
        assert units(plain) <= (limits.CAPTION if index == 0 and photo else limits.TEXT)
        assert units(draft.part.plain) <= (limits.CAPTION if index == 0 and photo else limits.TEXT)
        assert plain or (photo and index == 0)
        assert not [entity for entity in entities if entity["type"] == "mention"]
        assert not [entity for entity in parse(draft.part.plain, "", USERS)[1] if entity["type"] == "mention"]
    named = [e for draft in drafts for e in read(draft.part)[1] if e["type"] == "text_mention"]
    assert len(named) == mention
    room = limits.CAPTION if photo else limits.TEXT
    assert bool(files) == (len(render(message, first_limit=room, mention=ALICE if mention else None)) > limits.PARTS)


@settings(max_examples=100)
@given(long_texts)
def test_no_character_is_lost_or_moved(body: str) -> None:
    shown = "".join(part.plain for part in render(Message(body=body)))
    expected = quiet(body)
    if "```" not in body:
        assert "".join(words(shown)) == "".join(words(expected))


@settings(max_examples=100)
@given(texts, long_texts, texts, st.booleans())
def test_a_card_is_always_one_piece(heading: str, body: str, footer: str, caption: bool) -> None:
    draft = card_of(Message(heading, body, footer), caption=caption)
    plain, _ = read(draft.part)
    assert units(plain) <= (limits.CAPTION if caption else limits.TEXT)


def test_heading_body_and_footer_are_styled() -> None:
    (part,) = render(Message("Task 7", "a < b & c", "12 s"))
    plain, entities = read(part)
    assert plain == "Task 7\na < b & c\n12 s"
    assert [entity["type"] for entity in entities] == ["bold", "italic"]
    assert part.plain == plain


def test_a_long_heading_is_shortened() -> None:
    (part,) = render(Message("h" * 500, "body"))
    assert part.plain == "h" * (HEADING - 1) + "…\nbody"


def test_a_code_block_that_is_split_is_code_in_both_parts() -> None:
    code = "\n".join(f"line {number} <tag>" for number in range(400))
    parts = render(Message(body=f"before\n```python\n{code}\n```\nafter"))
    assert len(parts) == 2
    for part in parts:
        plain, entities = read(part)
        assert "```" not in plain
        assert [e["type"] for e in entities if e["type"] in {"pre", "code"}] == ["code", "pre"]
    assert parts[0].html.startswith('before\n<pre><code class="language-python">line 0 &lt;tag&gt;')
    assert parts[1].plain.endswith("<tag>\nafter")


def test_a_fence_that_never_ends_is_text() -> None:
    (part,) = render(Message(body="```\nnot code"))
    assert part == Part("```\nnot code", "```\nnot code")


def test_names_do_not_ring_but_addresses_stay() -> None:
    text = "ask @alice, mail bob@example.org, see https://127.0.0.1/@carol?x=1"
    assert quiet(text) == f"ask @{JOINER}alice, mail bob@example.org, see https://127.0.0.1/@carol?x=1"
    assert parse(quiet(text), "", USERS)[1] == []


def test_lines_are_kept_whole_where_they_fit() -> None:
    lines = [f"{number}: " + "x" * 1000 for number in range(6)]
    parts = render(Message(body="\n".join(lines)))
    assert [line for part in parts for line in part.plain.split("\n")] == lines
