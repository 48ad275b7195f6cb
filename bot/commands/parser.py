"""Parses a typed command like a command line, with the arguments of a skill, and formats a command as it would be
typed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.commands.spec import BY_NAME, CommandSpec, OptionKind
from bot.domain.incoming import CommandCall
from bot.domain.task_request import TaskDraft, TaskOptions
from bot.texts import listed, say

LIST_WORDS: Final = frozenset({"list", "列表"})
"""Words that list the schedules instead of making one."""
SCHEDULE_CHANGE: Final = re.compile(r"(?P<verb>remove|pause|resume|revoke)\s+#?(?P<schedule>\d{1,18})", re.IGNORECASE)
_WORD = re.compile(r"\S+")
_VALUE = re.compile(r'"(?P<double>[^"]*)"(?=\s|$)|\'(?P<single>[^\']*)\'(?=\s|$)|(?P<plain>\S+)')
_SMART_DASH = re.compile(r"^[\u2014\u2013](?=[A-Za-z])")
"""Phones turn two hyphens into one dash while typing."""


class ParseError(Exception):
    """The line is not a valid command. The text explains why, for people."""


class UnknownCommand(ParseError):
    """The first word of the line is not a command. `nearest` is the most similar one ("" if none is), `rest` the text
    after the word.
    """

    def __init__(self, word: str, rest: str) -> None:
        self.nearest = _nearest(word)
        self.rest = rest
        super().__init__(unknown_command(word))


def parse(line: str) -> CommandCall:
    """Parse a command line, without its prefix or slash.

    Options (`--name value`, `--name=value`, `--flag`) come first; values with blanks are quoted, and `--` ends the
    options. Everything after them is the free text, exactly as typed except for surrounding blanks. An empty line means
    `help`. Raises ParseError.
    """
    text = line.strip()
    if not text:
        return CommandCall("help")
    word, text = _next_word(text)
    spec = BY_NAME.get(word.lower())
    if spec is None:
        raise UnknownCommand(word, text)
    options: dict[str, str] = {}
    while (dashes := _SMART_DASH.sub("--", text)).startswith("--"):
        word, after = _next_word(dashes)
        if word == "--":
            text = after
            break
        name, value, text = _option(spec, word, after)
        if name in options:
            raise ParseError(say("parse.twice", option=name))
        options[name] = value
    if spec.argument and spec.text is None and text and spec.argument not in options:
        options[spec.argument] = text
        text = ""
    return CommandCall(spec.name, options, text)


def draft_of(call: CommandCall) -> TaskDraft:
    """Return the draft of the task that a `do` command with these options and this text describes."""
    given: dict[str, Any] = {
        name: call.flag(name) if field.annotation is bool else call.option(name).lower()
        for name, field in TaskOptions.model_fields.items()
    }
    return TaskDraft(call.rest.strip(), call.option("device"), TaskOptions(**given), follows=call.option("follows"))


def unknown_command(word: str) -> str:
    """Return the text for an unknown command. It suggests the most similar one, if any is similar."""
    near, shown = _nearest(word), word[:40]
    return say("parse.unknown_near", word=shown, near=near) if near else say("parse.unknown", word=shown)


def _nearest(word: str) -> str:
    # Half of its letters are one slip in a word of two, and another word in longer ones.
    return next(iter(difflib.get_close_matches(word.lower(), BY_NAME, n=1, cutoff=0.5 if len(word) == 2 else 0.6)), "")


def _next_word(text: str) -> tuple[str, str]:
    found = _WORD.match(text)
    word = found.group() if found else ""
    return word, text[len(word) :].strip()


def _option(spec: CommandSpec, word: str, after: str) -> tuple[str, str, str]:
    """An option's name and value, and the text after it."""
    name, equals, value = word[2:].partition("=")
    name = name.lower()
    option = spec.option(name)
    if option is None:
        raise ParseError(_unknown_option(spec, name))
    if option.kind is OptionKind.FLAG:
        if equals:
            raise ParseError(say("parse.flag", option=name))
        return name, "true", after
    if equals and value and value[0] not in "\"'":
        return name, value, after
    found = _VALUE.match(f"{value} {after}".strip() if equals and value else "" if equals else after)
    if found is None or (found["plain"] or "").startswith("--"):
        raise ParseError(say("parse.no_value", option=name))
    groups = (found["double"], found["single"], found["plain"])
    taken = next(group for group in groups if group is not None)
    return name, taken, found.string[found.end() :].strip()


def _unknown_option(spec: CommandSpec, name: str) -> str:
    known = listed(f"--{option.name}" for option in spec.options)
    if not known:
        return say("parse.no_options", command=spec.name, option=name[:40])
    return say("parse.unknown_option", command=spec.name, option=name[:40], known=known)


