"""The page about the graphs says what the code does."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_as_generated() -> None:
    """`python docs/graph_table.py` writes it anew."""
    script = runpy.run_path(str(DOCS / "graph_table.py"))
    assert (DOCS / "graph.md").read_text(encoding="utf-8") == script["page"]()
