"""Task results in the form of a JSON Schema: checks which schemas are accepted, and whether a text fits one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from agent.result_value import Unreadable
from agent.wording import shortened

MOST_LETTERS: Final = 20_000
"""The maximum length in characters of a schema, and of a document that fits it, as JSON."""
MOST_PROBLEMS: Final = 3
_LONGEST_PROBLEM: Final = 200
_REFUSED: Final = frozenset({"pattern", "patternProperties", "$dynamicRef"})
"""Keywords that are not accepted: a foreign regular expression may run forever."""
_NAMES: Final = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value maps arbitrary names to schemas."""
_DATA: Final = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose value is not a schema."""


class JsonSchema(BaseModel):
    """A JSON Schema (draft 2020-12) for the whole result of a task. An unusable schema raises ValueError."""

    model_config = ConfigDict(frozen=True)

    type: Literal["json"] = "json"
    document: dict[str, Any]

    @model_validator(mode="after")
    def _usable(self) -> Self:
        try:
            if len(self.text) > MOST_LETTERS:
                raise ValueError(f"the schema has more than {MOST_LETTERS} characters")
            for keyword, value in _keywords(self.document):
                if keyword in _REFUSED:
                    raise ValueError(f"the keyword {keyword} is not taken")
                if keyword == "$ref" and not str(value).startswith("#"):
                    raise ValueError("a $ref may only lead to another place of the same schema")
            if problem := _problem_of(self.document):
                raise ValueError(problem)
        except RecursionError:
            raise ValueError("the schema is nested too deeply") from None
        return self

    @property
    def text(self) -> str:
        """The schema as JSON."""
        return json.dumps(self.document, ensure_ascii=False)


class JsonValue(BaseModel):
    """The result of a task as a document that fits the requested schema."""

    model_config = ConfigDict(frozen=True)

    type: Literal["json"] = "json"
    document: Any

    @property
    def text(self) -> str:
        """The document as JSON."""
        return json.dumps(self.document, ensure_ascii=False)


def read_document(text: str, schema: JsonSchema) -> JsonValue:
    """Parse a text as a JSON document that fits this schema. Raises Unreadable if it is not JSON or does not fit."""
    try:
        if len(text) > MOST_LETTERS:
            raise Unreadable(f"At most {MOST_LETTERS} characters are taken.")
        document = json.loads(text, parse_constant=_no_number)
        problems = [
            f"{error.json_path}: {shortened(error.message, _LONGEST_PROBLEM)}"
            for error in islice(_checking(schema.document).iter_errors(document), MOST_PROBLEMS)
        ]
    except ValueError as error:
        raise Unreadable(f"That is no JSON: {error}.") from None
    except RecursionError:
        raise Unreadable("That is nested too deeply.") from None
    if problems:
        raise Unreadable(f"That does not fit the schema: {'; '.join(problems)}.")
    return JsonValue(document=document)


def _problem_of(schema: Mapping[str, Any]) -> str:
    """Return what is wrong with a schema; "" if nothing is."""
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - see _checking

    try:
        type(_checking({})).check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path}: {shortened(error.message, _LONGEST_PROBLEM)}"
    return ""


def _checking(document: Mapping[str, Any]) -> Any:  # noqa: ANN401 - no types come with the library
    """Return a validator for this schema; it fetches nothing."""
    # Imported here because few tasks have a schema and the library takes a tenth of a second to load.
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - see above
    from referencing import Registry  # noqa: PLC0415

    return Draft202012Validator(document, registry=Registry())


def _keywords(schema: object) -> Iterator[tuple[str, object]]:
    """Yield every keyword of a schema and of the schemas inside it."""
    if isinstance(schema, list):
        for each in schema:
            yield from _keywords(each)
    elif isinstance(schema, Mapping):
        for keyword, value in schema.items():
            yield keyword, value
            if keyword in _NAMES and isinstance(value, Mapping):
                for each in value.values():
                    yield from _keywords(each)
            elif keyword not in _DATA:
                yield from _keywords(value)


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")
