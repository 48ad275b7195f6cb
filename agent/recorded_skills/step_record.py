"""The record of what a step did, as plain data. It is stored with the step, and recorded skills are made from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, Field, field_validator

_PARAMETER: Final = re.compile(r"\{(?P<name>[a-z][a-z0-9_]*)\}")


class Landmark(BaseModel, frozen=True):
    """Words that identify a recorded screen, and the id of the element that showed them."""

    words: str
    id: str = ""


class Anchor(BaseModel, frozen=True):
    """The description of a recorded control, by which it is found again on another screen. Its words may contain
    parameters, as `{name}`.
    """

    package: str
    role: str
    """The class name without its package, such as "Button"."""
    id: str = ""
    words: str = ""
    """The control's own words or, if it has none, the first words inside it."""
    beside: str = ""
    """The first words of the control's row or card, if its own words do not distinguish it from others;
    otherwise "".
    """
    editable: bool = False
    checked: bool | None = None
    """The state of the control's switch or checkbox before the touch; None if it has none."""
    listed: bool = False
    """Whether the control was in a list, where it may have moved since."""
    at: tuple[float, float] = (0.0, 0.0)
    """The position of the control's centre, as shares of the screen's width and height: a hint for models."""


class RecordedAction(BaseModel, frozen=True):
    """One recorded action, with its target and screen. It contains no secret: the typing of a secret is recorded as a
    question.
    """

    action: dict[str, Any]
    """The action as plain data, without its target."""
    package: str = ""
    activity: str = ""
    anchor: Anchor | None = None
    """The control that the action touched; None if it touched none, or none that can be identified."""
    touches: bool = False
    """Whether the action touched something, so that only a model can repeat it if there is neither an anchor nor a
    place in `reads`.
    """
    landmarks: tuple[Landmark, ...] = ()
    chosen: bool = False
    """Whether the action touched one of several similar elements, as in a list."""
    dialog: bool = False
    """Whether the action was done in a dialog, which may not appear the next time."""
    looks_up: bool = False
    """Whether the action was a tool that changes nothing, such as a search, so that only a model needs it."""
    after_lookup: bool = False
    """Whether such a lookup came before the action. A text that no person said then came from the tool."""
    reads: tuple[Anchor, ...] = ()
    """The places on the screen where the words of a note or result were."""
    locale: str = ""
    """The phone's language, such as "en-US"; "" if unknown."""
    seconds: float = Field(default=0.0, ge=0)
    """How many seconds it took to do the action and until the screen then stopped moving."""

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
        """Whether a model must repeat the action, because code cannot find its target or its words again."""
        return self.touches and self.anchor is None and not self.reads


class PressVerdict(BaseModel, frozen=True):
    """What the independent reader, a second model, said about a press. `consequence` is what the press does, `object`
    what it is about.

    `key` is a digest of the press and all words around it: with other words, the verdict does not apply (see
    agent.guards.reading.Pressed.key).
    """

    key: str
    consequence: str
    object: str = ""


class StepRecord(BaseModel, frozen=True):
    """The record of what one step did."""

    actions: tuple[RecordedAction, ...] = ()
    followed: int | None = None
    """The number of the recorded skill's step that was replayed; None if a model decided."""
    verdicts: tuple[PressVerdict, ...] = ()
    """What the independent reader said about presses of the step, as far as it may be stored."""


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return the text with its parameters filled in; a parameter without a value stays as it is."""
    return _PARAMETER.sub(lambda found: values.get(found["name"], found[0]), text)


def parameters_in(texts: Iterable[str]) -> set[str]:
    """Return the names of the parameters in these texts."""
    return {found["name"] for text in texts for found in _PARAMETER.finditer(text)}
