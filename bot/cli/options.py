"""Defines the arguments of `opengui`, with help in the terminal's language."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn

from bot.cli.exits import USAGE
from bot.commands.spec import TASK_OPTIONS, OptionKind, OptionSpec
from bot.config.installation import PROJECT
from bot.texts import say
from bot.wiring.parts import NEEDED, installed_parts, lacking
from devices.virtual import virtual_phones

ENV_FILE: Final = "--env-file"
COMMAND: Final = "name"
"""Attribute of the parsed arguments that holds the command's name."""


_GROUPS: Final = {
    "tasks": ("do", "tasks", "show", "answer", "cancel", "pause", "resume", "again", "schedule", "schedules", "watch"),
    "phones": ("devices", "screen", "phone", "host", "fleet"),
    "skills": ("skills", "skill", "save", "tools"),
    "people": ("pair", "token", "tokens", "password", "signout", "usage"),
}
"""The groups in which the help lists the commands; a command in no group is about the service."""
_GROUP_OF: Final = {name: group for group, names in _GROUPS.items() for name in names}


class _Help(argparse.HelpFormatter):
    """A help formatter with headings from the catalogue, a full stop after each line, and unwrapped examples."""

    def _format_action(self, action: argparse.Action) -> str:
        """List the commands in groups; format everything else as argparse does."""
        if action.nargs != argparse.PARSER:
            return super()._format_action(action)
        lines, commands = [], list(self._iter_indented_subactions(action))
        for group in (*_GROUPS, "service"):
            lines.append(f"  {say(f'cli.group.{group}')}\n")
            self._indent()
            lines += [self._format_action(each) for each in commands if _GROUP_OF.get(each.dest, "service") == group]
            self._dedent()
        return "".join(lines)

    def _expand_help(self, action: argparse.Action) -> str:
        text = super()._expand_help(action)
        stop = "" if text.endswith((".", "。", "…")) else "." if text[:1].isascii() else "。"
        return f"{text[:1].upper()}{text[1:]}{stop}"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        super().add_usage(usage, actions, groups, f"{say('cli.section.usage')} " if prefix is None else prefix)

    def start_section(self, heading: str | None) -> None:
        # argparse looks up its two headings with gettext, which has no catalogue for them here.
        known = {"options": say("cli.section.options"), "positional arguments": say("cli.section.arguments")}
        super().start_section(known.get(heading or "", heading))


class _Version(argparse.Action):
    """Prints the installed version and exits."""

    def __call__(self, *_: object) -> NoReturn:
        from importlib.metadata import version  # noqa: PLC0415 - for this option alone

        print(f"opengui {version(PROJECT)}")
        sys.exit(0)


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors exit with the code for wrong usage."""

    def __init__(self, prog: str | None = None, description: str | None = None, epilog: str | None = None) -> None:
        super().__init__(prog=prog, description=description, epilog=epilog, formatter_class=_Help, add_help=False)
        self.add_argument("-h", "--help", action="help", help=say("cli.section.help"))

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{say('cli.wrong', prog=self.prog, problem=message)}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse has it
        """Answer an unknown command with the nearest one instead of the whole list."""
        if action.dest == COMMAND and action.choices is not None and value not in action.choices:
            if value in NEEDED:
                why = say("parts.command", name=value, folder=lacking(value))
                self.exit(USAGE, f"{say('cli.failed', prog=self.prog, why=why)}\n")
            near = get_close_matches(value, action.choices, n=1, cutoff=0.7)
            known = say("cli.unknown_near", name=value, near=near[0]) if near else say("cli.unknown", name=value)
            self.print_usage(sys.stderr)
            self.exit(USAGE, f"{say('cli.failed', prog=self.prog, why=known)}\n")
        super()._check_value(action, value)


def number(text: str) -> int:
    """Parse an integer of at least 1. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(say("cli.number"))
    return int(text)


def add_json(command: argparse.ArgumentParser) -> None:
    """Add the `--json` option, with which a command prints one JSON object per line."""
    command.add_argument("--json", action="store_true", help=say("cli.option.json"))


