"""What a step keeps of what it did: plain data that is stored with it, and that recorded skills are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

_PARAMETER: Final = re.compile(r"\{(?P<name>[a-z][a-z0-9_]*)\}")


class Landmark(BaseModel):
    """Words that the recorded screen had, and the id of the element that showed them."""

    model_config = ConfigDict(frozen=True)

    words: str
    id: str = ""


class Anchor(BaseModel):
    """A control as it was recorded. Its words may hold parameters, as `{name}`."""

    model_config = ConfigDict(frozen=True)

    package: str
    role: str
    """The class without its package, such as "Button"."""
    id: str = ""
    words: str = ""
    """Its own, else the first that stand in it."""
    beside: str = ""
    """The first words of the row or card that it stands in, where its own do not tell it from others."""
    editable: bool = False
    checked: bool | None = None
    """How the switch or box in it was set before it was touched; None where there is none."""
    listed: bool = False
    """Whether it stood in a list, where it may be further down now."""
    at: tuple[float, float] = (0.0, 0.0)
    """Where its middle was, in shares of the screen: a hint for models."""


class RecordedAction(BaseModel):
    """One action that was done, where, and on what screen. It holds no secret: one that was typed is a question."""

    model_config = ConfigDict(frozen=True)

    action: dict[str, Any]
    """The action as plain data, without its target."""
    package: str = ""
    activity: str = ""
    anchor: Anchor | None = None
    """What it touched; None for what touches nothing, and for what could not be told from other things."""
    touches: bool = False
    """Whether only a model can do it again where no anchor or place of words is known."""
    landmarks: tuple[Landmark, ...] = ()
    chosen: bool = False
    """Whether it touched one of several alike, as in a list."""
    dialog: bool = False
    """Whether it was done in a dialog, which may not come the next time."""
    looks_up: bool = False
    """Whether it was a tool that changes nothing anywhere, as a search: only a model needs what it found."""
    after_lookup: bool = False
    """Whether a tool had looked something up before it: a text that no person has said came from there."""
    reads: tuple[Anchor, ...] = ()
    """Where the words of a note or a result stood on the screen."""
    locale: str = ""
    """The language that the phone was set to, such as "en-US"; "" where it was not known."""
    seconds: float = Field(default=0.0, ge=0)
    """How long it took until the screen stood still after it."""

    @field_validator("action")
    @classmethod
    def _has_kind(cls, action: dict[str, Any]) -> dict[str, Any]:
        if not (isinstance(action.get("kind"), str) and action["kind"]):
            raise ValueError("an action has no kind")
        return action

    @property
    def kind(self) -> str:
        """The name of the action."""
        return str(self.action["kind"])

    @property
    def is_left_to_model(self) -> bool:
        """Whether nothing is known by which code would find its place or its words again."""
        return self.touches and self.anchor is None and not self.reads


class PressVerdict(BaseModel):
    """What the gate's reader said of a press, and `key`, the word for that press with all words around it: with other
    words it is another one, and the verdict counts for nothing (see agent.guards.reading.Pressed.key).
    """

    model_config = ConfigDict(frozen=True)

    key: str
    consequence: str
    object: str = ""


class StepRecord(BaseModel):
    """What a step keeps of what it did."""

    model_config = ConfigDict(frozen=True)

    actions: tuple[RecordedAction, ...] = ()
    followed: int | None = None
    """The step of a recorded skill that was done again by it; None where a model has decided."""
    verdicts: tuple[PressVerdict, ...] = ()
    """What the gate's reader said of its presses, as far as that may be kept."""


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with these values for its parameters; a name that has none stays as it is."""
    return _PARAMETER.sub(lambda found: values.get(found["name"], found[0]), text)


def parameters_in(texts: Iterable[str]) -> set[str]:
    """The names of the parameters in these texts."""
    return {found["name"] for text in texts for found in _PARAMETER.finditer(text)}
