"""The `opengui setup` command: asks for the settings, tries each answer, asks again, and writes the settings file."""

from __future__ import annotations

import argparse
import getpass
import re
import shlex
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import SecretStr

from bot.chats.installed import installed
from bot.checks import chats, model
from bot.cli.doctor import phones
from bot.cli.doctor.look import MARKS
from bot.cli.exits import OK, USAGE
from bot.config.installation import is_checkout, places
from bot.config.settings import Settings, problem_of
from bot.domain.finding import Finding
from bot.platform import Asked, Platform
from bot.texts import say
from devices.atomic_file import write_atomically
from devices.wording import said


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the setup dialogue. `check` tests the answers as the service would use them. If the first question
    is left empty, the others are not asked.
    """

    heading: str
    """The section's title, and a line on what it is about."""
    asked: Sequence[Asked]
    check: Callable[[Settings], Awaitable[list[Finding]]]
    closing: Callable[[Settings], str] = lambda _: ""


def sections(platforms: Iterable[Platform[Any]]) -> list[Section]:
    """List all sections in order, in the terminal's language."""
    return [
        Section(
            f"{say('setup.title.model')}\n{say('setup.about.model')}",
            (
                Asked("vlm_base_url", lambda: say("setup.ask.vlm_base_url")),
                Asked("vlm_api_key", lambda: say("setup.ask.vlm_api_key"), secret=True),
                Asked(
                    "vlm_model",
                    lambda: say("setup.ask.vlm_model"),
                    choices=lambda given: model.names_at(given["vlm_base_url"], given["vlm_api_key"]),
                ),
            ),
            model.findings,
        ),
        *(
            Section(
                f"{platform.title}\n{platform.about()}",
                platform.asked,
                partial(chats.of_one, platform=platform),
                platform.closing,
            )
            for platform in platforms
        ),
        Section(
            f"{say('setup.title.phones')}\n{say('setup.about.phones')}",
            (Asked("android_serials", lambda: say("setup.ask.android_serials")),),
            _phones,
        ),
    ]


async def _phones(settings: Settings) -> list[Finding]:
    return [found async for found in phones.findings(settings, running=False, mend=False)]


class Terminal(Protocol):
    """Asks a person questions and shows them texts, line by line."""

    def ask(self, prompt: str, *, secret: bool = False) -> str:
        """Ask and return the answer, stripped. A secret is not shown while it is typed. Raises EOFError."""

    def tell(self, text: str) -> None:
        """Show a line."""


class Keyboard:
    """Asks questions at the terminal of this process. If standard input is a pipe, the answers are read from it line by
    line.
    """

    def ask(self, prompt: str, *, secret: bool = False) -> str:
        """Ask and return the answer, stripped. A secret is not shown while it is typed. Raises EOFError."""
        if secret and sys.stdin.isatty():
            return getpass.getpass(prompt).strip()
        return input(prompt).strip()

    def tell(self, text: str) -> None:
        """Show a line."""
        print(text, flush=True)


_LINE = re.compile(r"^(?P<name>[A-Z][A-Z0-9_]*)=")


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return the settings file's text with these settings changed or appended. Comments and other lines are kept."""
    left = dict(values)
    lines: list[str] = []
    for line in text.splitlines():
        found = _LINE.match(line)
        name = found["name"] if found else ""
        lines.append(f"{name}={left.pop(name)}" if name in left else line)
    lines += [f"{name}={value}" for name, value in left.items()]
    return "\n".join(lines) + "\n"


MOST_LISTED: Final = 40
"""Most choices that are listed; some endpoints have hundreds of models."""
EMPTY: Final = "-"
"""Typed to clear a setting."""


async def setup(options: argparse.Namespace, settings: Settings) -> int:
    """Ask for the settings and write their file, which is not touched before the end. Returns the exit code."""
    del options
    return await talk(Keyboard(), settings, settings.file, settings.file.with_name(".env.example"))


