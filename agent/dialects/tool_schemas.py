"""Generates the tools of the default dialect from the typed actions.

The prompts describe the actions of agent.actions; any other action describes itself in its docstring and fields. A
target becomes `element`, or `x` and `y` with the words there; a start or end becomes two numbers. The schemas allow
only what is listed. Optional arguments are left out of `required`, rather than nullable as one vendor's strict mode
requires, because other vendors' endpoints fail on nullable types.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agent.actions import Action
from agent.models.base import ToolSpec
from agent.prompts import prompt
from devices.geometry import Size

SAY = "say"
"""The argument of every tool in which the model tells the person what the step does."""
ON = "on"
"""The argument next to a point that contains the words which the model reads there."""

_KEPT = ("type", "enum", "const", "minimum", "maximum", "minLength", "maxLength", "items")
SCHEMAS_KEPT = 256
"""How many actions' schemas are cached, those of tools of other programs among them."""
_NO_SCREEN = Size(1, 1)
_ROTATIONS = 8
"""How many screen sizes' tools are cached: the two rotations of a few phones."""


@lru_cache(maxsize=_ROTATIONS)
def tool_specs(space: Size, models: tuple[type[Action], ...]) -> tuple[ToolSpec, ...]:
    """Return one tool for each of these actions. `space` is the size of the picture in which points are given. Raises
    KeyError if neither the prompts nor the action describe something.
    """
    return tuple(_tool(model, space, _descriptions()) for model in models)


def plain_tool_spec(model: type[Action]) -> ToolSpec:
    """Return the tool for an action without targets on a screen, for a model that does not report its steps to a
    person.
    """
    spec = _tool(model, _NO_SCREEN, {SAY: ""})
    del spec.parameters["properties"][SAY]
    return spec


def _tool(model: type[Action], space: Size, texts: dict[str, str]) -> ToolSpec:
    kind, schema = model.model_fields["kind"].default, json_schema(model)
    own = {
        f"{kind}.{name}": field["description"] for name, field in schema["properties"].items() if "description" in field
    }
    texts = {kind: schema.get("description", ""), **own, **texts}
    return ToolSpec(kind, texts[kind], _parameters(kind, schema, space, texts))


def _parameters(kind: str, schema: dict[str, Any], space: Size, texts: dict[str, str]) -> dict[str, Any]:
    definitions: dict[str, Any] = schema.get("$defs", {})
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, field in schema["properties"].items():
        if name == "kind":
            continue
        if name == "target":
            properties["element"] = {"type": "integer", "minimum": 0, "description": texts["element"]}
            properties |= _axes("", space, texts) | {ON: {"type": "string", "description": texts[ON]}}
        elif name in {"start", "end"}:
            axes = _axes(f"{name}_", space, texts)
            properties |= axes
            required += axes
        else:
            properties[name] = plain_field(field, definitions) | {"description": texts[f"{kind}.{name}"]}
            if name in schema.get("required", ()):
                required.append(name)
    if kind != "finish":
        properties[SAY] = {"type": "string", "description": texts[SAY]}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _axes(prefix: str, space: Size, texts: dict[str, str]) -> dict[str, Any]:
    return {
        f"{prefix}{axis}": {
            "type": "integer",
            "minimum": 0,
            "maximum": size - 1,
            "description": texts[f"{prefix}{axis}"],
        }
        for axis, size in (("x", space.width), ("y", space.height))
    }


@lru_cache(SCHEMAS_KEPT)
def json_schema(model: type[Action]) -> dict[str, Any]:
    """Return the JSON schema of an action. It is cached and shared, so callers must not change it."""
    return model.model_json_schema()


def plain_field(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a field's JSON schema without references, titles and null. `definitions` are the `$defs` of the whole
    schema.
    """
    if "$ref" in field:
        field = definitions[field["$ref"].rsplit("/", 1)[-1]]
    if "anyOf" in field:
        field = next(choice for choice in field["anyOf"] if choice.get("type") != "null")
    return {key: field[key] for key in _KEPT if key in field}


def _descriptions() -> dict[str, str]:
    lines = (line.partition(": ") for line in prompt("dialects/tool_descriptions").splitlines() if line)
    return {name: text for name, _, text in lines}
