"""The ways to make a model answer in a given JSON form, from the strictest to none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from openai import pydantic_function_tool
from pydantic import BaseModel

ABOUT_FORMATS = re.compile(
    r"response_format|text\.format|json[_ ]schema|json[_ ]object|json mode|structured output|guided", re.IGNORECASE
)


class AnswerFormat(Enum):
    """A way of telling an endpoint that the answer must have a given JSON form."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"

    @property
    def simpler(self) -> AnswerFormat:
        """The next format to try if this one is refused."""
        return AnswerFormat.JSON_OBJECT if self is AnswerFormat.JSON_SCHEMA else AnswerFormat.TEXT

    def is_refused_by(self, words: str) -> bool:
        """Whether an endpoint's error message says that it does not support this format."""
        return self is not AnswerFormat.TEXT and ABOUT_FORMATS.search(words) is not None


def strict_schema(form: type[BaseModel]) -> object:
    """Return the model's JSON schema in the form of strict mode: every field is required, and no others are allowed."""
    return pydantic_function_tool(form)["function"]["parameters"]


def is_strict(schema: object) -> bool:
    """Whether a JSON schema follows the rules of strict mode, so that it may be sent as a strict one."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            names = set(schema.get("properties", {}))
            if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != names:
                return False
        return all(is_strict(part) for part in schema.values())
    return all(is_strict(part) for part in schema) if isinstance(schema, list) else True
