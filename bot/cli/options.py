"""What can be typed after `opengui`, with its help in the language of the terminal."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn

from bot.cli.exits import USAGE
from bot.config.places import PROJECT
from bot.texts import say
from devices.virtual_phone.options import add_options as add_phone_options

SOCKET: Final = Path("/run/opengui-workshop/socket")
"""Where the unit and the container have the workshop's socket."""


ENV_FILE: Final = "--env-file"
COMMAND: Final = "name"
"""What the parsed line calls the command."""


class _Help(argparse.HelpFormatter):
    """Help under headings from the catalogue; examples keep their lines."""

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
        # argparse's own two; it looks them up by gettext, which has no catalogue for them.
        known = {"options": say("cli.section.options"), "positional arguments": say("cli.section.arguments")}
        super().start_section(known.get(heading or "", heading))


class _Version(argparse.Action):
    """Prints the version that is installed."""

    def __call__(self, *_: object) -> NoReturn:
        from importlib.metadata import version  # noqa: PLC0415 - for this option alone

        print(f"opengui {version(PROJECT)}")
        sys.exit(0)


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint ends with the exit code for wrong usage."""

    def __init__(self, prog: str | None = None, description: str | None = None, epilog: str | None = None) -> None:
        super().__init__(prog=prog, description=description, epilog=epilog, formatter_class=_Help, add_help=False)
        self.add_argument("-h", "--help", action="help", help=say("cli.section.help"))

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{say('cli.wrong', prog=self.prog, problem=message)}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse has it
        """A command that is not there is answered with the nearest one, not with the names of forty."""
        if action.dest == COMMAND and action.choices is not None and value not in action.choices:
            near = get_close_matches(value, action.choices, n=1, cutoff=0.7)
            known = say("cli.unknown_near", name=value, near=near[0]) if near else say("cli.unknown", name=value)
            self.print_usage(sys.stderr)
            self.exit(USAGE, f"{say('cli.failed', prog=self.prog, why=known)}\n")
        super()._check_value(action, value)


def _number(text: str) -> int:
    """A number from 1. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(say("cli.number"))
    return int(text)


