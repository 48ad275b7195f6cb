"""What dialects have in common that are shown one screen at a time, and that point at places instead of elements."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import ClassVar, Self

from agent import actions as act
from agent.dialects.grid import Grid
from agent.dialects.offered import Forms, OfferedAction, further_lines, offered
from agent.dialects.scene_text import conversation
from agent.models.base import Message, ToolSpec
from agent.prompts import prompt
from agent.scene import Scene
from devices.geometry import Size


class OneScreenDialect(ABC):
    """The part of a dialect that writes: instructions, and one message with the way so far and the screen.

    `name` is that of VLM_DIALECT and of the file with the instructions, `words` are the model's own actions as `plain`
    makes them, and `forms` how it writes the arguments of ours. A subclass says how it writes the line of an action and
    places, and reads (`parse`, see Dialect).
    """

    name: str
    words: ClassVar[frozenset[str]]
    forms: ClassVar[Forms]
    image_window = 1
    lightens_past = False  # a prompt that only grows is read but once by an endpoint that keeps it

    def __init__(self, models: tuple[type[act.Action], ...] = act.DIALECT_ACTIONS) -> None:
        self._offered = offered(models, self.forms, self.words, plain, lacking=(act.Drag,))

    def offering(self, models: tuple[type[act.Action], ...], /) -> Self:
        """See Dialect."""
        return type(self)(models)

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """See Dialect."""
        space = scene.screen.space
        instructions = prompt(
            f"dialects/{self.name}",
            width=space.width,
            height=space.height,
            further=further_lines(self._offered, self._line),
            rules=prompt("dialects/rules"),
        )
        return conversation(instructions, scene, self._grid(space).written), ()

    @abstractmethod
    def _line(self, action: OfferedAction, /) -> str:
        """The line of an action in the instructions."""

    @abstractmethod
    def _grid(self, space: Size, /) -> Grid:
        """How places are counted on a picture of this size."""


def plain(name: str) -> str:
    """A name as names are compared here: in any case, with or without what joins its words."""
    return re.sub(r"[\s_-]", "", name.lower())
