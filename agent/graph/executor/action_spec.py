"""The specs of the executor's actions and tools, and the registry of the actions that a run has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal, TypeVar, Union

from pydantic import Field, TypeAdapter, ValidationError

from agent.actions import Action
from agent.graph.executor.screen import PhoneScreen
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.gate import Gate
from agent.guards.policy import Policy
from agent.observing import ScreenView
from agent.ports.journal import ActionKey, ActionState
from agent.run import RunId
from agent.tools.spec import (
    ActionError,
    ActionResult,
    ActionSpec,
    AnyTool,
    Situation,
    Tool,
    ToolContext,
    Trait,
    ungated,
)
from agent.wording import Texts
from devices.inputs import Input
from devices.phone import Phone
from devices.wording import Words

A = TypeVar("A", bound=Action)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneContext(ToolContext):
    """The arguments and services of a tool that needs the run's phone.

    `sight` is the screen on which the model decided; None if an earlier process showed it and a person has approved the
    action since. `key` identifies the action in the journal. `unknown_is_judged` means that a model or a person judges
    presses that no safety rule covers.
    """

    run: RunId
    key: ActionKey
    phone: Phone
    screen: PhoneScreen
    policy: Policy
    sight: ScreenView | None
    unknown_is_judged: bool


@dataclass(frozen=True, kw_only=True)
class InputAction(ActionSpec[A]):
    """The spec of an action that is one input on the phone. It is journalled and sent at most once, and its effect is
    observed.

    `to_input` makes the input. It returns None if there is no place on the screen to send it to, and raises ActionError
    for any other problem. The policy judges the resulting input as well, whatever the action is called.
    """

    to_input: Callable[[A, ResolvedTarget, ScreenView], Input | None]


@dataclass(frozen=True, kw_only=True)
class PhoneTool(AnyTool[A]):
    """The spec of a tool that works with the phone or its screen. `run` raises what `Tool.run` raises.

    A `journalled` tool is done at most once, even after a crash; it may only be false if repeating does no harm.
    `cut_off` is what the journal records if the tool was interrupted.
    """

    journalled: bool = True
    cut_off: ActionState = "uncertain"
    run: Callable[[A, PhoneContext], Awaitable[ActionResult]]


@dataclass(frozen=True, kw_only=True)
class PersonAction(ActionSpec[A]):
    """The spec of an action that a person must do, or that ends the work. The executor handles it itself."""

    gate: Callable[[A, Situation], Gate] = ungated


AnySpec = InputAction[Any] | Tool[Any] | PhoneTool[Any] | PersonAction[Any]


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """An action that is ready to be judged: with its spec, its description (`what`) and the current screen (`sight`),
    which is None if this process has not seen it.
    """

    action: Action
    spec: AnySpec
    what: Words
    sight: ScreenView | None


@dataclass(frozen=True, kw_only=True)
class ResolvedInput(Resolved):
    """A `Resolved` action that is an input: with its target (`where`) and the input to send (`physical`)."""

    spec: InputAction[Any]
    sight: ScreenView
    where: ResolvedTarget
    physical: Input
    looked: float | None = None
    """When the observation began that showed what a person had approved, in seconds of the event loop's clock. The
    action is then already in the journal, and the input must follow immediately.
    """


class GoneTool(Action):
    """Stands for a tool that existed when a model decided to use it and does not exist any more."""

    kind: Literal["gone_tool"] = "gone_tool"
    tool: str


MOST_NAME: Final = 64
"""The maximum number of characters of a tool's name."""
GONE: Final = "Not done: the tool {tool} is not there any more. Do without it, or say that it is missing."
_TEXTS: Final = Texts({"use": "use {tool}"}, zh={"use": "使用 {tool}"})


async def _not_there(action: GoneTool, _: ToolContext) -> ActionResult:
    raise ActionError(GONE.format(tool=action.tool))


_GONE: Final = Tool(
    model=GoneTool,
    describe=lambda action, _: _TEXTS.words("use", tool=action.tool),
    gate=ungated,
    repeatable=True,
    run=_not_there,
)


class ActionRegistry:
    """The actions and tools of a run. Models are told about exactly these and can choose no others."""

    def __init__(self, specs: Iterable[AnySpec]) -> None:
        """Raises ValueError if two specs have the same kind."""
        self._specs: dict[str, AnySpec] = {}
        for spec in specs:
            if self._specs.setdefault(spec.kind, spec) is not spec:
                raise ValueError(f"There are two actions of the kind {spec.kind!r}.")

    def plus(self, *specs: AnySpec) -> ActionRegistry:
        """Return a new registry that also has these actions. Raises ValueError for a kind that already exists."""
        return ActionRegistry([*self._specs.values(), *specs])

    @property
    def tools(self) -> tuple[Tool[Any], ...]:
        """The tools that need no phone."""
        return tuple(spec for spec in self._specs.values() if isinstance(spec, Tool))

    @cached_property
    def models(self) -> tuple[type[Action], ...]:
        """The argument model of each action, in order."""
        return tuple(spec.model for spec in self._specs.values())

    @cached_property
    def _adapter(self) -> TypeAdapter[Action]:
        known: Any = Annotated[Union[self.models], Field(discriminator="kind")]  # noqa: UP007  # known at run time only
        return TypeAdapter(known)

    def action_from(self, data: dict[str, Any]) -> Action:
        """Rebuild an action from plain data. Returns a GoneTool if its tool no longer exists or no longer takes these
        arguments.
        """
        try:
            return self._adapter.validate_python(data)
        except ValidationError:
            # Tools of MCP servers come and go: it may have existed before a restart, or have changed since.
            return GoneTool(tool=str(data.get("kind", ""))[:MOST_NAME])

    def spec_of(self, action: Action) -> AnySpec:
        """Return the spec of an action. The spec of a GoneTool tells the model that the tool no longer exists. Raises
        KeyError for any other action that is not registered.
        """
        return _GONE if isinstance(action, GoneTool) else self._specs[action.kind]

    def describe(self, action: Action, view: ScreenView | None) -> Words:
        """Return a sentence about what the action does, naming its target if the screen `view` is given. Models read
        it in English.
        """
        return self.spec_of(action).describe(action, None if view is None else view.for_model)

    def kinds_with(self, trait: Trait) -> set[str]:
        """Return the kinds of all actions that have this trait."""
        return {kind for kind, spec in self._specs.items() if trait in spec.traits}
