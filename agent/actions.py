"""The typed actions that the agent can decide on. Points are pixels of the image that was sent to the model.

This module has the actions for which model dialects have words. Other actions are defined next to their specs
(agent.graph.executor.action_spec).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from agent.run import NeedsModel
from devices.inputs import MAX_SWIPE_MS, MIN_SWIPE_MS, Key, as_typed

MAX_WAIT_S = 10.0
MAX_WAIT_FOR_S = 30.0

Direction = Literal["up", "down", "left", "right"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ElementTarget(_Frozen):
    """The element with this number in the list that the model was shown."""

    element: int = Field(ge=0)


class PointTarget(_Frozen):
    """A pixel of the image that was sent to the model."""

    x: int
    y: int


Target = ElementTarget | PointTarget


class Action(_Frozen):
    """Base class of everything that can be decided, with its arguments. `kind` is its name: in checkpoints, journal and
    models' calls.

    An action outside this module describes itself to models, with its docstring and the descriptions of its fields.
    """

    kind: str


class Tap(Action):
    """Touch once. `sensitive` is the model's own warning about the touch; it can only lead to an additional question to
    a person.
    """

    kind: Literal["tap"] = "tap"
    target: Target
    sensitive: str = ""


class DoubleTap(Action):
    """Touch twice, quickly."""

    kind: Literal["double_tap"] = "double_tap"
    target: Target


class LongPress(Action):
    """Touch and hold."""

    kind: Literal["long_press"] = "long_press"
    target: Target


class Type(Action):
    """Type text into the target, or into the focused field. Newlines at the end of the text are removed and press Enter
    once.

    `clear` empties the field first, `submit` presses Enter afterwards.
    """

    kind: Literal["type"] = "type"
    text: str
    target: Target | None = None
    clear: bool = False
    submit: bool = False

    @model_validator(mode="before")
    @classmethod
    def _as_typed(cls, given: object) -> object:
        """Normalise the text to the form that will be typed, before any rule judges or stores it."""
        if not isinstance(given, dict) or not isinstance(text := given.get("text"), str):
            return given
        typed = as_typed(text)
        kept = typed.rstrip("\n")
        return given | {"text": kept} | ({} if kept == typed else {"submit": True})


class Swipe(Action):
    """Move a finger from `start` to `end` in `duration_ms` milliseconds."""

    kind: Literal["swipe"] = "swipe"
    start: PointTarget
    end: PointTarget
    duration_ms: int = Field(default=300, ge=MIN_SWIPE_MS, le=MAX_SWIPE_MS)


class Scroll(Action):
    """Reveal content that lies in `direction` (down shows what is further below)."""

    kind: Literal["scroll"] = "scroll"
    direction: Direction
    target: Target | None = None


class Drag(Action):
    """Press long, move, let go."""

    kind: Literal["drag"] = "drag"
    start: PointTarget
    end: PointTarget


class PressKey(Action):
    """Press one key of the phone."""

    kind: Literal["key"] = "key"
    key: Key


class OpenApp(Action):
    """Bring an app to the front, by its name on the launcher."""

    kind: Literal["open_app"] = "open_app"
    name: str = Field(min_length=1, max_length=200)


class ListApps(Action):
    """List the phone's apps."""

    kind: Literal["list_apps"] = "list_apps"
    name: str = Field(default="", max_length=200, description="Part of a name.")


class OpenUrl(Action):
    """Open an address."""

    kind: Literal["open_url"] = "open_url"
    url: str = Field(min_length=1, max_length=2000)


class Wait(Action):
    """Let the phone work for some seconds."""

    kind: Literal["wait"] = "wait"
    seconds: float = Field(default=2.0, ge=0, le=MAX_WAIT_S)


class WaitFor(Action):
    """Wait until a text is there (`text`), is no longer there (`gone`) or the screen changes (`change`)."""

    kind: Literal["wait_for"] = "wait_for"
    what: Literal["text", "gone", "change"]
    text: str = ""
    seconds: float = Field(default=10.0, ge=0, le=MAX_WAIT_FOR_S)


class SendFile(Action):
    """Send a file from the phone's shared storage to the chat."""

    kind: Literal["send_file"] = "send_file"
    path: str = Field(min_length=1, max_length=1000)


class Note(Action):
    """Remember a fact for the rest of the task; with `screen` also everything that the screen shows in words."""

    kind: Literal["note"] = "note"
    text: str
    screen: bool = False


class SumUp(Action):
    """Have another model summarise what was noted. The answer becomes a note and the data of the task's result."""

    kind: Literal["sum_up"] = "sum_up"
    instruction: str = Field(min_length=1, max_length=2000)


class AskUser(Action):
    """Ask the person a question, with choices if there are any. With `among_shown`, the choices are the entries of the
    list on the screen; only code sets this field.
    """

    kind: Literal["ask_user"] = "ask_user"
    question: str
    choices: tuple[str, ...] = ()
    among_shown: SkipJsonSchema[bool] = False


class TakeOver(Action):
    """Ask a person to do something on the phone themselves and then say that it is done."""

    kind: Literal["take_over"] = "take_over"
    reason: str


class EnterSecret(Action):
    """Ask the person for a code or password and type it directly into the phone. No model sees it."""

    kind: Literal["enter_secret"] = "enter_secret"
    question: str
    target: Target | None = None
    submit: bool = False


class Finish(Action):
    """End the task, as the model sees it; code decides the outcome. `data` is the information that the person asked
    for.
    """

    kind: Literal["finish"] = "finish"
    status: Literal["success", "failure"]
    summary: str = ""
    data: str | None = None
    needs_model: SkipJsonSchema[NeedsModel | None] = None
    """Set by the offline pilot if the task requires a model: why, and which similar instructions need none."""


DIALECT_ACTIONS: tuple[type[Action], ...] = (
    Tap,
    DoubleTap,
    LongPress,
    Type,
    Swipe,
    Scroll,
    Drag,
    PressKey,
    OpenApp,
    OpenUrl,
    Wait,
    WaitFor,
    SendFile,
    Note,
    SumUp,
    AskUser,
    TakeOver,
    EnterSecret,
    Finish,
)
"""The actions that dialect prompts describe, as far as each dialect supports them, in the order of the prompt. All
other actions are offered in every dialect (agent.dialects.offered). No rule depends on this list.
"""


def action_data(action: Action) -> dict[str, Any]:
    """Return the action as plain data, for checkpoints, the journal and JSON output."""
    return action.model_dump(mode="json", exclude_defaults=False)