def parser() -> argparse.ArgumentParser:
    """Build the parser of the whole command line. The parsed command is in `name`."""
    whole = _Parser(prog="opengui", description=say("cli.about"))
    whole.add_argument(ENV_FILE, dest="settings_file", type=Path, metavar="FILE", help=say("cli.option.env_file"))
    whole.add_argument("--version", action=_Version, nargs=0, help=say("cli.option.version"))
    commands = whole.add_subparsers(
        title=say("cli.section.commands"), required=True, metavar="COMMAND", dest=COMMAND, parser_class=_Parser
    )

    def add(name: str) -> argparse.ArgumentParser:
        text = say(f"cli.command.{name}")
        examples = "".join(f"\n  opengui {line}" for line in say(f"cli.example.{name}").splitlines())
        return commands.add_parser(name, help=text, description=text, epilog=f"{say('cli.section.examples')}{examples}")

    def add_task(command: argparse.ArgumentParser, *, needed: bool = False) -> None:
        command.add_argument(
            "task", nargs=None if needed else "?", default="", metavar="TASK", help=say("cli.option.task")
        )

    def add_text(command: argparse.ArgumentParser, metavar: str, about: str, *, needed: bool = False) -> None:
        command.add_argument(
            "text", nargs=None if needed else "?", default="", metavar=metavar, help=say(f"cli.option.{about}")
        )

    def add_phone(command: argparse.ArgumentParser) -> None:
        command.add_argument("--device", default="", metavar="NAME", help=say("cli.option.do_device"))

    def add_option(command: argparse.ArgumentParser, option: OptionSpec) -> None:
        if option.kind is OptionKind.FLAG:
            command.add_argument(f"--{option.name}", action="store_true", help=option.help)
        else:
            command.add_argument(f"--{option.name}", default="", metavar=option.name.upper(), help=option.help)

    def add_following(command: argparse.ArgumentParser) -> None:
        command.add_argument("--detach", action="store_true", help=say("cli.option.do_detach"))
        add_json(command)
        for name, metavar in (("answer", "TEXT"), ("answer-file", "PATH")):
            about = say(f"cli.option.do_{name.replace('-', '_')}")
            command.add_argument(f"--{name}", action="append", default=[], metavar=metavar, help=about)

    def add_task_options(command: argparse.ArgumentParser) -> None:
        for option in TASK_OPTIONS:
            add_option(command, option)

    add("run")
    one = add("do")
    one.set_defaults(command="do")
    one.add_argument("task", metavar="TASK", help=say("cli.option.do_task"))
    add_phone(one)
    one.add_argument("--file", action="append", default=[], type=Path, metavar="PATH", help=say("cli.option.do_file"))
    one.add_argument("--schema", type=Path, metavar="PATH", help=say("cli.option.do_schema"))
    add_task_options(one)
    add_following(one)
    listed = add("tasks")
    add_json(listed)
    listed.add_argument("--limit", type=number, default=20, metavar="N", help=say("cli.option.tasks_limit"))
    shown = add("show")
    add_task(shown)
    add_json(shown)
    for name in ("cancel", "pause"):
        add_task(add(name))
    going = add("resume")
    add_task(going)
    add_text(going, "NOTE", "resume_note")
    repeated = add("again")
    add_task(repeated)
    add_text(repeated, "CHANGES", "again_changes")
    add_phone(repeated)
    add_option(repeated, next(option for option in TASK_OPTIONS if option.name == "quick"))
    answered = add("answer")
    add_task(answered, needed=True)
    add_text(answered, "TEXT", "answer_text")
    answered.add_argument("--file", default="", metavar="PATH", help=say("cli.option.answer_file"))
    add_json(add("devices"))
    seen = add("screen")
    seen.add_argument("device", nargs="?", default="", metavar="PHONE", help=say("cli.option.screen_device"))
    seen.add_argument("-o", "--output", default="screen.jpg", metavar="FILE", help=say("cli.option.screen_output"))
    waiting = add("pair")
    waiting.add_argument("code", nargs="?", default="", metavar="CODE", help=say("cli.option.pair_code"))
    used = add("usage")
    by = ("day", "person", "phone", "role", "model")
    used.add_argument("--by", choices=by, default="day", help=say("cli.option.usage_by"))
    used.add_argument("--days", type=number, default=30, metavar="N", help=say("cli.option.usage_days"))
    add_json(used)
    planned = add("schedule")
    add_text(planned, "PLAN", "schedule_plan", needed=True)
    add_phone(planned)
    add_task_options(planned)
    planned = add("schedules")
    planned.add_argument("change", nargs="*", metavar="CHANGE", help=say("cli.option.schedules_change"))
    add_json(planned)
    watched = add("watch")
    add_text(watched, "PLAN", "watch_plan", needed=True)
    watched.add_argument("--device", default="", metavar="NAME", help=say("cli.option.watch_device"))
    add_task_options(watched)
    watched.add_argument("--yes", action="store_true", help=say("cli.option.watch_yes"))
    told = add("logs")
    told.add_argument("-n", "--lines", type=number, default=50, metavar="N", help=say("cli.option.logs_lines"))
    told.add_argument("-f", "--follow", action="store_true", help=say("cli.option.logs_follow"))
    add_task(add("open"))
    script = add("completion")
    script.add_argument("shell", choices=("bash", "zsh"), help=say("cli.option.completion_shell"))
    token = add("token")
    token.add_argument("what", choices=("add", "revoke"), help=say("cli.option.token_what"))
    token.add_argument("token", metavar="NAME", help=say("cli.option.token_name"))
    rights = ("use", "approve", "operate", "admin")
    token.add_argument("--right", action="append", default=[], choices=rights, help=say("cli.option.token_right"))
    token.add_argument("--phone", action="append", default=[], metavar="NAME", help=say("cli.option.token_phone"))
    token.add_argument("--days", type=number, default=90, metavar="N", help=say("cli.option.token_days"))
    token.add_argument("--person", default="", metavar="WHO", help=say("cli.option.token_person"))
    token.add_argument("--approves-by-mcp", action="store_true", help=say("cli.option.token_mcp"))
    add("tokens")
    add_json(add("tools"))
    known = add("skills")
    known.add_argument("change", nargs="*", metavar="CHANGE", help=say("cli.option.skills_change"))
    add_json(known)
    kept = add("save")
    kept.add_argument("task", metavar="TASK", help=say("cli.option.save_task"))
    kept.add_argument("run", nargs="+", metavar="as NAME", help=say("cli.option.save_run"))
    kept.add_argument("--yes", action="store_true", help=say("cli.option.save_yes"))
    again = add("skill")
    again.set_defaults(command="skill", file=[])
    again.add_argument("skill", metavar="NAME", help=say("cli.option.skill_name"))
    again.add_argument("values", nargs="*", metavar="KEY=VALUE", help=say("cli.option.skill_values"))
    add_phone(again)
    add_following(again)
    add("mcp")
    if (phones := virtual_phones()) is not None:
        phones.add_options(add("phone"))
    add("password")
    add("signout")
    add("setup")
    add("graph")
    looked = add("doctor")
    add_json(looked)
    looked.add_argument("--mend", action="store_true", help=say("cli.option.doctor_mend"))
    saved = add("backup")
    saved.add_argument("file", metavar="FILE", help=say("cli.option.backup_file"))
    saved.add_argument("--frames", action="store_true", help=say("cli.option.backup_frames"))
    saved.add_argument("--settings", action="store_true", help=say("cli.option.backup_settings"))
    add("migrate-store")
    made = add("service")
    made.add_argument("what", choices=("install", "uninstall"), help=say("cli.option.service_what"))
    made.add_argument("--apply", action="store_true", help=say("cli.option.service_apply"))
    made.add_argument("--root", default="/", metavar="DIR", help=say("cli.option.service_root"))
    made.add_argument("--overwrite", action="store_true", help=say("cli.option.service_overwrite"))
    put_back = add("restore")
    put_back.add_argument("file", metavar="FILE", help=say("cli.option.restore_file"))
    put_back.add_argument("--yes", action="store_true", help=say("cli.option.restore_yes"))
    for command in (command for part in installed_parts() for command in part.commands):
        if not lacking(command.name):
            added = add(command.name)
            added.set_defaults(of_part=command)
            command.add_options(added)
    return whole
