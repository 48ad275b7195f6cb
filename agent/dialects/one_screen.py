"""The common base class of dialects that show one screen at a time and refer to positions, not to elements."""

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
    """Base class of dialects that show one screenshot. It renders a scene as instructions, and one message with the
    past steps and the screen.

    `name` is the value of VLM_DIALECT and the name of the instructions file. `words` are the model's own action names,
    in the form that `plain` returns. `forms` says how arguments of added actions are written. A subclass defines the
    line of an action, the coordinates, and `parse` (see Dialect).
    """

    name: str
    words: ClassVar[frozenset[str]]
    forms: ClassVar[Forms]
    image_window = 1
    lightens_past = False  # a prompt that only grows can stay in an endpoint's cache

    def __init__(self, models: tuple[type[act.Action], ...] = act.DIALECT_ACTIONS) -> None:
        self._offered = offered(models, self.forms, self.words, plain, lacking=(act.Drag,))

    def offering(self, models: tuple[type[act.Action], ...], /) -> Self:
        """Return the dialect extended with the given actions. Implements `Dialect.offering`."""
        return type(self)(models)

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Return the messages for this scene, and no tools. Implements `Dialect.render`."""
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
        """Return the line of an action in the instructions."""

    @abstractmethod
    def _grid(self, space: Size, /) -> Grid:
        """Return the coordinate system for a picture of this size."""


def plain(name: str) -> str:
    """Return a name in the form in which names are compared: lower case, without word separators."""
    return re.sub(r"[\s_-]", "", name.lower())
