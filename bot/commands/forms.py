"""How commands stand where they are picked from a list and not typed: what belongs together in groups, each deed with
its own options.

`people allow 42 use` is typed as one text; picked, it is `people allow` with the options `who` and `right`. A group of
Discord holds 25 commands or groups, so what is picked every day stands alone and the rest together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.chats.incoming import CommandCall
from bot.commands.spec import CommandSpec, OptionKind
from bot.texts import say


@dataclass(frozen=True, slots=True)
class Field:
    """One value that has its place in the text of a command."""

    name: str
    kind: OptionKind = OptionKind.TEXT
    required: bool = True

    @property
    def help(self) -> str:
        """One line, at most 100 characters."""
        return say(f"form.field.{self.name}")


@dataclass(frozen=True, slots=True)
class Form:
    """One deed of a command. `group` is "" for a command that stands alone.

    `words` is its text: fields in braces, the rest as it is typed. Without words the text is the command's own.
    """

    command: CommandSpec
    group: str
    name: str
    options: frozenset[str] = frozenset()
    """Which of the command's options it has."""
    words: str | None = None
    fields: tuple[Field, ...] = ()

    @property
    def path(self) -> str:
        """What is picked, such as "schedule add"."""
        return f"{self.group} {self.name}".strip()

    @property
    def help(self) -> str:
        """One line, at most 100 characters."""
        return say(f"form.{self.group}.{self.name}") if self.group else self.command.help

    def call(self, given: Mapping[str, str]) -> CommandCall:
        """The command that is meant by these values, as if it had been typed."""
        options = {name: value for name, value in given.items() if name in self.options}
        if self.words is None:
            text = self.command.text
            return CommandCall(self.command.name, options, "" if text is None else given.get(text.name, ""))
        values = {field.name: given.get(field.name, "") for field in self.fields}
        rest = (word.format(**values) for word in self.words.split())
        return CommandCall(self.command.name, options, " ".join(word for word in rest if word))


_WHO = Field("who", OptionKind.SUBJECT)
_SCHEDULE = Field("schedule")
_SETTING = Field("setting", OptionKind.SETTING)

_NESTED: Mapping[str, tuple[tuple[str, str, tuple[str, ...], str | None, tuple[Field, ...]], ...]] = {
    "schedule": (("schedule", "add", ("device", "quick", "zone"), None, ()),),
    "schedules": (
        ("schedule", "list", (), "", ()),
        ("schedule", "pause", (), "pause {schedule}", (_SCHEDULE,)),
        ("schedule", "resume", (), "resume {schedule}", (_SCHEDULE,)),
        ("schedule", "remove", (), "remove {schedule}", (_SCHEDULE,)),
    ),
    "people": (
        ("people", "list", (), "", ()),
        ("people", "allow", ("device",), "allow {who} {right}", (_WHO, Field("right", OptionKind.RIGHT))),
        ("people", "deny", ("device",), "deny {who}", (_WHO,)),
        ("people", "unlink", (), "unlink {who}", (_WHO,)),
        ("people", "tiers", (), "tier", ()),
        ("people", "tier", (), "tier {who} {tier}", (_WHO, Field("tier", OptionKind.TIER))),
    ),
    "set": (
        ("admin", "settings", (), "", ()),
        ("admin", "set", (), "{setting} {value}", (_SETTING, Field("value"))),
        ("admin", "reset", (), "{setting} default", (_SETTING,)),
    ),
    "name": (("admin", "name", ("device",), None, ()),),
    "audit": (("admin", "audit", ("before",), None, ()),),
}
"""Command → its deeds: group, name, options, words and fields. What is not here stands alone."""


def forms_of(command: CommandSpec) -> tuple[Form, ...]:
    """How this command is picked."""
    if command.name not in _NESTED:
        return (Form(command, "", command.name, frozenset(option.name for option in command.options)),)
    return tuple(
        Form(command, group, name, frozenset(options), words, fields)
        for group, name, options, words, fields in _NESTED[command.name]
    )
