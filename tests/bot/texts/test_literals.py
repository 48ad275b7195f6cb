"""What speaks to people has no sentence of its own in the code.

Seen failing: with the findings of the doctor as they were in English.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.slow

BOT: Final = Path(__file__).parents[3] / "bot"
SPEAKING: Final = ("cards", "checks", "cli", "commands", "people")
SENTENCE: Final = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]+")
BY_INTENT: Final = frozenset(
    {
        "Which colour is this? One word.",
        "Answer with one word: ready",  # to a model
        "adb -a nodaemon server start",  # a command
        "button data of ",  # to a programmer
        " has not ended",  # to a programmer
    }
)


def literals(file: Path) -> Iterator[tuple[int, str]]:
    """Texts with three and more words that are no docstring and not for the log."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    passed_over: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed_over.add(id(node.value))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("logger."):
            passed_over.update(map(id, ast.walk(node)))
        elif isinstance(node, ast.Assert) and node.msg is not None:
            passed_over.update(map(id, ast.walk(node.msg)))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in passed_over:
            continue
        if SENTENCE.search(node.value):
            yield node.lineno, node.value


def test_no_sentence_stands_beside_the_catalogue() -> None:
    found = [
        f"{file.relative_to(BOT)}:{line}: {text}"
        for folder in SPEAKING
        for file in sorted((BOT / folder).rglob("*.py"))
        for line, text in literals(file)
        if text not in BY_INTENT
    ]
    assert found == []