@dataclass(frozen=True, slots=True)
class Field:
    """One value that has a fixed place in the text of a command form."""

    name: str
    kind: OptionKind = OptionKind.TEXT
    required: bool = True

    @property
    def help(self) -> str:
        """A help line of at most 100 characters, in the current language."""
        return say(f"form.field.{self.name}")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to use a command, for platforms that list commands with typed options (such as Discord's slash commands).

    `group` is "" for a command without subcommands. `words` is a template of the command's text, with each field's name
    in braces; without it, the command takes its free text.
    """

    command: CommandSpec
    group: str
    name: str
    options: frozenset[str] = frozenset()
    """The command's options that this form has."""
    words: str | None = None
    fields: tuple[Field, ...] = ()

    @property
    def path(self) -> str:
        """What people pick in the list, such as "schedule add"."""
        return f"{self.group} {self.name}".strip()

    @property
    def help(self) -> str:
        """A help line of at most 100 characters, in the current language."""
        return say(f"form.{self.group}.{self.name}") if self.group else self.command.help

    def call(self, given: Mapping[str, str]) -> CommandCall:
        """Return the command call for these values (by field or option name), as if it had been typed."""
        options = {name: value for name, value in given.items() if name in self.options}
        if self.words is None:
            text = self.command.text
            return CommandCall(self.command.name, options, "" if text is None else given.get(text.name, ""))
        values = {field.name: given.get(field.name, "") for field in self.fields}
        rest = (word.format(**values) for word in self.words.split())
        return CommandCall(self.command.name, options, " ".join(word for word in rest if word))


_NAME = Field("name")
_TASK = Field("task", OptionKind.TASK)
_WHO = Field("who", OptionKind.SUBJECT)
_SCHEDULE = Field("schedule")
_SETTING = Field("setting", OptionKind.SETTING)

_NESTED: Mapping[str, tuple[tuple[str, str, tuple[str, ...] | None, str | None, tuple[Field, ...]], ...]] = {
    "schedule": (("schedule", "add", None, None, ()),),
    "schedules": (
        ("schedule", "list", (), "", ()),
        ("schedule", "pause", (), "pause {schedule}", (_SCHEDULE,)),
        ("schedule", "resume", (), "resume {schedule}", (_SCHEDULE,)),
        ("schedule", "revoke", (), "revoke {schedule}", (_SCHEDULE,)),
        ("schedule", "remove", (), "remove {schedule}", (_SCHEDULE,)),
    ),
    "watch": (("schedule", "watch", None, None, ()),),
    "when": (("schedule", "when", None, None, ()),),
    "triggers": (("schedule", "triggers", (), "", ()),),
    "webhooks": (("schedule", "webhooks", None, None, ()),),
    "remember": (("memory", "remember", ("device",), None, ()),),
    "forget": (("memory", "forget", (), None, ()),),
    "memories": (("memory", "list", (), None, ()),),
    "skills": (
        ("skill", "list", (), "", ()),
        ("skill", "delete", (), "delete {name}", (_NAME,)),
        ("skill", "rename", (), "rename {name} {to}", (_NAME, Field("to"))),
    ),
    "save": (("skill", "save", (), "{task} as {name} {values}", (_TASK, _NAME, Field("values", required=False))),),
    "skill": (("skill", "follow", ("device",), None, ()),),
    "tools": (("skill", "tools", (), None, ()),),
    "people": (
        ("people", "list", (), "", ()),
        ("people", "allow", ("device",), "allow {who} {right}", (_WHO, Field("right", OptionKind.RIGHT))),
        ("people", "deny", ("device",), "deny {who}", (_WHO,)),
        ("people", "unlink", (), "unlink {who}", (_WHO,)),
        ("people", "tiers", (), "tier", ()),
        ("people", "tier", (), "tier {who} {tier}", (_WHO, Field("tier", OptionKind.TIER))),
    ),
    "tokens": (
        ("tokens", "list", (), "", ()),
        ("tokens", "revoke", (), "revoke {token}", (Field("token"),)),
    ),
    "set": (
        ("admin", "settings", (), "", ()),
        ("admin", "set", (), "{setting} {value}", (_SETTING, Field("value"))),
        ("admin", "reset", (), "{setting} default", (_SETTING,)),
    ),
    "verdicts": (("admin", "verdicts", (), "", ()), ("admin", "clear-verdicts", (), "clear", ())),
    "name": (("admin", "name", ("device",), None, ()),),
    "audit": (("admin", "audit", ("before",), None, ()),),
}
"""The subcommands of commands: group, name, options (None for all), words and fields. A command that is missing here
has no subcommands.
"""


def forms_of(command: CommandSpec) -> tuple[Form, ...]:
    """Return the forms in which people can pick this command; one for each of its subcommands."""
    every = frozenset(option.name for option in command.options)
    if command.name not in _NESTED:
        return (Form(command, "", command.name, every),)
    return tuple(
        Form(command, group, name, every if options is None else frozenset(options), words, fields)
        for group, name, options, words, fields in _NESTED[command.name]
    )


_SKILL: Final = re.compile(r"skill\s+(?P<name>\S+)", re.IGNORECASE)

ARGUMENT: Final = re.compile(
    r"(?<!\S)(?P<name>[a-z][a-z0-9_]{0,39})\s?[=＝]\s?"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|“(?P<curly>[^”]*)”|(?P<plain>\S+))(?!\S)",
    re.IGNORECASE,
)
"""`size=large` or `item="Blue mug"`."""


def arguments_in(values: str) -> tuple[dict[str, str], str]:
    """Return the arguments that are typed as `name=value`, and the rest of the text. If a name is given twice, the
    second one is part of the rest.
    """
    found: dict[str, str] = {}
    left, end = [], 0
    for each in ARGUMENT.finditer(values):
        name = each["name"].lower()
        left.append(values[end : each.start()] + (each[0] if name in found else ""))
        value = next(value for value in each.group("double", "single", "curly", "plain") if value is not None)
        found.setdefault(name, value)
        end = each.end()
    return found, " ".join(" ".join([*left, values[end:]]).split())


def with_skill(wanted: CommandCall, skills: Container[str]) -> CommandCall:
    """Replace `do skill NAME …` by the command `skill NAME …`, if there is a skill of that name; return any other
    command unchanged.

    People type it in schedules because the form for them begins with `do`.
    """
    named = _SKILL.match(wanted.rest) if wanted.name == "do" else None
    if named is None or named["name"].lower() not in skills:
        return wanted
    return replace(wanted, name="skill", rest=wanted.rest[named.start("name") :])
