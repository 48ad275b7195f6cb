"""The format of `skill.json`: a recorded skill as data, next to the SKILL.md for people and other agents.

A recording has no special rights, whoever wrote it: each of its actions is judged by the rules, asked about and
journalled like one that a model chose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from agent.actions import DIALECT_ACTIONS
from agent.recorded_skills.step_record import RecordedAction, filled, parameters_in

FILE: Final = "skill.json"
MOST_BYTES: Final = 512_000
"""The maximum size of the file in bytes; a step takes about one thousand."""
MOST_STEPS: Final = 100
MOST_PARAMETERS: Final = 20
VALUE_LIMIT: Final = 4000
"""The maximum length of a parameter's value, in characters."""
PARAMETER: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")

FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "tap": frozenset(),
    "double_tap": frozenset(),
    "long_press": frozenset(),
    "type": frozenset({"text", "clear", "submit"}),
    "key": frozenset({"key"}),
    "open_app": frozenset({"name"}),
    "open_url": frozenset({"url"}),
    "scroll": frozenset({"direction"}),
    "note": frozenset({"screen"}),
    "take_over": frozenset({"reason"}),
    "enter_secret": frozenset({"question", "submit"}),
    "finish": frozenset({"status"}),
}
"""The actions that code can replay, with the fields that are kept of each. Of any other action only the kind is kept,
because a model must repeat it, like an action whose target has no anchor.
"""
_FORMS: Final = {form.model_fields["kind"].default: form for form in DIALECT_ACTIONS}
_WITHOUT: Final[Mapping[str, object]] = {"target": {"x": 0, "y": 0}, "status": "success"}
"""Fields that a recorded action may lack: its target is found on the screen, and only successes are recorded."""


class Parameter(BaseModel, frozen=True):
    """A value of a recorded skill that may differ the next time. `example` is its value when the skill was recorded,
    and `about` explains it.
    """

    name: str = Field(pattern=rf"^{PARAMETER.pattern}$")
    example: str = Field(min_length=1, max_length=VALUE_LIMIT)
    about: str = Field(default="", max_length=200)


class Source(BaseModel, frozen=True):
    """The run from which a skill was made, and what it cost in seconds, tokens and money."""

    task: str = ""
    """The number of the task in the service that recorded it."""
    recorded: float = 0.0
    """The time of the recording, in Unix seconds."""
    seconds: float = 0.0
    tokens: int = 0
    cost: float | None = None


class RecordedSkill(BaseModel, frozen=True):
    """A run that can be replayed: its steps, with parameters for the values that may differ."""

    format: Literal[1] = 1
    version: int = Field(default=1, ge=1, le=1_000_000)
    task: str = Field(max_length=8000)
    """The person's request, with parameters as `{name}`."""
    parameters: tuple[Parameter, ...] = Field(default=(), max_length=MOST_PARAMETERS)
    steps: tuple[RecordedAction, ...] = Field(min_length=1, max_length=MOST_STEPS)
    end: RecordedAction
    """The last action of the run; code can check the landmarks of its final screen."""
    source: Source = Source()

    @model_validator(mode="after")
    def _sound(self) -> RecordedSkill:
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) < len(names):
            raise ValueError("two parameters have one name")
        for step in (*self.steps, self.end):
            if not step.action.keys() - {"kind"} <= FIELDS.get(step.kind, frozenset()):
                raise ValueError(f"a step {step.kind!r} has what cannot be done again")
            _check_form(step)
        if self.end.kind != "finish":
            raise ValueError("it has no end")
        if set(names) - parameters_in(text for step in self.steps for text in texts_of(step)):
            raise ValueError("a parameter stands in no step")
        return self

    @property
    def locale(self) -> str:
        """The language of the phone on which the skill was recorded, such as "en-US"; "" if unknown."""
        return next((step.locale for step in self.steps if step.locale), "")

    def missing(self, arguments: Mapping[str, str]) -> tuple[str, ...]:
        """Return the names of the parameters that have no value in these arguments."""
        return tuple(each.name for each in self.parameters if not arguments.get(each.name, "").strip())

    def unknown(self, arguments: Mapping[str, str]) -> tuple[str, ...]:
        """Return the names of arguments that are not parameters of the skill."""
        return tuple(sorted(arguments.keys() - {each.name for each in self.parameters}))

    def asked(self, arguments: Mapping[str, str]) -> str:
        """Return the person's request with these arguments filled in."""
        return filled(self.task, arguments)


def _check_form(step: RecordedAction) -> None:
    """Raise ValueError for an action that code would replay but cannot, such as a text field that is not a text."""
    form = _FORMS.get(step.kind)
    if form is None or step.kind not in FIELDS or step.is_left_to_model:
        return
    filled_in = {**_WITHOUT, "text": ""} if step.kind == "note" else _WITHOUT  # its text is read from the screen
    try:
        form.model_validate({name: filled_in[name] for name in filled_in if name in form.model_fields} | step.action)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"a step {step.kind!r} has a wrong {first['loc'][-1]!r}: {first['msg']}") from error


def texts_of(step: RecordedAction) -> Iterator[str]:
    """Yield every text of a step that may contain parameters."""
    yield from (value for value in step.action.values() if isinstance(value, str))
    for anchor in (*([step.anchor] if step.anchor is not None else []), *step.reads):
        yield anchor.words
        yield anchor.beside
    yield from (mark.words for mark in step.landmarks)
