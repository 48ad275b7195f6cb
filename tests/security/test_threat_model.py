"""Every row of the threat model names a module and a test that are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ACTORS = (
    "A stranger in the guild",
    "A curious member",
    "A program in the workshop",
    "A malicious page on the phone",
    "A malicious app that reads the keyboard",
    "A leaked token",
    "A hostile model endpoint",
    "A stolen host key",
)
ROW = re.compile(r"^\|(.+)\|$", re.MULTILINE)


def rows() -> list[tuple[str, list[str]]]:
    """The rows of the threat model with their actor."""
    text = (REPOSITORY / "docs" / "security.md").read_text(encoding="utf-8")
    found: list[tuple[str, list[str]]] = []
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        actor, _, rest = part.partition("\n")
        table = ROW.findall(re.split(r"^## ", rest, flags=re.MULTILINE)[0])[2:]
        found += [(actor.strip(), [cell.strip() for cell in row.split("|")]) for row in table]
    return found


@cache
def names_in(path: str) -> set[str]:
    """The names of the tests in a file."""
    tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_actor_has_rows() -> None:
    assert tuple(dict.fromkeys(actor for actor, _ in rows())) == ACTORS


@pytest.mark.parametrize(("actor", "cells"), rows(), ids=lambda value: value if isinstance(value, str) else value[0])
def test_a_row_names_what_defends_and_the_test_that_holds_it(actor: str, cells: list[str]) -> None:
    assert actor in ACTORS
    tries, against, where, test = cells
    assert tries
    assert against
    assert (REPOSITORY / where.strip("`")).exists(), where
    path, _, name = test.strip("`").partition("::")
    assert name in names_in(path), test
