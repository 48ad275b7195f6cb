"""Column types and helper functions for the table definitions in this package.

Each table is defined once, for SQLite and PostgreSQL. A type is PostgreSQL's, with a variant for SQLite, whose STRICT
tables know only five types. A person's account is stored as platform, id there, and name. Addresses, message
references and other composite values are stored as JSON text.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Double,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.dialects.sqlite import REAL
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

metadata: Final = MetaData()

Number: Final = BigInteger().with_variant(Integer(), "sqlite")
"""A whole number of 64 bits."""
Real: Final[TypeEngine[Any]] = Double().with_variant(REAL(), "sqlite")
"""A number of 64 bits; durations are seconds."""
Time: Final = Real
"""A point in time, in Unix seconds."""
Flag: Final = Boolean().with_variant(Integer(), "sqlite")
"""A boolean; 1 and 0 in SQLite."""


def table(name: str, *parts: SchemaItem) -> Table:
    """Define a table of the store.

    If the primary key is a single number, it is generated and never reused, unless it refers to another table. Tables
    with another key are stored without SQLite's rowid, in the order of their key.
    """
    made = Table(name, metadata, *parts, sqlite_strict=True)
    (first, *more) = made.primary_key.columns
    has_number = not more and first.type is Number
    made.dialect_options["sqlite"]["with_rowid"] = has_number
    made.dialect_options["sqlite"]["autoincrement"] = has_number and not first.foreign_keys
    return made


def required(name: str, kind: Any, *parts: Any, **options: Any) -> Column[Any]:  # noqa: ANN401 - as Column has them
    """Return a column that is never NULL; arguments as for SQLAlchemy's `Column`."""
    return Column(name, kind, *parts, nullable=False, **options)


def optional(name: str, kind: Any, *parts: Any) -> Column[Any]:  # noqa: ANN401 - as Column has them
    """Return a column that may be NULL; arguments as for SQLAlchemy's `Column`."""
    return Column(name, kind, *parts)


def account(field: str, *known: str) -> tuple[Column[Any], ...]:
    """Return the columns of a person's account: platform, id, and further `known` fields of `Person`, each name
    prefixed with `field` and "_".
    """
    return tuple(required(f"{field}_{each}", Text) for each in ("platform", "id", *known))


def one_of(column: str, *values: str) -> CheckConstraint:
    """Return a constraint that the column has one of these texts."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(value) for value in values)})")


def index(
    name: str, *columns: ColumnElement[Any], where: ColumnElement[bool] | None = None, unique: bool = False
) -> Index:
    """Define an index; with `where`, only of the rows that meet this condition.

    SQLite uses such a partial index only for statements with exactly the same condition.
    """
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)
