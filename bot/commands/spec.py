"""The list of all commands, from which help, slash commands, menus and the parser are made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.domain.right import Right
from bot.domain.task_request import TaskOptions
from bot.texts import say


class OptionKind(StrEnum):
    """The kind of value that an option takes. Where possible, chats complete such values or offer them in a list."""

    TEXT = "text"
    FLAG = "flag"
    """Present or not; typed surfaces send "true" or "false"."""
    PHONE = "phone"
    TASK = "task"
    COMMAND = "command"
    PERSON = "person"
    SUBJECT = "subject"
    """A person, or everybody with a role."""
    RIGHT = "right"
    TIER = "tier"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option of a command, or the free text that it takes, such as the task of `do`."""

    section: str
    """The section of the text catalogue with its words: the command's, or `task` for options that all commands
    giving a task have.
    """
    name: str
    kind: OptionKind = OptionKind.TEXT
    required: bool = False
    """Whether the command cannot be given without it; only a free text can be required."""

    @property
    def help(self) -> str:
        """A help line of at most 100 characters, in the current language."""
        return say(f"option.{self.section}.{self.name}")


TASK_OPTIONS: Final = tuple(
    OptionSpec("task", name, OptionKind.FLAG if field.annotation is bool else OptionKind.TEXT)
    for name, field in TaskOptions.model_fields.items()
)


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command. `argument` names the option that may also be typed without its name (`cancel 12`)."""

    name: str
    options: tuple[OptionSpec, ...] = ()
    argument: str = ""
    text: OptionSpec | None = None
    right: Right = Right.USE

    @property
    def help(self) -> str:
        """A help line of at most 100 characters (Discord's limit for a description), in the current language."""
        return say(f"command.{self.name}.help")

    @property
    def example(self) -> str:
        """A valid example of the command line, without prefix."""
        return say(f"command.{self.name}.example")

    def option(self, name: str) -> OptionSpec | None:
        """Return the option with this name; None if the command has no such option."""
        return next((option for option in self.options if option.name == name), None)


def _command(
    name: str,
    *options: OptionSpec | tuple[str, OptionKind],
    argument: str = "",
    text: str = "",
    text_required: bool = False,
    right: Right = Right.USE,
) -> CommandSpec:
    return CommandSpec(
        name,
        tuple(option if isinstance(option, OptionSpec) else OptionSpec(name, *option) for option in options),
        argument,
        OptionSpec(name, text, required=text_required) if text else None,
        right,
    )


_DEVICE: Final = ("device", OptionKind.PHONE)
_TASK: Final = ("task", OptionKind.TASK)
_ZONE: Final = ("zone", OptionKind.TEXT)
_LIMITS: Final = (("quiet", OptionKind.TEXT), ("limit", OptionKind.TEXT))
_STANDING: Final = tuple((name, OptionKind.TEXT) for name in ("allow-to", "allow-text", "allow-in"))
COMMANDS: tuple[CommandSpec, ...] = (
    _command("help", ("command", OptionKind.COMMAND), argument="command"),
    _command("devices"),
    _command("do", _DEVICE, *TASK_OPTIONS, ("follows", OptionKind.TASK), text="task", text_required=True),
    _command("status", _TASK, argument="task"),
    _command("tasks", ("before", OptionKind.TASK)),
    _command("usage", ("by", OptionKind.TEXT), ("days", OptionKind.TEXT), argument="by"),
    _command("cancel", _TASK, argument="task"),
    _command("pause", _TASK, argument="task"),
    _command("resume", _TASK, argument="task", text="note"),
    _command("again", _TASK, _DEVICE, ("quick", OptionKind.FLAG), argument="task", text="changes"),
    _command("now", _TASK, argument="task"),
    _command("schedule", _DEVICE, *TASK_OPTIONS, _ZONE, *_STANDING, text="plan", text_required=True),
    _command("schedules", text="change"),
    _command("watch", _DEVICE, *TASK_OPTIONS, _ZONE, text="plan", text_required=True),
    _command("when", _DEVICE, *TASK_OPTIONS, *_LIMITS, _ZONE, *_STANDING, text="plan", text_required=True),
    _command("triggers", text="change"),
    _command("webhooks", ("everybody", OptionKind.FLAG), text="change"),
    _command("answer", _TASK, text="text", text_required=True),
    _command("screen", _DEVICE, ("full", OptionKind.FLAG), argument="device"),
    _command("hand", _DEVICE, ("type", OptionKind.TEXT), argument="device"),
    _command("file", _DEVICE, text="name", text_required=True),
    _command("name", _DEVICE, argument="device", text="name", text_required=True, right=Right.ADMIN),
    _command("remember", _DEVICE, text="fact", text_required=True),
    _command("forget", text="facts", text_required=True),
    _command("memories"),
    _command("skills", text="change"),
    _command("skill", _DEVICE, text="skill", text_required=True),
    _command("tools"),
    _command("save", ("draft", OptionKind.TEXT), text="run"),
    _command("whoami"),
    _command("why", ("person", OptionKind.PERSON), _TASK, argument="person"),
    _command("people", _DEVICE, text="change", right=Right.ADMIN),
    _command("tokens", text="change", right=Right.ADMIN),
    _command("pair", ("code", OptionKind.TEXT), argument="code"),
    _command("set", text="change", right=Right.ADMIN),
    _command("verdicts", text="change", right=Right.ADMIN),
    _command("audit", ("before", OptionKind.TEXT), right=Right.ADMIN),
)
"""All commands, in the order in which help lists them."""

BY_NAME: dict[str, CommandSpec] = {command.name: command for command in COMMANDS}
