"""Adds actions to a dialect that its models were not trained on: describes them in the instructions, and parses calls
of them.

Everything comes from the action itself: its kind is the name of the call, its docstring says what it does, and its
fields are the arguments. A dialect only defines how positions and texts are written (`Forms`) and how a call is
composed.
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
from agent.dialects.tool_schemas import json_schema, plain_field
from agent.wording import one_line

_ABOUT_PLACES = {"target": "The place.", "start": "Where it begins.", "end": "Where it ends."}
"""The fields that are places, with descriptions for models if the action has none."""


@dataclass(frozen=True, slots=True)
class Forms:
    """How a dialect writes arguments.

    `text` is the form of a text. `places` has, for each field that is a position, its form, the name shown to the
    model, and other names that are accepted.
    """

    text: str
    places: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an added action.

    It fills `field` and may be given under any of `names`. `form` is how it is written, `about` what it means, and
    `limits` which values are allowed ("" for any). An argument that is not `needed` is marked with a question mark.
    With `json`, it may also be written as JSON in a text: models quote numbers, and not every dialect has a form for
    objects.
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
        """The name that the model is shown."""
        return self.names[0]

    @property
    def sentence(self) -> str:
        """The description as a sentence that begins with the name."""
        return f"{self._marked} ({self.limits}): {self.about}" if self.limits else f"{self._marked}: {self.about}"

    @property
    def in_brackets(self) -> str:
        """The description in the short form for lists, with the details in parentheses."""
        told = self.about.removesuffix(".")
        return f"{self._marked} ({self.limits}: {told})" if self.limits else f"{self._marked} ({told})"

    @property
    def _marked(self) -> str:
        return self.name if self.needed else f"{self.name}?"


@dataclass(frozen=True, slots=True)
class OfferedAction:
    """An action that was added to a dialect and that a model can call by its kind."""

    model: type[Action]
    kind: str
    about: str
    arguments: tuple[Argument, ...]

    @property
    def forms(self) -> list[str]:
        """The arguments in the form in which they appear in a call."""
        return [f"{argument.name}={argument.form}" for argument in self.arguments]

    @property
    def words(self) -> str:
        """The description of the action and its arguments, in one line for the model."""
        return " ".join([self.about, *(argument.sentence for argument in self.arguments)])

    def read(self, name: str, arguments: Arguments, grid: Grid) -> Action:
        """Build the action from the arguments of a call. `name` is the name used in the call; null counts as missing.
        Raises BadReply if they do not fit.
        """
        fields: dict[str, object] = {}
        for argument in self.arguments:
            value: object = arguments.take(*argument.names)
            if argument.field in _ABOUT_PLACES:
                if value is not None or argument.needed:
                    fields[argument.field] = grid.target(value, name)
            elif value is not None:
                read = loaded(value) if argument.json and isinstance(value, str) else None
                fields[argument.field] = value if read is None else read
        arguments.end()
        return made(self.model, name, **fields)


def offered(
    models: Collection[type[Action]],
    forms: Forms,
    native: Collection[str],
    plain: Callable[[str], str] = str.lower,
    *,
    lacking: Collection[type[Action]] = (),
) -> dict[str, OfferedAction]:
    """Return the actions to add to a dialect, by their names in the dialect's compared form (`plain`).

    These are the `models` that are not in DIALECT_ACTIONS, and those in `lacking`, for which the dialect has no word.
    An action with the name of a `native` word of the dialect is left out, so that the word keeps its meaning. Raises
    KeyError for a field that is not a position and has no description.
    """
    further = {
        plain(model.model_fields["kind"].default): model
        for model in models
        if model in lacking or model not in DIALECT_ACTIONS
    }
    return {name: _offered(model, forms) for name, model in further.items() if name not in native}


def further_lines(actions: Mapping[str, OfferedAction], line: Callable[[OfferedAction], str]) -> str:
    """Return the lines that describe these actions at the end of a prompt's list; "" if there are none."""
    return "".join(f"\n{line(action)}" for action in actions.values())


def _offered(model: type[Action], forms: Forms) -> OfferedAction:
    schema = json_schema(model)
    arguments = tuple(
        _argument(name, field, schema, forms) for name, field in schema["properties"].items() if name != "kind"
    )
    return OfferedAction(model, model.model_fields["kind"].default, one_line(schema.get("description", "")), arguments)


def _argument(name: str, field: dict[str, Any], schema: dict[str, Any], forms: Forms) -> Argument:
    needed = name in schema.get("required", ())
    about = one_line(field.get("description") or _ABOUT_PLACES[name])
    plain = {} if name in forms.places else plain_field(field, schema.get("$defs", {}))
    kind = plain.get("type", "")
    form, *names = forms.places.get(
        name, ({"string": forms.text, "object": forms.text, "array": "[…]"}.get(kind, "…"), name)
    )
    return Argument(name, tuple(names), form, _limits(plain, about), about, needed, kind not in {"", "string"})


def _limits(field: dict[str, Any], about: str) -> str:
    """Return the allowed values in words; "" if any is allowed or the description names every choice."""
    least, most = field.get("minimum"), field.get("maximum")
    if "enum" in field and all(f" {choice}" in f" {about}" for choice in field["enum"]):
        return ""
    if "enum" in field:
        # In quotes, so that names from another program's server cannot run into the surrounding text.
        return f"one of {json.dumps(field['enum'], ensure_ascii=False)[1:-1]}"
    if least is not None and most is not None:
        return f"{least} to {most}"
    if least is not None or most is not None:
        return f"at least {least}" if most is None else f"at most {most}"
    return {"boolean": "true or false", "array": "a list", "object": "a JSON object"}.get(field.get("type", ""), "")