def _amount(text: str) -> float:
    """An amount of money above zero. Raises ArgumentTypeError."""
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < math.inf:
        raise argparse.ArgumentTypeError(say("cli.compare.amount"))
    return amount


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line. The command's name is in `name`."""
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

    def add_json(command: argparse.ArgumentParser) -> None:
        command.add_argument("--json", action="store_true", help=say("cli.option.json"))

    add("run")
    one = add("do")
    one.set_defaults(command="do")
    one.add_argument("task", metavar="TASK", help=say("cli.option.do_task"))
    add_phone(one)
    one.add_argument("--file", action="append", default=[], type=Path, metavar="PATH", help=say("cli.option.do_file"))
    one.add_argument("--quick", action="store_true", help=say("cli.option.do_quick"))
    one.add_argument("--member", default="", metavar="NAME", help=say("cli.option.do_member"))
    one.add_argument("--deep", action="store_true", help=say("cli.option.do_deep"))
    one.add_argument("--search", action="store_true", help=say("cli.option.do_search"))
    one.add_argument("--detach", action="store_true", help=say("cli.option.do_detach"))
    add_json(one)
    one.add_argument("--answer", action="append", default=[], metavar="TEXT", help=say("cli.option.do_answer"))
    one.add_argument(
        "--answer-file", action="append", default=[], metavar="PATH", help=say("cli.option.do_answer_file")
    )
    listed = add("tasks")
    add_json(listed)
    listed.add_argument("--limit", type=_number, default=20, metavar="N", help=say("cli.option.tasks_limit"))
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
    repeated.add_argument("--quick", action="store_true", help=say("cli.option.do_quick"))
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
    used.add_argument("--days", type=_number, default=30, metavar="N", help=say("cli.option.usage_days"))
    add_json(used)
    planned = add("schedule")
    add_text(planned, "PLAN", "schedule_plan", needed=True)
    add_phone(planned)
    planned.add_argument("--quick", action="store_true", help=say("cli.option.do_quick"))
    planned = add("schedules")
    planned.add_argument("change", nargs="*", metavar="CHANGE", help=say("cli.option.schedules_change"))
    add_json(planned)
    watched = add("watch")
    add_text(watched, "PLAN", "watch_plan", needed=True)
    watched.add_argument("--device", default="", metavar="NAME", help=say("cli.option.watch_device"))
    watched.add_argument("--quick", action="store_true", help=say("cli.option.do_quick"))
    watched.add_argument("--yes", action="store_true", help=say("cli.option.watch_yes"))
    told = add("logs")
    told.add_argument("-n", "--lines", type=_number, default=50, metavar="N", help=say("cli.option.logs_lines"))
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
    token.add_argument("--days", type=_number, default=90, metavar="N", help=say("cli.option.token_days"))
    token.add_argument("--person", default="", metavar="WHO", help=say("cli.option.token_person"))
    token.add_argument("--approves-by-mcp", action="store_true", help=say("cli.option.token_mcp"))
    add("tokens")
    hosts = add("fleet")
    doings = ("list", "invite", "revoke", "move", "config")
    hosts.add_argument("what", choices=doings, nargs="?", default="list", help=say("cli.option.fleet_what"))
    hosts.add_argument("host", nargs="?", default="", metavar="NAME", help=say("cli.option.fleet_name"))
    hosts.add_argument("to", nargs="?", default="", metavar="HOST", help=say("cli.option.fleet_to"))
    add_json(hosts)
    hosts.add_argument("--store", default="/data/nats", metavar="DIR", help=say("cli.option.fleet_store"))
    hosts.add_argument("--listen", default="0.0.0.0", metavar="ADDRESS", help=say("cli.option.fleet_listen"))  # noqa: S104 - hosts come from elsewhere
    hosts.add_argument("--port", type=_number, default=4222, metavar="PORT", help=say("cli.option.fleet_port"))
    hosts.add_argument("--websocket", type=_number, default=0, metavar="PORT", help=say("cli.option.fleet_websocket"))
    hosts.add_argument("--tls-cert", default="", metavar="FILE", help=say("cli.option.fleet_tls_cert"))
    hosts.add_argument("--tls-key", default="", metavar="FILE", help=say("cli.option.fleet_tls_key"))
    add("host").add_argument("--join", default="", metavar="LINE", help=say("cli.option.host_join"))
    add_json(add("tools"))
    known = add("skills")
    known.add_argument("change", nargs="*", metavar="CHANGE", help=say("cli.option.skills_change"))
    add_json(known)
    kept = add("save")
    kept.add_argument("task", metavar="TASK", help=say("cli.option.save_task"))
    kept.add_argument("run", nargs="+", metavar="as NAME", help=say("cli.option.save_run"))
    kept.add_argument("--yes", action="store_true", help=say("cli.option.save_yes"))
    again = add("skill")
    again.set_defaults(command="skill", file=[], quick=False, member="", deep=False, search=False, detach=False)
    again.add_argument("skill", metavar="NAME", help=say("cli.option.skill_name"))
    again.add_argument("values", nargs="*", metavar="KEY=VALUE", help=say("cli.option.skill_values"))
    again.add_argument("--device", default="", metavar="NAME", help=say("cli.option.do_device"))
    again.add_argument("--detach", action="store_true", help=say("cli.option.do_detach"))
    add_json(again)
    again.add_argument("--answer", action="append", default=[], metavar="TEXT", help=say("cli.option.do_answer"))
    again.add_argument(
        "--answer-file", action="append", default=[], metavar="PATH", help=say("cli.option.do_answer_file")
    )
    add("mcp")
    add_phone_options(add("phone"))
    rooms = add("workshop")
    rooms.set_defaults(child=False)
    rooms.add_argument("--socket", type=Path, default=SOCKET, metavar="PATH", help=say("cli.option.workshop_socket"))
    rooms.add_argument("--user", default="opengui", metavar="NAME", help=say("cli.option.workshop_user"))
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
    made = add("service")
    made.add_argument("what", choices=("install", "uninstall"), help=say("cli.option.service_what"))
    made.add_argument("--apply", action="store_true", help=say("cli.option.service_apply"))
    made.add_argument("--root", default="/", metavar="DIR", help=say("cli.option.service_root"))
    made.add_argument("--overwrite", action="store_true", help=say("cli.option.service_overwrite"))
    put_back = add("restore")
    put_back.add_argument("file", metavar="FILE", help=say("cli.option.restore_file"))
    put_back.add_argument("--yes", action="store_true", help=say("cli.option.restore_yes"))
    compared = add("compare-models")
    compared.add_argument("--base-url", default="", metavar="URL", help=say("cli.option.compare_base_url"))
    for option, kind, metavar in (("model", str, "NAME"), ("dialect", str, "NAME"), ("image-window", _number, "N")):
        about = say(f"cli.option.compare_{option.replace('-', '_')}")
        compared.add_argument(f"--{option}", action="append", default=[], type=kind, metavar=metavar, help=about)
    compared.add_argument("--tasks", type=_number, default=60, metavar="N", help=say("cli.option.compare_tasks"))
    compared.add_argument("--seed", type=int, default=1, metavar="N", help=say("cli.option.compare_seed"))
    compared.add_argument("--max-cost", type=_amount, metavar="AMOUNT", help=say("cli.option.compare_max_cost"))
    add_json(compared)
    return whole
