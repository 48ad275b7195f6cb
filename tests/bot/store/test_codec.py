"""Any value of a dataclass comes back from its row as it was kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict
from sqlalchemy import Column, LargeBinary, MetaData, Table, Text, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateTable

from agent.run import RunId
from bot.domain.address import Address, MessageRef, Person, Place
from bot.store.codec import Codec
from bot.store.database import insert
from bot.store.sqlite.schema import SQLITE
from bot.store.tables.metadata import Flag, Number, Real


class Colour(StrEnum):
    """One of a few."""

    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    """A model within a field."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    number: int | None = None
    many: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Inner:
    """A dataclass that has columns of its own."""

    person: Person
    flag: bool


@dataclass(frozen=True, slots=True)
class Everything:
    """One field of each type that the store keeps."""

    id: str
    whole: int
    real: float
    text: str
    data: bytes
    yes: bool
    colour: Colour
    kind: Literal["a", "b"]
    run: RunId
    place: Place
    inner: Inner
    part: Part
    parts: tuple[Part, ...]
    by_name: Mapping[str, Part]
    colours: frozenset[Colour]
    one: int | str | None
    owner: str
    maybe_real: float | None = None
    maybe_text: str | None = None
    maybe_message: MessageRef | None = None
    maybe_colour: Colour | None = None
    maybe_part: Part | None = None
    passing: str = field(default="", compare=False)


everything = Table(
    "everything",
    MetaData(),
    Column("id", Number, primary_key=True),
    Column("whole", Number, nullable=False),
    Column("real", Real, nullable=False),
    *(Column(name, Text, nullable=False) for name in ("text", "colour", "kind", "run", "place_address")),
    Column("data", LargeBinary, nullable=False),
    Column("yes", Flag, nullable=False),
    Column("place_private", Flag, nullable=False),
    *(Column(f"inner_person_{name}", Text, nullable=False) for name in ("platform", "id", "name")),
    Column("inner_flag", Flag, nullable=False),
    *(Column(name, Text, nullable=False) for name in ("part", "parts", "by_name", "colours")),
    Column("one", Text),
    Column("owner", Number),
    Column("maybe_real", Real),
    *(Column(f"maybe_{name}", Text) for name in ("text", "message", "colour", "part")),
    sqlite_strict=True,
)
"""A table with a column for each."""

NUMBERS = st.integers(-(2**63), 2**63 - 1)
REALS = st.floats(allow_nan=False, allow_infinity=False)
IDS = st.integers(0, 2**63 - 1).map(str)
PARTS = st.builds(Part, name=st.text(), number=st.none() | st.integers(), many=st.lists(REALS).map(tuple))
ADDRESSES = st.builds(Address, *[st.text()] * 5)
PEOPLE = st.builds(Person, st.text(), st.text(), st.text(), roles=st.frozensets(st.text()))
VALUES = st.builds(
    Everything,
    id=IDS,
    whole=NUMBERS,
    real=REALS,
    data=st.binary(),
    run=st.builds(RunId, st.text(min_size=1).filter(lambda task: "\n" not in task), st.integers(0, 10**9)),
    place=st.builds(Place, ADDRESSES, st.booleans()),
    inner=st.builds(Inner, PEOPLE, st.booleans()),
    part=PARTS,
    parts=st.lists(PARTS).map(tuple),
    by_name=st.dictionaries(st.text(), PARTS),
    owner=st.just("") | IDS,
    maybe_real=st.none() | REALS,
    maybe_message=st.none() | st.builds(MessageRef, ADDRESSES, st.text()),
    maybe_part=st.none() | PARTS,
)


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.row_factory = sqlite3.Row
        opened.execute(str(CreateTable(everything).compile(dialect=sqlite.dialect())))
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("lean", [(), ("part",)], ids=["whole", "lean"])
@given(value=VALUES)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_value_survives(connection: sqlite3.Connection, lean: tuple[str, ...], value: Everything) -> None:
    codec = Codec(Everything, everything, lean=lean)
    connection.execute("DELETE FROM everything")
    connection.execute(SQLITE.text(insert(everything, codec.columns)), codec.values(value))
    (row,) = connection.execute(SQLITE.text(select(everything))).fetchall()
    assert codec.read(row) == value


@dataclass(frozen=True, slots=True)
class Other:
    """It has a field for which there is no column."""

    id: str
    unknown: str


@dataclass(frozen=True, slots=True)
class Unsure:
    """It has a field that may be None for a column that may not be NULL."""

    id: str
    text: str | None


@pytest.mark.parametrize(("kind", "named"), [(Other, "Other.unknown"), (Unsure, "everything.text")])
def test_what_could_not_be_kept_is_known_from_the_beginning(kind: type, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        Codec(kind, everything)
