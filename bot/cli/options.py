"""What can be typed after `opengui`, with its help in the language of the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NoReturn

from bot.cli.exits import USAGE
from bot.texts import say
from devices.virtual_phone.options import add_options as add_phone_options

SOCKET: Final = Path("/run/opengui-workshop/socket")
"""Where the unit and the container have the workshop's socket."""


class _Help(argparse.HelpFormatter):
    """Help under headings from the catalogue."""

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


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint ends with the exit code for wrong usage."""

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(prog=prog, description=description, formatter_class=_Help, add_help=False)
        self.add_argument("-h", "--help", action="help", help=say("cli.section.help"))

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{say('cli.wrong', prog=self.prog, problem=message)}\n")


def _number(text: str) -> int:
    """A number from 1. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(say("cli.number"))
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line. The command's name is in `name`."""
    whole = _Parser(prog="opengui", description=say("cli.about"))
    commands = whole.add_subparsers(
        title=say("cli.section.commands"), required=True, metavar="COMMAND", dest="name", parser_class=_Parser
    )

    def add(name: str) -> argparse.ArgumentParser:
        text = say(f"cli.command.{name}")
        return commands.add_parser(name, help=text, description=text)

    def add_json(command: argparse.ArgumentParser) -> None:
        command.add_argument("--json", action="store_true", help=say("cli.option.json"))

    add("run")
    one = add("do")
    one.add_argument("task", metavar="TASK", help=say("cli.option.do_task"))
    one.add_argument("--device", default="", metavar="NAME", help=say("cli.option.do_device"))
    one.add_argument("--file", action="append", default=[], type=Path, metavar="PATH", help=say("cli.option.do_file"))
    one.add_argument("--quick", action="store_true", help=say("cli.option.do_quick"))
    one.add_argument("--member", default="", metavar="NAME", help=say("cli.option.do_member"))
    one.add_argument("--deep", action="store_true", help=say("cli.option.do_deep"))
    one.add_argument("--search", action="store_true", help=say("cli.option.do_search"))
    add_json(one)
    one.add_argument("--answer", action="append", default=[], metavar="TEXT", help=say("cli.option.do_answer"))
    one.add_argument(
        "--answer-file", action="append", default=[], metavar="PATH", help=say("cli.option.do_answer_file")
    )
    listed = add("tasks")
    add_json(listed)
    listed.add_argument("--limit", type=_number, default=20, metavar="N", help=say("cli.option.tasks_limit"))
    add_json(add("devices"))
    waiting = add("pair")
    waiting.add_argument("code", nargs="?", default="", metavar="CODE", help=say("cli.option.pair_code"))
    used = add("usage")
    by = ("day", "person", "phone", "role", "model")
    used.add_argument("--by", choices=by, default="day", help=say("cli.option.usage_by"))
    used.add_argument("--days", type=_number, default=30, metavar="N", help=say("cli.option.usage_days"))
    add_json(used)
    add_json(add("schedules"))
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
    doings = ("list", "invite", "revoke", "config")
    hosts.add_argument("what", choices=doings, nargs="?", default="list", help=say("cli.option.fleet_what"))
    hosts.add_argument("host", nargs="?", default="", metavar="NAME", help=say("cli.option.fleet_name"))
    add_json(hosts)
    hosts.add_argument("--store", default="/data/nats", metavar="DIR", help=say("cli.option.fleet_store"))
    hosts.add_argument("--listen", default="0.0.0.0", metavar="ADDRESS", help=say("cli.option.fleet_listen"))  # noqa: S104 - hosts come from elsewhere
    hosts.add_argument("--port", type=_number, default=4222, metavar="PORT", help=say("cli.option.fleet_port"))
    hosts.add_argument("--websocket", type=_number, default=0, metavar="PORT", help=say("cli.option.fleet_websocket"))
    hosts.add_argument("--tls-cert", default="", metavar="FILE", help=say("cli.option.fleet_tls_cert"))
    hosts.add_argument("--tls-key", default="", metavar="FILE", help=say("cli.option.fleet_tls_key"))
    add("host").add_argument("--join", default="", metavar="LINE", help=say("cli.option.host_join"))
    add_json(add("tools"))
    add_json(add("skills"))
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
    made = add("service")
    made.add_argument("what", choices=("install", "uninstall"), help=say("cli.option.service_what"))
    made.add_argument("--apply", action="store_true", help=say("cli.option.service_apply"))
    made.add_argument("--root", default="/", metavar="DIR", help=say("cli.option.service_root"))
    made.add_argument("--overwrite", action="store_true", help=say("cli.option.service_overwrite"))
    put_back = add("restore")
    put_back.add_argument("file", metavar="FILE", help=say("cli.option.restore_file"))
    put_back.add_argument("--yes", action="store_true", help=say("cli.option.restore_yes"))
    return whole
