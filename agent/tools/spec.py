"""What is known of an action or a tool: its arguments, how it is worded and gated; and of a tool, how it is run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from agent.actions import Action
from agent.control import Control
from agent.effect_facts import Effect
from agent.events import RunEvent
from agent.guards.gate import ALLOWED, Gate
from agent.guards.leaving import Sources
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.guards.seen_words import Seen
from agent.guards.touch_target import TouchTarget
from agent.models.base import Models, Usage
from agent.observing import ScreenView
from agent.ports.frames import Frames
from devices.phone import Element
from devices.wording import Words, said

A = TypeVar("A", bound=Action)

Trait = Literal["touches", "moves the screen", "waits"]
"""What the guards against loops and against asking twice treat alike: fingers on one control, whatever they do there;
what lets a screen scroll; and what does nothing but wait.
"""


class ActionError(Exception):
    """An action did not work out, and nothing of it was done; the sentence is for the model.

    `reason` is why, in a sentence for people, where there is one. With `uncertain` nobody knows whether it was done.
    `unknown_app`: the phone has no app of the name that was to be opened.
    """

    def __init__(self, told: str, *, reason: str = "", uncertain: bool = False, unknown_app: bool = False) -> None:
        super().__init__(told)
        self.reason = reason
        self.uncertain = uncertain
        self.unknown_app = unknown_app


@dataclass(frozen=True, slots=True)
class Situation:
    """What the gate of an action judges it by: the rules, the task in the person's words, and what an input meets on
    the screen (None for a tool). `sources` are where the words come from that it may carry away.
    """

    policy: Policy
    task: str
    spot: TouchTarget | None
    sources: Sources = field(default_factory=Sources)
    moved: tuple[str, ...] = ()
    """Files and folders that the run has moved, as they are called since."""


@dataclass(frozen=True, slots=True)
class PageSource:
    """A page that was read: its title ("" where it has none) and where it was found in the end."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an action: for the history, and in `told` what only the model is told of it.

    `gathered` is data of the task, `usage` what a model was asked for on the way. `read` are texts of others, such as a
    page of the web: the model is shown them as data, until there are newer ones. `found` are addresses that a search
    returned, and that may be read from now on by whoever works on the task. `sources` are the pages that were really
    read, for the list below a result. `documents` are passages of the operator's documents: no word of them leaves
    unasked for the rest of the task. `data` is what came of it for programs, ready for JSON.
    `read_in` is the package of the app whose screens have shown what was `read` or `copied`, "" for texts of anywhere
    else: no word of an app leaves it unasked. `copied` is the text that is pasted from now on, None where it stays.
    `moved` is what a file or folder of the phone is called since.
    """

    effects: tuple[Effect, ...] = ()
    told: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    gathered: str | None = None
    usage: Usage = field(default_factory=Usage)
    read: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    sources: tuple[PageSource, ...] = ()
    documents: tuple[str, ...] = ()
    data: Mapping[str, Any] | None = None
    read_in: str = ""
    copied: str | None = None
    moved: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool works with that needs no phone. Every wait of it goes through `control.guard`, so that it can be
    stopped. What it returns has its secrets covered; anything else that it lets out goes through `mask`.

    `task_id` is the task and `task` its words; `person` the subject to whom memory belongs ("platform:id", "" where
    nobody is known), `member` the name of who works ("executor" on a phone), `phone_id` the phone that the task is on
    ("" before it has one). `said` is what the person has said, the task first; `found` are the addresses that searches
    of this task returned. `notes` are what was noted and what runs have brought back, `memory` what is remembered that
    whoever works on the task was told, `documents` what was read in the operator's documents, `seen` what each app has
    shown: no word of these leaves unasked.
    """

    task_id: str
    person: str
    member: str
    task: str
    said: tuple[str, ...]
    found: tuple[str, ...]
    notes: tuple[str, ...]
    memory: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    seen: Seen = field(default_factory=dict)
    phone_id: str = ""
    models: Models
    control: Control
    mask: Mask
    frames: Frames
    emit: Callable[[RunEvent], None]

    @property
    def sources(self) -> Sources:
        """Where words may come from that must not be carried away."""
        return Sources(seen=self.seen, said=self.said, notes=self.notes, memory=self.memory, documents=self.documents)


def ungated(_action: Action, _situation: Situation) -> Gate:
    """The gate of an action that nobody has to allow; the rules for what is touched and pressed hold all the same."""
    return ALLOWED


@dataclass(frozen=True, kw_only=True)
class ActionSpec(Generic[A]):
    """One kind of action: its arguments, and how it is worded, gated and compared. Its subclasses say how it is run.

    `describe` is for the history, which models read too, `asked` what a person is asked to allow (as `describe` unless
    it says otherwise), given the element that lies under a touch. `means` are the arguments without which it would be
    something else, all but its target unless said otherwise: a person who denied it is not asked again about the same
    with others. `details` are the lines below the question, with exactly what would go out: each of `means` unless it
    says otherwise. `gate` comes after the policy's rules for what is touched and pressed, and can only add to them.
    """

    model: type[A]
    describe: Callable[[A, ScreenView | None], Words]
    gate: Callable[[A, Situation], Gate]
    asked: Callable[[A, ScreenView | None, Element | None], str] | None = None
    details: Callable[[A], Sequence[str]] | None = None
    means: tuple[str, ...] | None = None
    traits: frozenset[Trait] = frozenset()

    @property
    def kind(self) -> str:
        """The name of the action."""
        return str(self.model.model_fields["kind"].default)

    def asks(self, action: A, sight: ScreenView | None, under: Element | None = None) -> str:
        """What a person is asked to allow, in their words."""
        return said(self.describe(action, sight)) if self.asked is None else self.asked(action, sight, under)

    def shown(self, action: A) -> Sequence[str]:
        """The lines below that question."""
        if self.details is None:
            return [f"{name}: {value}" for name, value in self.meant(action).items()]
        return self.details(action)

    def meant(self, action: A) -> dict[str, Any]:
        """The arguments that make it what it is, as plain data."""
        data = action.model_dump(mode="json", exclude={"kind", "target"})
        return data if self.means is None else {name: data[name] for name in self.means}


@dataclass(frozen=True, kw_only=True)
class AnyTool(ActionSpec[A]):
    """Anything that is not an input of the phone.

    `resolve` gives the arguments the form in which they are judged, shown and used; it raises ActionError.
    """

    resolve: Callable[[A], A] = lambda action: action


@dataclass(frozen=True, kw_only=True)
class Tool(AnyTool[A]):
    """A tool that needs no phone, and has none to reach. `run` raises ActionError when nothing came of it.

    Each call is written down and done at most once, after a crash as well. What is `repeatable` changes nothing
    anywhere: after a crash the model may call it anew. With `cacheable` an equal call of the same task has the same
    result, and is not run again.
    """

    repeatable: bool = False
    cacheable: bool = False
    run: Callable[[A, ToolContext], Awaitable[Done]]
