"""What a model is shown at one step, as data: the goal, the way so far, and the current screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agent.effect_facts import Effect
from agent.picture import ImagePart
from devices.geometry import Bounds, Size

if TYPE_CHECKING:
    from agent.listing import Place


@dataclass(frozen=True, slots=True)
class ScreenElement:
    """One line of the element list; bounds in the space of the sent image."""

    id: int
    role: str
    text: str
    bounds: Bounds
    states: tuple[str, ...] = ()
    """Such as "checked", "focused", "disabled", "password", "editable", "scrollable"."""
    inside: str = ""
    """The words of what lies in it, beside its own."""
    name: str = ""
    """Its id, where it has no words of its own."""
    place: Place = "line"
    """Whether the list has a line for it."""

    @property
    def caption(self) -> str:
        """What it is called: its words and those in it; "" where it has none."""
        return " · ".join(filter(None, (self.text, self.inside)))

    @property
    def described(self) -> str:
        """What a line says of it, without number and place, such as `button 'Search'` or `button id:search`."""
        called = repr(self.caption) if self.caption or not self.name else f"id:{self.name}"
        return " ".join((self.role, called, *self.states))

    @property
    def line(self) -> str:
        """The line that models read, such as `[3] button 'Search' (540,120)`."""
        centre = self.bounds.centre
        return f"[{self.id}] {self.described} ({centre.x},{centre.y})"


@dataclass(frozen=True, slots=True)
class Screen:
    """The current observation as a model sees it.

    `space` is the size of the sent image (or of the image that would be sent): all points are in it.
    `elements` is None when the phone could not tell them.
    """

    space: Size
    image: ImagePart | None = field(repr=False)
    elements: tuple[ScreenElement, ...] | None
    app: str = ""
    app_name: str = ""
    """What people call that app."""
    other_window: str = ""
    """The package whose window the elements are of, where it is not the app's."""
    keyboard_shown: bool = False
    focused_text: str | None = None
    secure: bool = False
    """The app forbids pictures."""
    covered: bool = False
    """Its words are not told: elements have bullets and their ids instead."""

    @property
    def is_cut(self) -> bool:
        """Whether its list leaves out lines."""
        return any(element.place == "cut" for element in self.elements or ())

    def lines(self, line: Callable[[ScreenElement], str]) -> tuple[str, ...]:
        """The list of elements, and where it leaves some out, how many."""
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
    """What became of the last action of a step; but for `DONE`, each is said in the sentence `did.…` of that name."""

    DONE = "done"
    """It was done, as far as is known here; `StepFailure.uncertain` and a missing effect say that it may not be so."""
    NOT_ALLOWED = "not_allowed"
    """A person did not allow it."""
    REFUSED = "refused"
    """The policy does not allow it, or a person had denied it before."""
    NOT_DONE = "not_done"
    INTERRUPTED_BEFORE = "interrupted_before"
    """The run was stopped before anything was sent."""
    INTERRUPTED = "interrupted"
    """The run was cut off while it was being done, so nobody knows whether it was."""


@dataclass(frozen=True, slots=True)
class StepFailure:
    """Why the last action of a step was not done, or (`uncertain`) why nobody knows whether it was.

    `reason` is a sentence for a person (`devices.wording.Words`), "" where there are only words for the model.
    `unknown_app`: the phone has no app of the name that was to be opened.
    """

    reason: str = ""
    uncertain: bool = False
    unknown_app: bool = False


@dataclass(frozen=True, slots=True)
class PastStep:
    """One step taken: what the model said, what was done, what came of it."""

    number: int
    reply: str
    """The model's answer as it was, for dialects that show it again."""
    thought: str
    performed: tuple[str, ...]
    """What was done, in short sentences."""
    effects: tuple[Effect, ...]
    app: str = ""
    image: ImagePart | None = field(default=None, repr=False)
    """The picture that the model was shown, only for steps inside the image window."""
    image_removed: bool = False
    """Whether it had a picture that has left the window, where its words are still said."""
    shown: str = ""
    """What stood beside that picture, word for word: said again as it was, it costs an endpoint nothing new."""
    status: StepStatus = StepStatus.DONE
    failure: StepFailure | None = None
    memo: Mapping[str, Any] = field(default_factory=dict)
    """What the model has kept with its answer, as data."""
    space: Size | None = None
    """The size of the picture that the model was shown: places in `performed` are its pixels. None where that is the
    current one."""
    retold: bool = False
    """Whether it is told in words alone: another model took it, or a step after it, and what that wrote is no example
    for this one."""

    @property
    def in_window(self) -> bool:
        """Whether the model is shown this step as it saw it then."""
        return self.image is not None or bool(self.shown)


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything one acting call is about."""

    task: str
    goal: str
    screen: Screen
    step: int
    max_steps: int
    past: tuple[PastStep, ...] = ()
    notes: tuple[str, ...] = ()
    plan: str = ""
    notices: tuple[str, ...] = ()
    """New since the last step, in order: why an answer could not be used, a person's answer, a steering note, a
    reminder."""
    steering_notes: tuple[str, ...] = ()
    """What the person has written during the run, in order: their words, or a sentence of the agent for what they did
    (`devices.wording.Words`). The new ones are in `notices`, too."""
    files: tuple[str, ...] = ()
    """Paths on the phone of what came with the task."""
    past_summary: str = ""
    """What the steps before those of `past` have come to, summed up: data, as they are. "" where `past` has all."""
    facts: tuple[str, ...] = ()
    """What the person wants to be remembered that fits the task: data."""
    instructions: str = ""
    """The person's standing instructions, as a marked block; "" for none."""
    skill: str = ""
    """The skill that is to be followed, as a marked block; "" for none."""
    texts_read: tuple[str, ...] = ()
    """Texts of others, from the web, or what came of a program: data, as what stands on the screen."""
    local_time: str = ""
    """The phone's date, time, zone and language; "" where it has not told them."""
    by_list: bool = False
    """Whether the model is shown no picture of any screen: it accepts none."""
