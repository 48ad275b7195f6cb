"""What our databases are made of, so that nothing else is taken from a file: a trigger or a view in it would do things,
and a table or column of somebody else's could hide some.
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
"""Of SQL, as https://www.sqlite.org/lang.html has it; what is left out means nothing."""
_NAMED = 60
"""Characters of a name that are told; it may be anything."""

Shape = Counter[tuple[str, ...]]
"""Each table, index, view and trigger: kind, name, the table it is of, and its SQL without blanks and remarks."""


def store_shape(version: int) -> Shape:
    """The store's, as the migrations up to this version make it."""
    with closing(sqlite3.connect(":memory:")) as database:
        for number, script in migrations():
            if number <= version:
                database.executescript(script)
        return shape_of(database)


def checkpoints_shape() -> Shape:
    """The shape of the database of checkpoints, as LangGraph makes it."""
    with closing(sqlite3.connect(":memory:")) as database:
        SqliteSaver(database).setup()
        return shape_of(database)


def shape_of(database: sqlite3.Connection) -> Shape:
    """Everything that is in the database. Nothing of it is run for that."""
    rows = database.execute("SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_schema")
    return Counter((str(kind), str(name), str(of), _bare(str(sql))) for kind, name, of, sql in rows)


def difference(found: Shape, ours: Shape) -> str:
    """The first thing that is there and not ours, or else is missing, such as `trigger 'x'`; "" when there is none."""
    first = next(iter(sorted(found - ours) or sorted(ours - found)), None)
    return "" if first is None else f"{first[0]} {first[1][:_NAMED]!r}"


def _bare(sql: str) -> str:
    return " ".join(token[0] for token in _TOKEN.finditer(sql) if token["left_out"] is None)
