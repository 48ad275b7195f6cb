"""Converts between table rows and frozen dataclasses or pydantic models, and between JSON columns and values that have
no column type; equal values have equal texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from operator import attrgetter, itemgetter
from types import MappingProxyType, NoneType
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter
from sqlalchemy import Boolean, Column, String, Table

from agent.models.base import Usage
from agent.run import RunId
from bot.domain.address import Address, MessageRef
from bot.store.database import Parameters, Row, Value

LONGEST_NUMBER = 18
"""Most digits of a row's id: SQLite's ids are below 2^63, and int() refuses numbers of thousands of digits."""


def row_number(text: str) -> int | None:
    """Return a row's id that a person wrote as a number; None if the text is not a possible id."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else None


def json_text(value: object) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def address_text(address: Address) -> str:
    """Return an address as text. Equal addresses have equal texts, so that rows can be looked up by them."""
    return json_text([address.platform, address.account, address.chat, address.guild, address.thread])


def address_beginning(platform: str, account: str, chat: str, *guild: str) -> str:
    """Return the beginning that the texts of all addresses in a chat have in common."""
    return json_text([platform, account, chat, *guild])[:-1] + ","


@lru_cache(maxsize=1024)
def address_of(text: str) -> Address:
    """Return the address stored in a text that `address_text` made."""
    return Address(*json.loads(text))


def message_text(message: MessageRef) -> str:
    """Return a message reference as text; equal references have equal texts."""
    return json_text([address_text(message.address), message.message])


def message_of(text: str) -> MessageRef:
    """Return the message reference stored in a text that `message_text` made."""
    address, message = json.loads(text)
    return MessageRef(address_of(address), message)


def usage_of(text: str) -> Usage:
    """Return the token counts and cost stored in a text."""
    return Usage.of(json.loads(text))


Kind = TypeVar("Kind")


class _Leaf(NamedTuple):
    """How a field's value is converted from and to its column; None where it is stored unchanged."""

    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Value] | None = None


_TEXTS: Final[dict[Any, _Leaf]] = {
    RunId: _Leaf(RunId.parse, str),
    Address: _Leaf(address_of, address_text),
    MessageRef: _Leaf(message_of, message_text),
    Usage: _Leaf(usage_of, lambda usage: json_text(usage.data())),
}
"""Types stored as text. Equal values have equal texts, so that rows can be looked up by them."""
_NUMBER: Final = _Leaf(lambda kept: "" if kept is None else str(kept), lambda text: int(text) if text else None)
"""The id of a row, which is a text in the program; "" is NULL."""


