"""Whether a task's own words ask for a file: only then does it leave the phone without a question."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from agent.guards.rules import FileKind, Files
from agent.guards.words import mentions

_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)|[\n。；！？]")
_NAMED = re.compile(r"\w\.[A-Za-z0-9]{1,5}(?![A-Za-z0-9.])")
"""The end of a file's name. A sentence with one is about that file and no other."""


def asked_for(path: str, task: str, rules: Files) -> bool:
    """Whether one sentence of the task asks for this file to be sent here: by its name, or by what kind of file it is.

    `task` is what the person wrote; nothing that a model or a screen says has a part in it.
    """
    return any(_asks(sentence, PurePosixPath(path), rules) for sentence in _SENTENCE_END.split(task))


def _asks(sentence: str, path: PurePosixPath, rules: Files) -> bool:
    if any(mentions(sentence, word) for word in rules.negations):
        return False
    if not all(any(mentions(sentence, word) for word in words) for words in (rules.verbs, rules.here)):
        return False
    if _NAMED.search(sentence):
        name = re.escape(path.name.casefold())
        return re.search(rf"(?<![a-z0-9_.-]){name}(?!\.?[a-z0-9_])", sentence.casefold()) is not None
    return any(_is_of(kind, sentence, path) for kind in rules.kinds)


def _is_of(kind: FileKind, sentence: str, path: PurePosixPath) -> bool:
    fits = not kind.suffixes or path.suffix.lstrip(".").casefold() in kind.suffixes
    return fits and any(mentions(sentence, word) for word in kind.words)
