"""The data that a model is shown at one step: the goal, the past steps, the current screen and its picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal

from agent.effect_facts import Effect
from devices.geometry import Bounds, Size

if TYPE_CHECKING:
    from agent.listing import Place

IMAGE_REMOVED: Final = "[image removed]"
"""The text that replaces a picture that is no longer shown."""


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An encoded picture. `size` is its exact size in pixels, which the model is told."""

    data: bytes = field(repr=False)
    media_type: Literal["image/jpeg", "image/webp", "image/png"]
    size: Size


@dataclass(frozen=True, slots=True)
class ScreenElement:
    """One line of the element list. Its bounds are in pixels of the sent image."""

    id: int
    role: str
    text: str
    bounds: Bounds
    states: tuple[str, ...] = ()
    """States such as "checked", "focused", "disabled", "password", "editable", "scrollable"."""
    inside: str = ""
    """The words of elements inside it, in addition to its own."""
    name: str = ""
    """The element's id if it has no words of its own."""
    place: Place = "line"
    """How the list shows the element: with a line, not at all, or cut from a long list."""

    @property
    def caption(self) -> str:
        """The element's words and those of elements inside it; "" if there are none."""
        return " · ".join(filter(None, (self.text, self.inside)))

    @property
    def described(self) -> str:
        """The element's line without number and position, such as `button 'Search'` or `button id:search`."""
        called = repr(self.caption) if self.caption or not self.name else f"id:{self.name}"
        return " ".join((self.role, called, *self.states))

    @property
    def line(self) -> str:
        """The line that models read, such as `[3] button 'Search' (540,120)`."""
        centre = self.bounds.centre
        return f"[{self.id}] {self.described} ({centre.x},{centre.y})"


@dataclass(frozen=True, slots=True)
class Screen:
    """The current screen as a model sees it.

    `space` is the size of the sent image, or of the image that would be sent; all points are in its pixels. `elements`
    is None if the phone could not report them.
    """

    space: Size
    image: ImagePart | None = field(repr=False)
    elements: tuple[ScreenElement, ...] | None
    app: str = ""
    app_name: str = ""
    """The name that people know the app by."""
    other_window: str = ""
    """The package that owns the elements if it is not the app in front."""
    keyboard_shown: bool = False
    focused_text: str | None = None
    secure: bool = False
    """Whether the app forbids screenshots."""
    covered: bool = False
    """Whether the words are hidden from the model: elements show bullets and their ids instead."""

    @property
    def is_cut(self) -> bool:
        """Whether the list leaves out some elements because it would be too long."""
        return any(element.place == "cut" for element in self.elements or ())

    def lines(self, line: Callable[[ScreenElement], str]) -> tuple[str, ...]:
        """Return the element list as lines, with a note at each gap about how many rows were left out. `line` writes
        one element.
        """
        found: list[str] = []
        cut = 0
        for element in self.elements or ():
            cut += element.place == "cut"
            if element.place == "line":
                found += [_left_out(cut)] * bool(cut)
                found.append(line(element))
                cut = 0
        return (*found, *[_left_out(cut)] * bool(cut))


def _left_out(number: int) -> str:
    return f"… {number} more rows"


class StepStatus(StrEnum):
    """What became of a step's last action. For each except `DONE`, there is a sentence named `did.…` with its value."""

    DONE = "done"
    """The action was done as far as known; `StepFailure.uncertain` or a missing effect means that it may not be."""
    NOT_ALLOWED = "not_allowed"
    """A person denied it."""
    REFUSED = "refused"
    """The policy forbids it, or a person had denied it before."""
    NOT_DONE = "not_done"
    INTERRUPTED_BEFORE = "interrupted_before"
    """The run was stopped before anything was sent."""
    INTERRUPTED = "interrupted"
    """The run was cut off during the action, so it is unknown whether it was done."""


@dataclass(frozen=True, slots=True)
class StepFailure:
    """Why the last action of a step was not done or, if `uncertain`, may not have been done.

    `reason` is a sentence for people (`devices.wording.Words`), "" if there are only words for the model. `unknown_app`
    means that the phone has no app of the requested name.
    """

    reason: str = ""
    uncertain: bool = False
    unknown_app: bool = False


@dataclass(frozen=True, slots=True)
class PastStep:
    """A past step: what the model answered, what was done and what came of it."""

    number: int
    reply: str
    """The model's original answer, for dialects that show it again."""
    thought: str
    performed: tuple[str, ...]
    """Short sentences about what was done."""
    effects: tuple[Effect, ...]
    app: str = ""
    image: ImagePart | None = field(default=None, repr=False)
    """The picture that the model was shown; None for steps outside the image window."""
    image_removed: bool = False
    """Whether the picture is left out because the step is outside the image window."""
    shown: str = ""
    """The exact text that was shown next to the picture. Repeating it verbatim lets endpoints use their
    prompt cache.
    """
    status: StepStatus = StepStatus.DONE
    failure: StepFailure | None = None
    memo: Mapping[str, Any] = field(default_factory=dict)
    """Plain data that the model stored with its answer."""
    space: Size | None = None
    """The size of the picture that the model was shown; places in `performed` are in its pixels. None if it equals the
    current one.
    """
    retold: bool = False
    """Whether the step is only shown in words, because another model took this or a later step. That model's answer
    format must not be an example for this one.
    """

    @property
    def in_window(self) -> bool:
        """Whether the model is shown this step exactly as it saw it then."""
        return self.image is not None or bool(self.shown)


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that one call to the acting model is based on."""

    task: str
    goal: str
    screen: Screen
    step: int
    max_steps: int
    past: tuple[PastStep, ...] = ()
    notes: tuple[str, ...] = ()
    plan: str = ""
    notices: tuple[str, ...] = ()
    """News since the last step, in order: why an answer was unusable, a person's answer, a steering note or
    a reminder.
    """
    steering_notes: tuple[str, ...] = ()
    """What the person wrote during the run, in order: their words, or a sentence of the agent about what they did
    (`devices.wording.Words`). New ones are also in `notices`.
    """
    files: tuple[str, ...] = ()
    """Paths on the phone of the files that came with the task."""
    past_summary: str = ""
    """A summary of the steps before those in `past`, shown as data; "" if `past` has them all."""
    facts: tuple[str, ...] = ()
    """Remembered facts about the person that fit the task, shown as data."""
    instructions: str = ""
    """The person's standing instructions as a marked prompt block; "" if there are none."""
    skill: str = ""
    """The skill to follow as a marked prompt block; "" if there is none."""
    texts_read: tuple[str, ...] = ()
    """Texts by others, such as web pages or program output, shown as data like the screen's words."""
    local_time: str = ""
    """The phone's date, time, zone and language; "" until the phone has reported them."""
    by_list: bool = False
    """Whether the model gets only the element list because it accepts no pictures."""
