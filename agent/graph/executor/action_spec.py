"""What the executor knows of an action or a tool: one spec each, and the registry of those that a run has."""

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
from agent.run_id import RunId
from agent.tools.spec import ActionError, ActionSpec, AnyTool, Done, Situation, Tool, ToolContext, Trait, ungated
from agent.wording import Texts
from devices.inputs import Input
from devices.phone import Phone
from devices.wording import Words

A = TypeVar("A", bound=Action)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneContext(ToolContext):
    """What a tool works with that needs the phone of the run. `sight` is the screen that the model decided on, None
    when it was shown to an earlier process and a person has allowed the action since. `key` is the place of the action
    in the journal. `unknown_is_judged`: a press that no rule knows is read by a model, or a person is asked.
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
    """An action that is one input of the phone. It is journalled and sent at most once, and its effect is looked at.

    `to_input` has None where it has no place to go, and raises ActionError where it has another reason. By whatever
    name it goes, the policy judges the input as well.
    """

    to_input: Callable[[A, ResolvedTarget, ScreenView], Input | None]


@dataclass(frozen=True, kw_only=True)
class PhoneTool(AnyTool[A]):
    """A tool that works with the phone or its screen. `run` raises as that of a Tool.

    What is `journalled` is done at most once, after a crash as well; only what may be done again is not. `cut_off` is
    what the journal says of it when it was stopped on the way.
    """

    journalled: bool = True
    cut_off: ActionState = "uncertain"
    run: Callable[[A, PhoneContext], Awaitable[Done]]


@dataclass(frozen=True, kw_only=True)
class PersonAction(ActionSpec[A]):
    """An action that only a person can do, or that ends the work: the executor itself knows how."""

    gate: Callable[[A, Situation], Gate] = ungated


AnySpec = InputAction[Any] | Tool[Any] | PhoneTool[Any] | PersonAction[Any]


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """An action with all that it is about: its spec and words, and the screen as it is now; None when this process has
    not seen it.
    """

    action: Action
    spec: AnySpec
    what: Words
    sight: ScreenView | None


@dataclass(frozen=True, kw_only=True)
class ResolvedInput(Resolved):
    """An action that is an input, with where it goes and what is sent."""

    spec: InputAction[Any]
    sight: ScreenView
    where: ResolvedTarget
    physical: Input
    looked: float | None = None
    """When the look was begun that has shown what a person had allowed, in seconds of the loop's clock: it is in the
    journal then, and nothing else may come before the input."""


class GoneTool(Action):
    """A tool that was there when its use was decided, and is not any more."""

    kind: Literal["gone_tool"] = "gone_tool"
    tool: str


MOST_NAME: Final = 64
"""Characters of the name of a tool."""
GONE: Final = "Not done: the tool {tool} is not there any more. Do without it, or say that it is missing."
_TEXTS: Final = Texts({"use": "use {tool}"}, zh={"use": "使用 {tool}"})


async def _not_there(action: GoneTool, _: ToolContext) -> Done:
    raise ActionError(GONE.format(tool=action.tool))


_GONE: Final = Tool(
    model=GoneTool,
    describe=lambda action, _: _TEXTS.words("use", tool=action.tool),
    gate=ungated,
    repeatable=True,
    run=_not_there,
)


class ActionRegistry:
    """The actions and tools that a run has: the model is told of these, and no other can be decided."""

    def __init__(self, specs: Iterable[AnySpec]) -> None:
        """Raises ValueError for two of one kind."""
        self._specs: dict[str, AnySpec] = {}
        for spec in specs:
            if self._specs.setdefault(spec.kind, spec) is not spec:
                raise ValueError(f"There are two actions of the kind {spec.kind!r}.")

    def plus(self, *specs: AnySpec) -> ActionRegistry:
        """A registry of the actions of this one and others. Raises ValueError for a kind that is there already."""
        return ActionRegistry([*self._specs.values(), *specs])

    @property
    def tools(self) -> tuple[Tool[Any], ...]:
        """Those that need no phone."""
        return tuple(spec for spec in self._specs.values() if isinstance(spec, Tool))

    @cached_property
    def models(self) -> tuple[type[Action], ...]:
        """The typed arguments of each, in order."""
        return tuple(spec.model for spec in self._specs.values())

    @cached_property
    def _adapter(self) -> TypeAdapter[Action]:
        known: Any = Annotated[Union[self.models], Field(discriminator="kind")]  # noqa: UP007  # known at run time only
        return TypeAdapter(known)

    def action_from(self, data: dict[str, Any]) -> Action:
        """The typed action in a plain dictionary, as it was decided; GoneTool where there is no such any more."""
        try:
            return self._adapter.validate_python(data)
        except ValidationError:
            # Before a restart it was there: tools of MCP servers come and go, and may be others when they come again.
            return GoneTool(tool=str(data.get("kind", ""))[:MOST_NAME])

    def spec_of(self, action: Action) -> AnySpec:
        """The spec of an action that is registered, or gone."""
        return _GONE if isinstance(action, GoneTool) else self._specs[action.kind]

    def describe(self, action: Action, sight: ScreenView | None) -> Words:
        """What the action does, with the name of what it touches where that is known. Models read it in English."""
        return self.spec_of(action).describe(action, None if sight is None else sight.told)

    def kinds_with(self, trait: Trait) -> set[str]:
        """The kinds that have this trait."""
        return {kind for kind, spec in self._specs.items() if trait in spec.traits}
