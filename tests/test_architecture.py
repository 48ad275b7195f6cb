"""No file imports itself by way of others: what the import linter's contract cannot see of packages and their files."""

from __future__ import annotations

import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


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
