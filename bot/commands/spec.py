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
    """One option of a command."""

    section: str
    """The section of the text catalogue with its words: the command's, or `task` for options that all commands
    giving a task have.
    """
    name: str
    kind: OptionKind

    @property
    def help(self) -> str:
        """A help line of at most 100 characters, in the current language."""
        return say(f"option.{self.section}.{self.name}")


TASK_OPTIONS: Final = tuple(
    OptionSpec("task", name, OptionKind.FLAG if field.annotation is bool else OptionKind.TEXT)
    for name, field in TaskOptions.model_fields.items()
)


@dataclass(frozen=True, slots=True)
class TextSpec:
    """The free text that a command takes, such as the task of `do`."""

    command: str
    name: str
    required: bool

    @property
    def help(self) -> str:
        """A help line of at most 100 characters, in the current language."""
        return say(f"option.{self.command}.{self.name}")


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command. `argument` names the option that may also be typed without its name (`cancel 12`)."""

    name: str
    options: tuple[OptionSpec, ...] = ()
    argument: str = ""
    text: TextSpec | None = None
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
        TextSpec(name, text, text_required) if text else None,
        right,
    )


COMMANDS: tuple[CommandSpec, ...] = (
    _command("help", ("command", OptionKind.COMMAND), argument="command"),
    _command("devices"),
    _command(
        "do",
        ("device", OptionKind.PHONE),
        *TASK_OPTIONS,
        ("follows", OptionKind.TASK),
        text="task",
        text_required=True,
    ),
    _command("status", ("task", OptionKind.TASK), argument="task"),
    _command("tasks", ("before", OptionKind.TASK)),
    _command("usage", ("by", OptionKind.TEXT), ("days", OptionKind.TEXT), argument="by"),
    _command("cancel", ("task", OptionKind.TASK), argument="task"),
    _command("pause", ("task", OptionKind.TASK), argument="task"),
    _command("resume", ("task", OptionKind.TASK), argument="task", text="note"),
    _command(
        "again",
        ("task", OptionKind.TASK),
        ("device", OptionKind.PHONE),
        ("quick", OptionKind.FLAG),
        argument="task",
        text="changes",
    ),
    _command("now", ("task", OptionKind.TASK), argument="task"),
    _command(
        "schedule",
        ("device", OptionKind.PHONE),
        *TASK_OPTIONS,
        ("zone", OptionKind.TEXT),
        ("allow-to", OptionKind.TEXT),
        ("allow-text", OptionKind.TEXT),
        ("allow-in", OptionKind.TEXT),
        text="plan",
        text_required=True,
    ),
    _command("schedules", text="change"),
    _command(
        "watch",
        ("device", OptionKind.PHONE),
        *TASK_OPTIONS,
        ("zone", OptionKind.TEXT),
        text="plan",
        text_required=True,
    ),
    _command(
        "when",
        ("device", OptionKind.PHONE),
        *TASK_OPTIONS,
        ("quiet", OptionKind.TEXT),
        ("limit", OptionKind.TEXT),
        ("zone", OptionKind.TEXT),
        ("allow-to", OptionKind.TEXT),
        ("allow-text", OptionKind.TEXT),
        ("allow-in", OptionKind.TEXT),
        text="plan",
        text_required=True,
    ),
    _command("triggers", text="change"),
    _command("webhooks", ("everybody", OptionKind.FLAG), text="change"),
    _command("answer", ("task", OptionKind.TASK), text="text", text_required=True),
    _command("screen", ("device", OptionKind.PHONE), ("full", OptionKind.FLAG), argument="device"),
    _command("hand", ("device", OptionKind.PHONE), ("type", OptionKind.TEXT), argument="device"),
    _command("file", ("device", OptionKind.PHONE), text="name", text_required=True),
    _command(
        "name", ("device", OptionKind.PHONE), argument="device", text="name", text_required=True, right=Right.ADMIN
    ),
    _command("remember", ("device", OptionKind.PHONE), text="fact", text_required=True),
    _command("forget", text="facts", text_required=True),
    _command("memories"),
    _command("skills", text="change"),
    _command("skill", ("device", OptionKind.PHONE), text="skill", text_required=True),
    _command("tools"),
    _command("save", ("draft", OptionKind.TEXT), text="run"),
    _command("whoami"),
    _command("why", ("person", OptionKind.PERSON), ("task", OptionKind.TASK), argument="person"),
    _command("people", ("device", OptionKind.PHONE), text="change", right=Right.ADMIN),
    _command("tokens", text="change", right=Right.ADMIN),
    _command("pair", ("code", OptionKind.TEXT), argument="code"),
    _command("set", text="change", right=Right.ADMIN),
    _command("verdicts", text="change", right=Right.ADMIN),
    _command("audit", ("before", OptionKind.TEXT), right=Right.ADMIN),
)
"""All commands, in the order in which help lists them."""

BY_NAME: dict[str, CommandSpec] = {command.name: command for command in COMMANDS}
