"""A dialect is how a model speaks actions: it renders a scene into messages and reads the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agent.actions import Action
from agent.models.base import Message, ModelReply, ToolSpec
from agent.models.json_text import whole_signs
from agent.scene import Scene
from agent.wording import shortened
from devices.geometry import Size

LONGEST_ECHO = 60
"""Characters of a model's own words that a reason names: more tell it nothing, and they are told to people as well."""


def echo(written: object) -> str:
    """What a model wrote, as a reason names it: one short line."""
    return shortened(" ".join(whole_signs(str(written)[: 2 * LONGEST_ECHO]).split()), LONGEST_ECHO)


class BadReply(Exception):
    """An answer that cannot be acted on. The message is written for the model: what was wrong, what is expected."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A reply, understood. `summary` is the caption that the model gave the step, empty when it gave none that is whole
    and short; its thought is none.
    `told` is what the model must know of its answer: what of it was left out. `named` has for each action the words
    that the model reads where it points, "" where it told none; it is empty where the dialect has no such words.

    Points of the actions are pixels of the sent image; every one of them lies inside it.
    """

    actions: tuple[Action, ...]
    thought: str = ""
    summary: str = ""
    told: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


class Dialect(Protocol):
    """One way of speaking actions. Stateless."""

    @property
    def name(self) -> str:
        """As in VLM_DIALECT."""
        ...

    @property
    def image_window(self) -> int:
        """How many screenshots, the current one included, the model is best shown."""
        ...

    @property
    def lightens_past(self) -> bool:
        """Whether the pictures of past steps are sent with fewer bytes, at the same size: places stay what they are."""
        ...

    def offering(self, models: tuple[type[Action], ...], /) -> Dialect:
        """A dialect for the given actions.

        Of those beyond DIALECT_ACTIONS a model is told in its own form of a call, with the words of the action itself,
        and such calls are read (agent.dialects.offered). A word that the dialect has anyhow keeps its meaning.
        """
        ...

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Messages and tools for this scene; the stable part first, the current screen last.

        The last text of the last message is all that is about the current screen; a later scene has it as the step's
        `shown` as long as its picture is in the window, and everything before it is said again as it was.
        """
        ...

    def parse(self, reply: ModelReply, space: Size) -> Decision:
        """The actions in a reply, in order, never empty. `space` is the size of the sent image.

        Raises BadReply, and nothing else, on anything that is not clearly an action.
        """
        ...
