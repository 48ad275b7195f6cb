"""How much of what matters is recalled, on 200 facts whose questions were written before the recall was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.ports.memory import MemoryOfThisProcess
from agent.relevance import ranked
from tests.fixtures.databases import open_store

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "facts.jsonl").read_text("utf-8").splitlines()
]


def test_there_are_as_many_as_there_should_be() -> None:
    assert len({row["fact"] for row in ROWS}) == 200
    assert sum(row["kind"] == "paraphrase" for row in ROWS) == 66
    assert sum(row["language"] == "zh" for row in ROWS) == 100


def share(kind: str, language: str, found: dict[int, list[int]]) -> float:
    """recall@5 of the questions of that kind in that language."""
    asked = [place for place, row in enumerate(ROWS) if (row["kind"], row["language"]) == (kind, language)]
    return sum(place in found[place] for place in asked) / len(asked)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_questions_that_share_a_word_find_their_fact(language: str) -> None:
    texts = [row["fact"] for row in ROWS]
    found = {place: ranked(row["question"], texts)[:5] for place, row in enumerate(ROWS)}
    assert share("words", language, found) >= 0.9
    # Words alone cannot know these: 0 of 33 and 1 of 33 were found when this was written.
    assert share("paraphrase", language, found) <= 0.2


@pytest.mark.slow
async def test_the_store_recalls_as_well_and_as_this_process_does(tmp_path: Path) -> None:
    store = await open_store(tmp_path)
    try:
        kept, here = store.memory(), MemoryOfThisProcess()
        for row in ROWS:
            await kept.remember("web:1", row["fact"])
            await here.remember("web:1", row["fact"])
        words = [row for row in ROWS if row["kind"] == "words"]
        hits = 0
        for row in words:
            found = [fact.text for fact in await kept.recall("web:1", row["question"])]
            hits += row["fact"] in found
            assert found[:1] == [fact.text for fact in await here.recall("web:1", row["question"])][:1]
        assert hits / len(words) >= 0.9
    finally:
        await store.close()
