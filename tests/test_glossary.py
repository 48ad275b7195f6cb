"""Texts and documents call each thing by the name that docs/glossary.md gives it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
GLOSSARY = REPOSITORY / "docs" / "glossary.md"
ROW = re.compile(r"^\| (?P<term>[^|]+) \| (?P<chinese>[^|]+) \| [^|]+ \| (?P<avoided>[^|]*)\|$", re.MULTILINE)
NOT_PROSE = re.compile(r"```.*?```|`[^`\n]+`|\]\([^)\s]*\)|<[^>]+>|https?://\S+|\{[^}]*\}", re.DOTALL)
HAN = re.compile(r"[\u4e00-\u9fff]")


def terms() -> list[re.Match[str]]:
    return [row for row in ROW.finditer(GLOSSARY.read_text(encoding="utf-8")) if row["term"] not in {"term", "---"}]


def listed(cell: str) -> list[str]:
    return [word.strip() for word in cell.split(",") if word.strip()]


def other_programs_phrases() -> list[str]:
    """The phrases of other programs, which may hold a word that is avoided otherwise."""
    below = GLOSSARY.read_text(encoding="utf-8").split("## Other programs' words")[1]
    return re.findall(r"\*([^*]+)\*", below)


def avoided() -> re.Pattern[str]:
    """Any word that the glossary replaces, as a whole word in English and anywhere in Chinese."""
    words = [word for row in terms() for word in listed(row["avoided"])]
    return re.compile("|".join(word if HAN.match(word) else rf"\b{word}s?\b" for word in words), re.IGNORECASE)


def synonyms(text: str) -> list[str]:
    """The avoided words in a text, each with what is around it."""
    prose = NOT_PROSE.sub(" ", text)
    for phrase in other_programs_phrases():
        prose = re.sub(re.escape(phrase), " ", prose, flags=re.IGNORECASE)
    return [prose[max(0, found.start() - 30) : found.end() + 20] for found in avoided().finditer(prose)]


def texts(catalogue: Mapping[str, object]) -> Iterator[str]:
    for value in catalogue.values():
        if isinstance(value, Mapping):
            yield from texts(value)
        elif isinstance(value, str):
            yield value


def documents() -> list[Path]:
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md"), *(REPOSITORY / "docs" / "zh").glob("*.md")]
    return sorted(set(pages) - {GLOSSARY})


def short(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("document", documents(), ids=short)
def test_documents_use_the_terms(document: Path) -> None:
    assert synonyms(document.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("file", sorted((REPOSITORY / "bot" / "texts").glob("*/*.toml")), ids=short)
def test_texts_use_the_terms(file: Path) -> None:
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    assert [synonym for text in texts(found) for synonym in synonyms(text)] == []


def test_each_term_has_one_name_in_each_language() -> None:
    names = [row["term"] for row in terms()]
    assert len(names) > 30
    assert names == sorted(names)
    assert len(names) == len(set(names))
    assert {word for row in terms() for word in listed(row["avoided"])}.isdisjoint(names)


@pytest.mark.parametrize("text", ["Your Job is done.", "Open the dashboards.", "这个计划任务已停止。", "方言：自动"])
def test_a_synonym_is_found(text: str) -> None:
    assert synonyms(text)


@pytest.mark.parametrize(
    "text", ["Run `opengui job`.", "See [it](job.md).", "{job} is done", "The jobless report", "任务"]
)
def test_code_links_and_other_words_are_no_synonyms(text: str) -> None:
    assert not synonyms(text)
