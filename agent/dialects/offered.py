"""Actions that the dialects have no words for: how a model is told of them, and how its calls become these actions.

All of it comes from the action itself: its kind is the name of the call, its docstring says what it does, and its
fields are the arguments. A dialect says only how it writes places and texts (`Forms`) and how it puts a call together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agent.actions import DIALECT_ACTIONS, Action
from agent.dialects.call_syntax import Arguments
from agent.dialects.grid import Grid
from agent.dialects.printed_calls import loaded
from agent.dialects.replies import made
from agent.dialects.tool_schemas import plain_field

_ABOUT_PLACES = {"target": "The place.", "start": "Where it begins.", "end": "Where it ends."}
"""The fields that are places, and what a model is told of them where the action itself says nothing."""


@dataclass(frozen=True, slots=True)
class Forms:
    """How a dialect writes arguments: a text, and places by their fields. For each of these it is its form, the name by
    which a model is told of it, and other names under which it is taken as well.
    """

    text: str
    places: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: the field that it fills, the names under which it is taken, its form, and what is told of it. One
    that may be left out is marked with a question mark.

    `limits` is what may be given, "" where there is nothing to say. With `json` it is no
    text, but may be written as JSON in one: models quote numbers, and not every dialect has a form for objects.
    """

    field: str
    names: tuple[str, ...]
    form: str
    limits: str
    about: str
    needed: bool
    json: bool

    @property
    def name(self) -> str:
        """As a model is told of it."""
        return self.names[0]

    @property
    def sentence(self) -> str:
        """What is told of it, beginning with its name."""
        return f"{self._marked} ({self.limits}): {self.about}" if self.limits else f"{self._marked}: {self.about}"

    @property
    def in_brackets(self) -> str:
        """The same, as a part of a list."""
        told = self.about.removesuffix(".")
        return f"{self._marked} ({self.limits}: {told})" if self.limits else f"{self._marked} ({told})"

    @property
    def _marked(self) -> str:
        return self.name if self.needed else f"{self.name}?"


@dataclass(frozen=True, slots=True)
class OfferedAction:
    """An action that a model can call by its kind."""

    model: type[Action]
    kind: str
    about: str
    arguments: tuple[Argument, ...]

    @property
    def forms(self) -> list[str]:
        """The arguments as they stand in a call."""
        return [f"{argument.name}={argument.form}" for argument in self.arguments]

    @property
    def words(self) -> str:
        """What it does, and what each argument is, in one line."""
        return " ".join([self.about, *(argument.sentence for argument in self.arguments)])

    def read(self, name: str, given: Arguments, grid: Grid) -> Action:
        """The action that these arguments ask for; null counts as left out. Raises BadReply for what does not fit."""
        fields: dict[str, object] = {}
        for argument in self.arguments:
            value: object = given.take(*argument.names)
            if argument.field in _ABOUT_PLACES:
                if value is not None or argument.needed:
                    fields[argument.field] = grid.target(value, name)
            elif value is not None:
                read = loaded(value) if argument.json and isinstance(value, str) else None
                fields[argument.field] = value if read is None else read
        given.end()
        return made(self.model, name, **fields)


def offered(
    models: Collection[type[Action]],
    forms: Forms,
    native: Collection[str],
    plain: Callable[[str], str] = str.lower,
    *,
    lacking: Collection[type[Action]] = (),
) -> dict[str, OfferedAction]:
    """The actions among these beyond DIALECT_ACTIONS, by their names as the dialect compares them (`plain`), and those
    of DIALECT_ACTIONS that its makers have no word for (`lacking`).

    One that is called like a `native` word of the dialect is left out: that word keeps its meaning. Raises KeyError
    for a field that is no place and has no description.
    """
    further = {
        plain(model.model_fields["kind"].default): model
        for model in models
        if model in lacking or model not in DIALECT_ACTIONS
    }
    return {name: _offered(model, forms) for name, model in further.items() if name not in native}


def further_lines(actions: Mapping[str, OfferedAction], line: Callable[[OfferedAction], str]) -> str:
    """What follows the last action in a prompt: a line for each of these, "" where there are none."""
    return "".join(f"\n{line(action)}" for action in actions.values())


def _offered(model: type[Action], forms: Forms) -> OfferedAction:
    schema = model.model_json_schema()
    arguments = tuple(
        _argument(name, field, schema, forms) for name, field in schema["properties"].items() if name != "kind"
    )
    return OfferedAction(model, model.model_fields["kind"].default, _line(schema.get("description", "")), arguments)


def _argument(name: str, field: dict[str, Any], schema: dict[str, Any], forms: Forms) -> Argument:
    needed = name in schema.get("required", ())
    about = _line(field.get("description") or _ABOUT_PLACES[name])
    plain = {} if name in forms.places else plain_field(field, schema.get("$defs", {}))
    kind = plain.get("type", "")
    form, *names = forms.places.get(
        name, ({"string": forms.text, "object": forms.text, "array": "[…]"}.get(kind, "…"), name)
    )
    return Argument(name, tuple(names), form, _limits(plain, about), about, needed, kind not in {"", "string"})


def _limits(field: dict[str, Any], about: str) -> str:
    """What may be given, in words; "" where anything may, or where what is said about it names every choice."""
    least, most = field.get("minimum"), field.get("maximum")
    if "enum" in field and all(f" {choice}" in f" {about}" for choice in field["enum"]):
        return ""
    if "enum" in field:
        # In quotes: where a server of somebody else names them, they end where they end.
        return f"one of {json.dumps(field['enum'], ensure_ascii=False)[1:-1]}"
    if least is not None and most is not None:
        return f"{least} to {most}"
    if least is not None or most is not None:
        return f"at least {least}" if most is None else f"at most {most}"
    return {"boolean": "true or false", "array": "a list", "object": "a JSON object"}.get(field.get("type", ""), "")


def _line(text: str) -> str:
    return " ".join(text.split())
