"""Which JSON Schemas are taken for a result, and which texts are documents that fit one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.task_results import MOST_LETTERS, JsonSchema, Unreadable, read_document

PRICE = {
    "type": "object",
    "properties": {"price": {"type": "number"}, "pattern": {"$ref": "#/$defs/word"}},
    "required": ["price"],
    "additionalProperties": False,
    "$defs": {"word": {"enum": ["a", {"pattern": "b"}]}},
}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"type": "nix"}, r"\$\.type"),
        ({"required": "price"}, r"\$\.required"),
        ({"$ref": "https://example.com/schema"}, "another place of the same schema"),
        ({"properties": {"a": {"anyOf": [{"$ref": "file:///etc/passwd"}]}}}, "another place of the same schema"),
        ({"pattern": "(a+)+b"}, "pattern is not taken"),
        ({"$defs": {"x": {"patternProperties": {}}}}, "patternProperties is not taken"),
        ({"description": "x" * MOST_LETTERS}, "characters"),
        (nested(100_000), "nested too deeply"),
    ],
)
def test_what_is_no_schema_for_a_result_is_refused(document: dict[str, Any], why: str) -> None:
    """Seen failing without the walk through the keywords: an address was fetched while a result was checked."""
    with pytest.raises(ValidationError, match=why):
        JsonSchema(document=document)


def test_names_and_data_are_no_keywords() -> None:
    schema = JsonSchema(document=PRICE)
    document = read_document('{"price": 9.5, "pattern": {"pattern": "b"}}', schema)
    assert document.document == {"price": 9.5, "pattern": {"pattern": "b"}}
    assert json.loads(document.text) == document.document


@pytest.mark.parametrize(
    "text",
    ["", "9.50", '{"price": "9.50"}', '{"price": 1, "more": 2}', '{"price": NaN}', "[" * 100_000, '{"price": 1'],
)
def test_what_does_not_fit_is_told(text: str) -> None:
    with pytest.raises(Unreadable):
        read_document(text, JsonSchema(document=PRICE))


def test_a_schema_that_leads_back_to_itself_ends() -> None:
    with pytest.raises(Unreadable):
        read_document("1", JsonSchema(document={"$ref": "#"}))


@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=9))
def test_any_document_fits_the_empty_schema_as_it_is(value: object) -> None:
    assert read_document(json.dumps(value), JsonSchema(document={})).document == value