class Codec(Generic[Kind]):
    """Converts between the rows of one table and values of one dataclass or pydantic model.

    A field is stored in the column of its name. A dataclass field without such a column is stored as its own fields,
    in columns prefixed with its name (`person_id`) or else in columns with the names of these fields. Numbers, texts,
    bytes, booleans, enums, ids, addresses and message references have a column format of their own; everything else is
    stored as JSON, without defaults in the columns named in `lean`. The fields named in `own` are read from the row by
    these functions, and written by the caller. A field that is ignored when values are compared, such as a person's
    roles, may have no column. Raises TypeError when any other field has none.
    """

    def __init__(
        self,
        kind: type[Kind],
        table: Table,
        *,
        lean: Collection[str] = (),
        own: Mapping[str, Callable[[Row], Any]] = MappingProxyType({}),
    ) -> None:
        self._kind: Callable[..., Kind] = kind
        self._table = table
        self._lean = lean
        self._own = own
        self._writers: dict[str, Callable[[Kind], Value]] = {}
        self._readers = self._fields(kind, "", "")

    @property
    def columns(self) -> Collection[str]:
        """The names of the columns that this codec writes."""
        return self._writers.keys()

    def values(self, value: Kind) -> Parameters:
        """Return the columns of a dataclass or model instance by name, as parameters of an insert or update."""
        return {column: write(value) for column, write in self._writers.items()}

    def read(self, row: Row) -> Kind:
        """Return the dataclass or model instance stored in a row. The row may have additional columns."""
        return self._kind(**{name: read(row) for name, read in self._readers})

    def read_all(self, rows: Collection[Row]) -> tuple[Kind, ...]:
        """Return the dataclass or model instances stored in these rows."""
        return tuple(map(self.read, rows))

    def first(self, rows: list[Row]) -> Kind | None:
        """Return the dataclass or model instance stored in the first row; None if there are no rows."""
        return self.read(rows[0]) if rows else None

    def _fields(self, kind: Any, prefix: str, path: str) -> list[tuple[str, Callable[[Any], Any]]]:  # noqa: ANN401
        readers: list[tuple[str, Callable[[Any], Any]]] = []
        names = self._table.columns.keys()
        for name, hint, counts in _fields_of(kind):
            column = prefix + name
            if path + name in self._own:
                readers.append((name, self._own[path + name]))
            elif column in names:
                leaf = _leaf(hint, self._table.columns[column], lean=column in self._lean)
                readers.append((name, _after(itemgetter(column), leaf.read)))
                self._writers[column] = _after(attrgetter(path + name), leaf.write)
            elif is_dataclass(hint):
                beginning = f"{column}_"
                inner = beginning if any(each.startswith(beginning) for each in names) else prefix
                readers.append((name, _nested(hint, self._fields(hint, inner, f"{path}{name}."))))
            elif counts:
                raise TypeError(f"the table {self._table.name} has no column for {kind.__name__}.{name}")
        return readers


def _fields_of(kind: Any) -> Iterator[tuple[str, Any, bool]]:  # noqa: ANN401 - a dataclass or a model
    """Name, type, and whether it counts when two values are compared, of each field."""
    hints = get_type_hints(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from ((name, hints[name], True) for name in kind.model_fields)
    else:
        yield from ((field.name, hints[field.name], field.compare) for field in fields(kind) if field.init)


def _nested(kind: Any, readers: list[tuple[str, Callable[[Any], Any]]]) -> Callable[[Any], Any]:  # noqa: ANN401
    return lambda row: kind(**{name: read(row) for name, read in readers})


def _after(get: Callable[[Any], Any], convert: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    return get if convert is None else lambda source: convert(get(source))


def _leaf(hint: Any, column: Column[Any], *, lean: bool) -> _Leaf:  # noqa: ANN401 - a type as it is annotated
    optional = NoneType in get_args(hint)
    kinds = [each for each in get_args(hint) if each is not NoneType] if optional else [hint]
    if optional and not column.nullable:
        raise TypeError(f"{column} is never NULL, and its field may be None")
    leaf = _leaf_of(kinds[0], column, lean=lean) if len(kinds) == 1 else _json(hint, lean=lean)
    return _Leaf(_unless_none(leaf.read), _unless_none(leaf.write)) if optional else leaf


def _leaf_of(kind: Any, column: Column[Any], *, lean: bool) -> _Leaf:  # noqa: ANN401 - a type as it is annotated
    if kind in _TEXTS:
        return _TEXTS[kind]
    if kind is bool and isinstance(column.type, Boolean):
        return _Leaf(bool)
    if kind in {str, int, float, bytes}:
        return _NUMBER if kind is str and not isinstance(column.type, String) else _Leaf()
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _Leaf(kind, attrgetter("value"))
    if get_origin(kind) is Literal:
        return _Leaf()
    return _json(kind, lean=lean)


def _json(kind: Any, *, lean: bool) -> _Leaf:  # noqa: ANN401 - a type as it is annotated
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return _Leaf(adapter.validate_json, lambda value: adapter.dump_json(value, exclude_defaults=lean).decode())


def _unless_none(convert: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    return None if convert is None else lambda value: None if value is None else convert(value)
