"""Documents cut into passages, and questions into words to look for."""

from __future__ import annotations

import re
from collections.abc import Iterator

PASSAGE_LETTERS = 1200
"""About 300 tokens: five of them are a page."""
MAX_WORDS = 64
WORD_LETTERS = 4
"""Shorter words of alphabetic scripts ("and", "the") are everywhere; trigrams need three letters anyhow."""

_HAN = "\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_RUN = re.compile(rf"[{_HAN}]+|[^\W_]+")
_IS_HAN = re.compile(rf"[{_HAN}]")


def passages_of(text: str) -> Iterator[str]:
    """The text in pieces of at most PASSAGE_LETTERS, cut between paragraphs where that is possible."""
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
    """The words of a question: those for the trigram index, and pairs of characters for a plain search.

    Scripts without blanks have no words to split at: every three neighbours are looked for, and every two, since most
    Chinese words have two characters.
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
