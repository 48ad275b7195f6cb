"""The record of what a step did, as plain data: stored with the step, and the raw material of recorded skills."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

_PARAMETER: Final = re.compile(r"\{(?P<name>[a-z][a-z0-9_]*)\}")


class Landmark(BaseModel):
    """Words that were on the recorded screen, and the id of the element that showed them."""

    model_config = ConfigDict(frozen=True)

    words: str
    id: str = ""


class Anchor(BaseModel):
    """The description of a recorded control by which it is found again. Its words may contain parameters,
    as `{name}`.
    """

    model_config = ConfigDict(frozen=True)

    package: str
    role: str
    """The class without its package, such as "Button"."""
    id: str = ""
    words: str = ""
    """The control's own words, or otherwise the first words inside it."""
    beside: str = ""
    """The first words of its row or card if its own words do not distinguish it from others."""
    editable: bool = False
    checked: bool | None = None
    """The state of its switch or checkbox before the touch; None if it has none."""
    listed: bool = False
    """Whether it was in a list, where it may have moved since."""
    at: tuple[float, float] = (0.0, 0.0)
    """The position of its centre as shares of the screen: a hint for models."""


class RecordedAction(BaseModel):
    """One recorded action, with its target and screen. It contains no secret: a typed secret is recorded as
    a question.
    """

    model_config = ConfigDict(frozen=True)

    action: dict[str, Any]
    """The action as plain data, without its target."""
    package: str = ""
    activity: str = ""
    anchor: Anchor | None = None
    """The control that it touched; None if it touched nothing or nothing that can be identified."""
    touches: bool = False
    """Whether only a model can repeat it unless an anchor or the position of words is known."""
    landmarks: tuple[Landmark, ...] = ()
    chosen: bool = False
    """Whether it touched one of several similar elements, as in a list."""
    dialog: bool = False
    """Whether it was done in a dialog, which may not appear the next time."""
    looks_up: bool = False
    """Whether it was a tool that changes nothing, such as a search, so that only a model needs it."""
    after_lookup: bool = False
    """Whether a lookup tool ran before it: text that no person said then came from the tool."""
    reads: tuple[Anchor, ...] = ()
    """Where on the screen the words of a note or result were."""
    locale: str = ""
    """The phone's language, such as "en-US"; "" if unknown."""
    seconds: float = Field(default=0.0, ge=0)
    """How many seconds it took afterwards until the screen stopped moving."""

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
        """Whether code has nothing by which to find its place or its words again."""
        return self.touches and self.anchor is None and not self.reads


class PressVerdict(BaseModel):
    """What the gate's independent reader said about a press. `key` is a digest of the press with all words around it:
    with other words, the verdict does not apply (see agent.guards.reading.Pressed.key).
    """

    model_config = ConfigDict(frozen=True)

    key: str
    consequence: str
    object: str = ""


class StepRecord(BaseModel):
    """The record of what one step did."""

    model_config = ConfigDict(frozen=True)

    actions: tuple[RecordedAction, ...] = ()
    followed: int | None = None
    """The number of the recorded skill's step that was replayed; None if a model decided."""
    verdicts: tuple[PressVerdict, ...] = ()
    """What the gate's independent reader said about its presses, as far as it may be stored."""


def filled(text: str, values: Mapping[str, str]) -> str:
    """Fill in the parameters of a text; a name without a value stays as it is."""
    return _PARAMETER.sub(lambda found: values.get(found["name"], found[0]), text)


def parameters_in(texts: Iterable[str]) -> set[str]:
    """Return the names of the parameters in these texts."""
    return {found["name"] for text in texts for found in _PARAMETER.finditer(text)}
