"""What the import linter's contracts cannot see: circles between files, and names of platforms."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

REPOSITORY = Path(__file__).parents[1]
PROJECT = REPOSITORY / "pyproject.toml"
PLATFORMS = sorted(
    folder.name for folder in (REPOSITORY / "bot" / "chats").iterdir() if (folder / "manifest.py").exists()
)
MAY_NAME_PLATFORMS = {
    "bot/chats/installed.py": "the list of those that come with the program",
    "devices/extras.py": "the list of the libraries that an installation may lack",
}


def imports() -> dict[str, set[str]]:
    """What each file imports, for types alone as well; without what the contract leaves out."""
    graph = grimp.build_graph("bot", "agent", "devices", cache_dir=None)
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (contract,) = (each for each in contracts if each["type"] == "acyclic_siblings")
    for each in contract.get("ignore_imports", ()):
        importer, _, imported = each.partition(" -> ")
        graph.remove_import(importer=importer, imported=imported)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_there_is_no_import_circle() -> None:
    """Seen failing with `apps/base.py` that imported `devices.virtual_phone.apps`, its own package, for types alone."""
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        pytest.fail(f"files import each other: {' ← '.join(error.args[1])}", pytrace=False)


BETWEEN = re.compile(r"""[\s"'\\]+""")
"""What may stand within a text that is written in several pieces."""


def words_of(file: Path) -> Iterator[tuple[int, str]]:
    """Every identifier and text of a file with its line; docstrings and comments, which are documents, are left out."""
    text = file.read_text(encoding="utf-8")
    written = BETWEEN.sub("", text).lower()
    if not any(one in written for one in PLATFORMS):
        return  # nor is there one in the tree, which takes much longer
    tree = ast.parse(text)
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and (not isinstance(node.value, str) or id(node) in documents):
            continue
        for name in ("value", "id", "attr", "name", "module", "arg"):
            if isinstance(word := getattr(node, name, None), str):
                yield getattr(node, "lineno", 0), word


@pytest.mark.slow
def test_only_a_platforms_own_package_names_it() -> None:
    """Of the program before it had manifests the same look finds 161 such words."""
    assert len(PLATFORMS) == 4
    named = []
    for file in sorted(path for part in ("bot", "agent", "devices") for path in (REPOSITORY / part).rglob("*.py")):
        where = file.relative_to(REPOSITORY).as_posix()
        own = next((one for one in PLATFORMS if where.startswith(f"bot/chats/{one}/")), "")
        others = [one for one in PLATFORMS if one != own and where not in MAY_NAME_PLATFORMS]
        named += [
            f"{where}:{line} {word}" for line, word in words_of(file) if any(one in word.lower() for one in others)
        ]
    assert named == []
