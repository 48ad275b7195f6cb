"""Full-text search in a folder of documents. They are cut into passages, which are indexed in an SQLite file of its
own.

The index uses trigrams, so that Chinese text is found as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from agent.ports.memory import Passage
from bot.store.errors import StoreError
from bot.texts import words

logger = logging.getLogger(__name__)


PASSAGE_LETTERS = 1200
"""About 300 tokens: five of them are a page."""
MAX_WORDS = 64
WORD_LETTERS = 4
"""Shorter alphabetic words ("and", "the") are too common; the trigram index needs at least three letters."""

_HAN = "\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_RUN = re.compile(rf"[{_HAN}]+|[^\W_]+")
_IS_HAN = re.compile(rf"[{_HAN}]")


def passages_of(text: str) -> Iterator[str]:
    """Yield the text in passages of at most `PASSAGE_LETTERS` characters, cut between paragraphs where possible."""
    piece = ""
    for paragraph in re.split(r"\n\s*\n", text):
        block = paragraph.strip()
        while block:
            room = PASSAGE_LETTERS - len(piece)
            if len(block) + 2 <= room:
                piece = f"{piece}\n\n{block}" if piece else block
                block = ""
            elif piece:
                yield piece
                piece = ""
            else:
                yield block[:PASSAGE_LETTERS]
                block = block[PASSAGE_LETTERS:]
    if piece:
        yield piece


def wanted(query: str) -> tuple[list[str], list[str]]:
    """Split a query into search terms: those for the trigram index, and pairs of characters for a plain substring
    search.

    Chinese and Japanese text has no blanks to split at, so all groups of three neighbouring characters are terms, and
    all groups of two, since most Chinese words have two characters.
    """
    long: list[str] = []
    short: list[str] = []
    for run in _RUN.findall(query):
        if _IS_HAN.match(run):
            long += [run[i : i + 3] for i in range(len(run) - 2)]
            short += [run[i : i + 2] for i in range(len(run) - 1)]
        elif len(run) >= WORD_LETTERS or (len(run) == WORD_LETTERS - 1 and not run.islower()):
            long.append(run)
    return list(dict.fromkeys(long))[:MAX_WORDS], list(dict.fromkeys(short))[:MAX_WORDS]


KNOWLEDGE_NAME = "knowledge.sqlite3"
SUFFIXES = frozenset({".md", ".markdown", ".txt", ".rst", ".csv", ".tsv", ".json", ".yaml", ".yml", ".toml", ".html"})
MAX_FILES = 2000
MAX_BYTES = 2_000_000
"""Largest size of a document; longer files are unlikely to be written for people."""
BUSY_S = 5.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (file TEXT PRIMARY KEY, stamp TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5 (text, file UNINDEXED, tokenize = 'trigram');
"""


class KnowledgeFolder:
    """A searchable folder of documents. Implements `agent.ports.memory.Knowledge`.

    The index is updated before each search; only files whose size or modification time changed are read again. Hidden
    files, files that are not text, and links that lead out of the folder are ignored.
    """

    def __init__(self, folder: Path, index: Path) -> None:
        self._folder = folder
        self._index = index
        self._lock = asyncio.Lock()

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        """Return at most `limit` passages that match the words of the query, the best first; empty if there are none.

        Raises StoreError when the folder or the index cannot be used.
        """
        async with self._lock:
            # A caller that is cancelled does not wait; the next one waits for the file instead.
            return await asyncio.to_thread(self._search, query, limit)

    def _search(self, query: str, limit: int) -> tuple[Passage, ...]:
        try:
            with contextlib.closing(sqlite3.connect(self._index, timeout=BUSY_S)) as connection:
                with connection:
                    connection.executescript(_SCHEMA)
                    connection.execute("BEGIN IMMEDIATE")
                    self._refresh(connection)
                return _found(connection, query, limit)
        except StoreError:
            raise
        except (sqlite3.Error, OSError) as error:
            why = words("knowledge.unsearched", path=self._folder, reason=error, index=self._index.name)
            raise StoreError(why) from error

    def _refresh(self, connection: sqlite3.Connection) -> None:
        """Index new and changed documents, and remove deleted ones."""
        known = dict(connection.execute("SELECT file, stamp FROM files"))
        there = dict(self._files())
        for file in known.keys() - there.keys():
            _drop(connection, file)
        for file, (path, stamp) in there.items():
            if known.get(file) == stamp:
                continue
            _drop(connection, file)
            try:
                text = path.read_text(encoding="utf-8-sig")
            except (UnicodeDecodeError, OSError) as error:
                logger.warning("Document %s cannot be read and is ignored: %s", file, type(error).__name__)
                text = ""
            rows = [(passage, file) for passage in passages_of(text)]
            connection.executemany("INSERT INTO passages (text, file) VALUES (?, ?)", rows)
            connection.execute("INSERT INTO files (file, stamp) VALUES (?, ?)", (file, stamp))

    def _files(self) -> Iterator[tuple[str, tuple[Path, str]]]:
        """Yield every document by its path inside the folder, with a stamp that shows whether it has changed."""
        if not self._folder.is_dir():
            raise StoreError(words("knowledge.missing", path=self._folder))
        for path in documents_in(self._folder):
            about = path.stat()
            yield path.relative_to(self._folder).as_posix(), (path, f"{about.st_size}.{about.st_mtime_ns}")


def documents_in(folder: Path) -> Iterator[Path]:
    """Yield the documents in a folder that are searched: at most `MAX_FILES`, each at most `MAX_BYTES`. Blocks on the
    disk.
    """
    root = folder.resolve()
    number = 0
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.suffix.lower() not in SUFFIXES or any(part.startswith(".") for part in inside.parts):
            continue
        if not path.resolve().is_relative_to(root) or not path.is_file():
            continue
        if path.stat().st_size > MAX_BYTES:
            logger.warning("Document %s is ignored because it is larger than %d bytes", inside, MAX_BYTES)
            continue
        number += 1
        if number > MAX_FILES:
            logger.warning("Only the first %d documents in %s are searched", MAX_FILES, folder)
            return
        yield path


def _drop(connection: sqlite3.Connection, file: str) -> None:
    connection.execute("DELETE FROM passages WHERE file = ?", (file,))
    connection.execute("DELETE FROM files WHERE file = ?", (file,))


def _found(connection: sqlite3.Connection, query: str, limit: int) -> tuple[Passage, ...]:
    """Return the best passages. Words of two characters are too short for trigrams and are searched for as
    substrings.
    """
    long, short = wanted(query)
    rows: list[tuple[str, str]] = []
    if long:
        match = " OR ".join('"' + word.replace('"', '""') + '"' for word in long)
        rows = connection.execute(
            "SELECT file, text FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?", (match, limit)
        ).fetchall()
    if short and len(rows) < limit:
        score = " + ".join("(instr(text, ?) > 0)" for _ in short)
        rows += connection.execute(
            f"SELECT file, text FROM passages WHERE {score} > 0 ORDER BY {score} DESC LIMIT ?",  # noqa: S608 - only marks
            (*short, *short, limit),
        ).fetchall()
    return tuple(Passage(file, text) for file, text in list(dict.fromkeys(rows))[:limit])
