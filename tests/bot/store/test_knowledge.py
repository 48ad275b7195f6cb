"""Documents are found by their words, in scripts with and without blanks, and as they are now."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.store.errors import StoreError
from bot.store.knowledge import MAX_BYTES, PASSAGE_LETTERS, KnowledgeFolder, passages_of, wanted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    return folder


@pytest.fixture
def knowledge(folder: Path, tmp_path: Path) -> KnowledgeFolder:
    return KnowledgeFolder(folder, tmp_path / "index.sqlite3")


async def files(knowledge: KnowledgeFolder, query: str) -> list[str]:
    return [found.file for found in await knowledge.search(query, limit=5)]


async def test_words_lead_to_their_documents(folder: Path, knowledge: KnowledgeFolder) -> None:
    (folder / "travel").mkdir()
    (folder / "travel" / "trains.md").write_text("# Trains\n\nBook the Rheinbahn ticket in the DB app.")
    (folder / "food.txt").write_text("The canteen opens at noon.")
    found = await knowledge.search("buy a rheinbahn ticket", limit=5)
    assert [(hit.file, "DB app" in hit.text) for hit in found] == [("travel/trains.md", True)]
    assert await files(knowledge, "nothing of this kind") == []
    assert await files(knowledge, "") == []
    assert await files(knowledge, '"NEAR( * OR canteen') == ["food.txt"]


async def test_chinese_is_found_also_by_words_of_two_characters(folder: Path, knowledge: KnowledgeFolder) -> None:
    (folder / "报销.md").write_text("出差报销请用钉钉提交,发票要拍照。", encoding="utf-8")
    (folder / "other.md").write_text("与此无关的一页。", encoding="utf-8")
    assert await files(knowledge, "怎么提交发票要拍照") == ["报销.md"]
    assert await files(knowledge, "钉钉") == ["报销.md"]


async def test_the_index_follows_the_folder(folder: Path, knowledge: KnowledgeFolder) -> None:
    page = folder / "wifi.md"
    page.write_text("The password hangs beside the router.")
    assert await files(knowledge, "router") == ["wifi.md"]
    page.write_text("Ask at the reception, it is in the drawer.")
    assert await files(knowledge, "router") == []
    assert await files(knowledge, "reception") == ["wifi.md"]
    page.unlink()
    assert await files(knowledge, "reception") == []


async def test_what_is_no_document_is_left_out(folder: Path, knowledge: KnowledgeFolder, tmp_path: Path) -> None:
    outside = tmp_path / "private.md"
    outside.write_text("pineapple")
    (folder / "link.md").symlink_to(outside)
    (folder / ".hidden.md").write_text("pineapple")
    (folder / "program.exe").write_text("pineapple")
    (folder / "broken.txt").write_bytes(b"pineapple \xff\xfe")
    (folder / "endless.txt").write_text("pineapple " * (MAX_BYTES // 10 + 1))
    assert await files(knowledge, "pineapple") == []


async def test_a_folder_that_is_not_there_and_an_index_that_is_none(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="KNOWLEDGE_DIR"):
        await KnowledgeFolder(tmp_path / "nowhere", tmp_path / "index.sqlite3").search("anything", limit=3)
    (tmp_path / "bad.sqlite3").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="is rebuilt"):
        await KnowledgeFolder(folder, tmp_path / "bad.sqlite3").search("anything", limit=3)


@given(st.text())
def test_passages_are_short_and_lose_no_word(text: str) -> None:
    pieces = list(passages_of(text))
    assert all(0 < len(piece) <= PASSAGE_LETTERS for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(st.text())
def test_any_question_can_be_asked(query: str) -> None:
    long, short = wanted(query)
    assert all(len(word) >= 3 for word in long)
    assert all(len(word) == 2 for word in short)
