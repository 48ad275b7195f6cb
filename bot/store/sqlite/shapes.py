"""The exact schema of this program's SQLite databases, to reject files that contain anything else.

A foreign trigger or view could run code, and a foreign table or column could hide data.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from contextlib import closing

from langgraph.checkpoint.sqlite import SqliteSaver

from bot.store.sqlite.schema import migrations

_TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|(?P<left_out>--[^\n]*|/\*.*?(?:\*/|\Z)|\s+)|\w+|.""",
    re.DOTALL,
)
"""The tokens of SQL (https://www.sqlite.org/lang.html); `left_out` matches comments and blanks."""
_NAMED = 60
"""Most characters of a foreign name in a message; it may be anything."""

Shape = Counter[tuple[str, ...]]
"""Each table, index, view and trigger as (kind, name, its table, its SQL without extra blanks and comments)."""


def store_shape(version: int) -> Shape:
    """Return the shape of the store's database as the migrations up to this version create it."""
    with closing(sqlite3.connect(":memory:")) as database:
        for number, script in migrations():
            if number <= version:
                database.executescript(script)
        return shape_of(database)


def checkpoints_shape() -> Shape:
    """Return the shape of the checkpoint database as LangGraph creates it."""
    with closing(sqlite3.connect(":memory:")) as database:
        SqliteSaver(database).setup()
        return shape_of(database)


def shape_of(database: sqlite3.Connection) -> Shape:
    """Return the shape of a database: its tables, indexes, views and triggers. None of its SQL is run."""
    rows = database.execute("SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_schema")
    return Counter((str(kind), str(name), str(of), _bare(str(sql))) for kind, name, of, sql in rows)


def difference(found: Shape, ours: Shape) -> str:
    """Return the first element that is in `found` but not in `ours`, or else is missing, such as `trigger 'x'`; "" if
    they are equal.
    """
    first = next(iter(sorted(found - ours) or sorted(ours - found)), None)
    return "" if first is None else f"{first[0]} {first[1][:_NAMED]!r}"


def _bare(sql: str) -> str:
    return " ".join(token[0] for token in _TOKEN.finditer(sql) if token["left_out"] is None)
