"""What all tables are made of: their columns' types, and short forms for the definitions beside this module.

Each table is defined once, for SQLite and for PostgreSQL. A type is PostgreSQL's, with a variant for SQLite, whose
STRICT tables know five. An account of a person is its platform, its id there, and how it is called. Addresses,
references to messages and what else has fields is JSON text.
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
"""A moment in Unix seconds."""
Flag: Final = Boolean().with_variant(Integer(), "sqlite")
"""Yes or no; 1 and 0 in SQLite."""


def table(name: str, *parts: SchemaItem) -> Table:
    """A table of the store. Where its key is a number, one is never given again; SQLite keeps rows with another key in
    the order of that, without a number beside it.
    """
    made = Table(name, metadata, *parts, sqlite_strict=True)
    (first, *more) = made.primary_key.columns
    has_number = not more and first.type is Number
    made.dialect_options["sqlite"]["with_rowid"] = has_number
    made.dialect_options["sqlite"]["autoincrement"] = has_number and not first.foreign_keys
    return made


def required(name: str, kind: Any, *parts: Any, **options: Any) -> Column[Any]:  # noqa: ANN401 - as Column has them
    """A column that is never NULL."""
    return Column(name, kind, *parts, nullable=False, **options)


def optional(name: str, kind: Any, *parts: Any) -> Column[Any]:  # noqa: ANN401 - as Column has them
    """A column that may be NULL."""
    return Column(name, kind, *parts)


def account(field: str, *known: str) -> tuple[Column[Any], ...]:
    """An account of a person: the platform, the id there, and what else of `Person` is kept, each behind the field's
    name.
    """
    return tuple(required(f"{field}_{each}", Text) for each in ("platform", "id", *known))


def one_of(column: str, *values: str) -> CheckConstraint:
    """The column has one of these texts."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(value) for value in values)})")


def index(
    name: str, *columns: ColumnElement[Any], where: ColumnElement[bool] | None = None, unique: bool = False
) -> Index:
    """An index, of the rows alone for which `where` is true. SQLite uses such a one for a statement that has the same
    condition in the same words.
    """
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)
