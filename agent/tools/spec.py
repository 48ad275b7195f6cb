"""The specification of actions and tools: their arguments, how they are described, when a person must approve them, and
how a tool is run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from agent.actions import Action
from agent.control import Control
from agent.effect_facts import Effect
from agent.events import RunEvent
from agent.guards.gate import ALLOWED, Gate
from agent.guards.leaving import Sources, query_carries
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.guards.seen_words import Seen
from agent.guards.touch_target import TouchTarget
from agent.models.base import Models, Usage
from agent.observing import ScreenView
from agent.ports.stores import Frames
from devices.phone import Element
from devices.wording import Words, said

A = TypeVar("A", bound=Action)

Trait = Literal["touches", "moves the screen", "waits"]
"""A property of actions that the guards against loops and repeated questions use: they touch a control (in whatever
way), scroll, or only wait.
"""


class ActionError(Exception):
    """An action failed, and nothing of it was done. The message is for the model.

    `reason` is a sentence for people, "" if there is none. With `uncertain`, the action may have been done after all.
    `unknown_app` means that the phone has no app of the requested name.
    """

    def __init__(self, told: str, *, reason: str = "", uncertain: bool = False, unknown_app: bool = False) -> None:
        super().__init__(told)
        self.reason = reason
        self.uncertain = uncertain
        self.unknown_app = unknown_app


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts from which an action's own gate decides whether a person must approve it.

    `policy` are the rules, `task` is the task in the person's words, and `spot` is the target on the screen (None for a
    tool). `sources` are the texts from which its words may come; those that the person did not write are private and
    must not leave without approval.
    """

    policy: Policy
    task: str
    spot: TouchTarget | None
    sources: Sources = field(default_factory=Sources)
    moved: tuple[str, ...] = ()
    """The new paths of files and folders that the run has moved."""


@dataclass(frozen=True, slots=True)
class PageSource:
    """A web page that was read: its title ("" if it has none) and its final address."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action or tool.

    `effects` go into the history; `notices` is only for the model. `notes` are kept for the task, `gathered` is the
    data of its result, and `usage` counts the model tokens that were spent. `read` are texts by others, such as a web
    page, which the model is shown as data until newer ones replace them. `found` are addresses returned by a search,
    which the whole task may now read. `sources` are the pages that were read; they are listed below the result.
    `documents` are passages from the operator's documents: for the rest of the task, none of their words may leave
    without approval. `data` is the result as JSON data, for programs.

    `read_in` is the package of the app that showed what was `read` or `copied`; "" for texts from anywhere else.
    Without approval, words from an app may not leave it. `copied` is the new text to paste; None if nothing was copied.
    `moved` is the new path of a moved file or folder.
    """

    effects: tuple[Effect, ...] = ()
    notices: tuple[str, ...] = ()
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
    """The arguments and services of a tool that needs no phone. Every wait must go through `control.guard`, so that it
    can be stopped.

    Secrets are covered in the tool's result; anything else that the tool sends out must go through `mask`. `task_id` is
    the task and `task` its text. `person` owns the memory ("platform:id", "" if unknown), `member` is the worker
    ("executor" on a phone), and `phone_id` is the task's phone ("" before it has one). `said` is what the person wrote,
    the task first; `found` are addresses that this task's searches returned. `notes` (notes and run results), `memory`
    (remembered facts that workers were told), `documents` (passages read from the operator's documents) and `seen`
    (hashes of the words that each app showed) are private: none of their words leave without approval.
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
        """The texts of the task: what the person wrote, and the private texts, whose words must not leave without
        approval.
        """
        return Sources(seen=self.seen, said=self.said, notes=self.notes, memory=self.memory, documents=self.documents)


def ungated(_action: Action, _situation: Situation) -> Gate:
    """A gate that asks no person. The policy's rules for touches and key presses still apply."""
    return ALLOWED


def query_gate(text: str, situation: Situation) -> Gate:
    """Require approval for sending this text if it contains private words, such as those of apps or notes."""
    reason = query_carries(text, situation.sources)
    return ALLOWED if reason is None else Gate("approve", reason, how="egress")


@dataclass(frozen=True, kw_only=True)
class ActionSpec(Generic[A]):
    """One kind of action: its argument model, how it is described to people, and when a person must approve it.
    Subclasses define how it is run.

    `describe` returns the sentence for the history, which models read too. `asked` returns the question to a person,
    given the element under a touch; it defaults to `describe`. `means` names the arguments that identify the action
    (default: all but its target): once a person denies it, the same arguments are not asked about again. `details`
    returns the lines below the question, with exactly what would be sent; it defaults to every argument in `means`.
    `gate` decides whether a person must approve the action. It runs after the policy's rules for touches and can only
    be stricter. `traits` are properties that guards use. An example:

        Tool(model=Weather, describe=lambda action, _: TEXTS.words("weather"), gate=ungated, run=weather)
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
        """The name of the action, which identifies it in data and for models."""
        return str(self.model.model_fields["kind"].default)

    def asks(self, action: A, view: ScreenView | None, under: Element | None = None) -> str:
        """Return the question that asks a person to approve the action. `under` is the element under a touch,
        if any.
        """
        return said(self.describe(action, view)) if self.asked is None else self.asked(action, view, under)

    def shown(self, action: A) -> Sequence[str]:
        """Return the lines below the question that asks for approval, with exactly what would be sent."""
        if self.details is None:
            return [f"{name}: {value}" for name, value in self.meant(action).items()]
        return self.details(action)

    def meant(self, action: A) -> dict[str, Any]:
        """Return the arguments that identify the action, as plain data."""
        data = action.model_dump(mode="json", exclude={"kind", "target"})
        return data if self.means is None else {name: data[name] for name in self.means}


@dataclass(frozen=True, kw_only=True)
class AnyTool(ActionSpec[A]):
    """The spec of an action that is not an input on the phone.

    `resolve` brings the arguments into the form in which they are judged, shown and used. It raises ActionError.
    """

    resolve: Callable[[A], A] = lambda action: action


@dataclass(frozen=True, kw_only=True)
class Tool(AnyTool[A]):
    """The spec of a tool that needs no phone and cannot reach one. `run` does the work and raises ActionError if it
    fails.

    Each call is recorded and done at most once, even after a crash. A `repeatable` tool changes nothing anywhere, so it
    may be called again after a crash. With `cacheable`, an equal call in the same task reuses the first result. See
    `ActionSpec` for an example.
    """

    repeatable: bool = False
    cacheable: bool = False
    run: Callable[[A, ToolContext], Awaitable[ActionResult]]