async def talk(terminal: Terminal, settings: Settings, env: Path, example: Path) -> int:
    """Ask for every section, then write the settings file `env` (based on `example` if it is new). Returns the exit
    code.
    """
    terminal.tell(say("setup.how", empty=EMPTY))
    given: dict[str, str] = {}
    try:
        for section in sections(installed()):
            given |= await _section(terminal, section, settings, given)
    except EOFError:
        terminal.tell(f"\n{say('setup.stopped')}")
        return USAGE
    if not given:
        terminal.tell(say("setup.unchanged"))
        return OK
    begun = next((path for path in (env, example) if path.exists()), None)
    text = begun.read_text(encoding="utf-8-sig") if begun is not None else ""
    env.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(env, with_values(text, {name.upper(): value for name, value in given.items()}).encode())
    terminal.tell(say("setup.written", file=env, command=_start_command(env)))
    return OK


def _start_command(env: Path) -> str:
    """The command that starts the service with this settings file from the working directory."""
    if env != places().settings:
        return f"opengui --env-file {shlex.quote(str(env))} run"
    return "make run" if is_checkout(Path()) else "opengui run"


async def _section(terminal: Terminal, section: Section, settings: Settings, before: dict[str, str]) -> dict[str, str]:
    """Ask for one section and return the settings that changed."""
    terminal.tell(f"\n{section.heading}")
    while True:
        given: dict[str, str] = {}
        for number, asked in enumerate(section.asked):
            known = _shown(settings, asked, {**before, **given})
            if number and not _shown(settings, section.asked[0], {**before, **given}):
                break
            so_far = {one.field: _shown(settings, one, {**before, **given}) for one in section.asked}
            listed = () if asked.choices is None else (await asked.choices(so_far))[:MOST_LISTED]
            if listed:
                rows = "\n".join(f"{place:>3}  {name}" for place, name in enumerate(listed, 1))
                terminal.tell(f"{say('setup.listed')}\n{rows}")
            answer = _answer(terminal, type(settings), asked, known, listed)
            if answer is not None:
                given[asked.field] = answer
        tried = settings.model_copy(update=_values(type(settings), {**before, **given}))
        findings = await section.check(tried)
        for finding in findings:
            terminal.tell(
                f"{MARKS[finding.verdict]} {finding.text}" + (f"\n    → {finding.fix}" if finding.fix else "")
            )
        if not any(finding.verdict == "bad" for finding in findings) or _kept_anyway(terminal):
            if closing := section.closing(tried):
                terminal.tell(closing)
            return given


def _answer(
    terminal: Terminal, model: type[Settings], asked: Asked, known: str, listed: Sequence[str] = ()
) -> str | None:
    """Ask until the settings accept the value, or the number of a listed one; None keeps the setting."""
    shown = f" [{say('setup.set') if asked.secret else known}]" if known else ""
    while True:
        typed = terminal.ask(f"{asked.prompt()}{shown}: ", secret=asked.secret)
        if not typed:
            return None
        value = "" if typed == EMPTY else typed
        if typed.isdecimal() and 0 < int(typed) <= len(listed):
            value = listed[int(typed) - 1]
        if not (problem := problem_of(model, asked.field, value)):
            return value
        terminal.tell(said(problem))


def _kept_anyway(terminal: Terminal) -> bool:
    return terminal.ask(f"{say('setup.keep')} ").lower() in {"y", "yes"}


def _shown(settings: Settings, asked: Asked, given: dict[str, str]) -> str:
    """The current value of the setting, as it would be typed."""
    if asked.field in given:
        return given[asked.field]
    value = getattr(settings, asked.field)
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _values(model: type[Settings], given: dict[str, str]) -> dict[str, object]:
    """Convert the answers, which are known to be valid, to the types of the settings."""
    read = model.model_validate({name: value for name, value in given.items() if value})
    return {name: getattr(read, name) for name in given}
