"""The commands about the service itself: `opengui service install` and `uninstall` show the steps that install the
program as a system service, and carry them out with `--apply`; `opengui logs` prints the latest lines of its log.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, Protocol

from bot.chats.installed import installed, model_of
from bot.cli.control import service_of
from bot.cli.exits import OK, UNAVAILABLE
from bot.config.settings import Settings, secret_names
from bot.texts import say

CALL_S: Final = 120.0
"""Seconds that one system command may take; starting the service takes longest."""


class State(Enum):
    """The state of a step. Each value is the last part of a text key below `install.state`."""

    RIGHT = "right"
    MISSING = "missing"
    CHANGED = "changed"
    SKIPPED = "skipped"


class Failed(Exception):
    """A step could not be carried out; the text says which one and why."""


class Step(Protocol):
    """One change to the machine: described, inspected and made."""

    @property
    def text(self) -> str:
        """A description of the step for people, never containing a secret."""

    def inspect(self) -> State:
        """Return the current state of what the step creates."""

    def apply(self) -> None:
        """Make the change. Raises Failed."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A step that creates a folder with these permissions."""

    path: Path
    mode: int

    @property
    def text(self) -> str:
        """A description of the step for people, never containing a secret."""
        return say("install.step.folder", path=self.path, mode=f"{self.mode:o}")

    def inspect(self) -> State:
        """Return the current state of the folder. An existing one counts as right and is left as it is."""
        return State.RIGHT if self.path.is_dir() else State.MISSING

    def apply(self) -> None:
        """Create the folder."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.path.chmod(self.mode)
        except OSError as error:
            raise Failed(say("install.error.unmade", path=self.path, reason=error.strerror)) from error


@dataclass(frozen=True, slots=True)
class File:
    """A step that writes a file.

    An existing file with other content is overwritten only with `overwrite`, and a copy of it is kept as `.old`. With
    `theirs`, an existing file belongs to the operator, so that its content always counts as right.
    """

    path: Path
    content: str = field(repr=False)
    mode: int = 0o644
    theirs: bool = False
    overwrite: bool = False

    @property
    def text(self) -> str:
        """A description of the step for people, never containing a secret."""
        return say("install.step.file", path=self.path, mode=f"{self.mode:o}")

    @property
    def aside(self) -> Path:
        """The path at which an overwritten file is kept."""
        return self.path.with_name(f"{self.path.name}.old")

    def inspect(self) -> State:
        """Return the current state of the file."""
        try:
            same = self.path.read_text(encoding="utf-8") == self.content
        except FileNotFoundError:
            return State.MISSING
        except (OSError, UnicodeDecodeError):
            same = False
        return State.RIGHT if same or self.theirs else State.CHANGED

    def apply(self) -> None:
        """Write the file."""
        if self.inspect() is State.CHANGED and not self.overwrite:
            return
        try:
            if self.path.exists():
                shutil.copy2(self.path, self.aside)
            self._write()
        except OSError as error:
            raise Failed(say("install.error.unwritten", path=self.path, reason=error.strerror)) from error

    def _write(self) -> None:
        new = self.path.with_name(f"{self.path.name}.new")
        new.unlink(missing_ok=True)
        # Its mode is set when it is created, because it may hold a token.
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self.mode), "w", encoding="utf-8") as file:
            file.write(self.content)
        new.chmod(self.mode)
        new.replace(self.path)


@dataclass(frozen=True, slots=True)
class Removal:
    """A step that removes an installed file, unless it has been edited."""

    file: File

    @property
    def text(self) -> str:
        """A description of the step for people, never containing a secret."""
        return say("install.step.gone", path=self.file.path)

    def inspect(self) -> State:
        """Return the current state: right if the file is gone, missing if it is still to be removed."""
        state = self.file.inspect()
        return {State.MISSING: State.RIGHT, State.RIGHT: State.MISSING}.get(state, state)

    def apply(self) -> None:
        """Remove the file."""
        if self.inspect() is State.CHANGED and not self.file.overwrite:
            return
        try:
            self.file.path.unlink(missing_ok=True)
        except OSError as error:
            raise Failed(say("install.error.unremoved", path=self.file.path, reason=error.strerror)) from error


@dataclass(frozen=True, slots=True)
class Call:
    """A step that runs a system command which can be repeated safely. `skipped` says that it is not run, for example
    because it would change this machine although another root directory is installed into.
    """

    words: Sequence[str]
    skipped: bool = False

    @property
    def text(self) -> str:
        """A description of the step for people, never containing a secret."""
        return say("install.step.call", words=" ".join(self.words))

    def inspect(self) -> State:
        """Return the current state. A command that is not skipped always counts as missing, because it is run each
        time.
        """
        return State.SKIPPED if self.skipped else State.MISSING

    def apply(self) -> None:
        """Run the command."""
        try:
            subprocess.run(self.words, check=True, capture_output=True, text=True, timeout=CALL_S)  # noqa: S603 - our own words
        except FileNotFoundError as error:
            raise Failed(say("install.error.no_program", program=self.words[0])) from error
        except subprocess.CalledProcessError as error:
            reason = error.stderr.strip() or error.returncode
            raise Failed(say("install.error.call", words=" ".join(self.words), reason=reason)) from error
        except subprocess.TimeoutExpired as error:
            slow = say("install.error.slow", words=" ".join(self.words), seconds=f"{CALL_S:.0f}")
            raise Failed(slow) from error


@dataclass(frozen=True, slots=True)
class Account:
    """A step that creates a system user without a login."""

    name: str
    home: Path
    skipped: bool = False

    @property
    def text(self) -> str:
        """A description of the step for people, never containing a secret."""
        return say("install.step.account", name=self.name, home=self.home)

    def inspect(self) -> State:
        """Return the current state of the user."""
        if self.skipped:
            return State.SKIPPED
        try:
            pwd.getpwnam(self.name)
        except KeyError:
            return State.MISSING
        return State.RIGHT

    def apply(self) -> None:
        """Create the user."""
        shell = ("--shell", "/usr/sbin/nologin")
        Call(("useradd", "--system", "--user-group", "--home-dir", str(self.home), *shell, self.name)).apply()


PROGRAM: Final = Path(__file__).parents[2]
"""Directory into which the program was unpacked."""
SHIPPED: Final = PROGRAM / "systemd"
UNIT: Final = "opengui.service"
RULE: Final = "70-opengui-phones.rules"
HIDDEN: Final = (Path("/home"), Path("/root"), Path("/run/user"))
"""Directories that ProtectHome=yes hides from the service."""
_LINE: Final = re.compile(r"^(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>.*)$")


@dataclass(frozen=True)
class InstallTarget:
    """The root directory to install into, and whether to overwrite files that differ."""

    root: Path
    overwrite: bool = False

    @property
    def elsewhere(self) -> bool:
        """Whether the root is not that of this machine. The machine's users and services are then not changed."""
        return self.root != Path("/")

    @property
    def without_udev(self) -> bool:
        """Whether udev cannot be told about a new rule: in a container, only the host has udev."""
        return self.elsewhere or not self.path("/run/udev/control").exists()

    def path(self, path: str) -> Path:
        """Return this absolute path, placed below the root directory."""
        return self.root / path.lstrip("/")


def install(target: InstallTarget, env: Path, *, program: Path = PROGRAM) -> list[Step]:
    """Return the steps of an installation, in order. If the settings file `env` exists, its settings are used, and its
    secrets become credentials, one file each. Raises Failed if the service could not read its own program.
    """
    for path in (program, _binary(), Path(sys.base_prefix)):
        if not target.elsewhere and any(path.is_relative_to(hidden) for hidden in HIDDEN):
            raise Failed(say("install.hidden", path=path))
    secrets, settings = _settings(env)
    return [
        Account("opengui", Path("/var/lib/opengui"), skipped=target.elsewhere),
        # The unit and the udev rule name this group, which not every system has.
        Call(("groupadd", "--system", "--force", "plugdev"), target.elsewhere),
        Folder(target.path("/etc/opengui"), 0o755),
        File(target.path("/etc/opengui/env"), settings, 0o600, theirs=True),
        *([Folder(target.path("/etc/credstore"), 0o700)] if secrets else []),
        *(File(target.path(f"/etc/credstore/{name}"), value, 0o600, theirs=True) for name, value in secrets.items()),
        Folder(target.path("/etc/systemd/system"), 0o755),
        unit_file(target, program),
        Folder(target.path("/etc/udev/rules.d"), 0o755),
        rule_file(target),
        Call(("udevadm", "control", "--reload"), target.without_udev),
        Call(("udevadm", "trigger", "--subsystem-match=usb"), target.without_udev),
        Call(("systemctl", "daemon-reload"), target.elsewhere),
        Call(("systemctl", "enable", "--now", UNIT), target.elsewhere),
    ]


def uninstall(target: InstallTarget) -> list[Step]:
    """Return the steps that undo an installation. Settings, credentials, data and the user are kept."""
    unit = unit_file(target, PROGRAM)
    return [
        Call(("systemctl", "disable", "--now", UNIT), target.elsewhere or not unit.path.exists()),
        Removal(unit),
        Removal(rule_file(target)),
        Call(("systemctl", "daemon-reload"), target.elsewhere),
        Call(("udevadm", "control", "--reload"), target.without_udev),
    ]


def _binary() -> Path:
    return Path(sys.executable).parent / "opengui"


def unit_file(target: InstallTarget, program: Path) -> File:
    """Return the step that installs the systemd unit with this program's paths."""
    text = (SHIPPED / UNIT).read_text(encoding="utf-8")
    text = re.sub(r"(?m)^WorkingDirectory=.*$", f"WorkingDirectory={program}", text)
    text = re.sub(r"(?m)^ExecStart=.*$", f"ExecStart={_binary()} run", text)
    text = re.sub(r"(?m)^Documentation=.*$", f"Documentation=file://{program}/docs/operations.md", text)
    return File(target.path(f"/etc/systemd/system/{UNIT}"), text, overwrite=target.overwrite)


def rule_file(target: InstallTarget) -> File:
    """Return the step that installs the udev rule, unchanged."""
    return File(
        target.path(f"/etc/udev/rules.d/{RULE}"),
        (SHIPPED / RULE).read_text(encoding="utf-8"),
        overwrite=target.overwrite,
    )


def _settings(env: Path) -> tuple[dict[str, str], str]:
    """Split the settings file into its secrets by name and the rest of its text; without a file, the rest is the
    example.
    """
    if not env.is_file():
        return {}, (SHIPPED / "env.example").read_text(encoding="utf-8")
    names = {name.upper() for name in secret_names(model_of(installed()))}
    secrets: dict[str, str] = {}
    lines: list[str] = []
    for line in env.read_text(encoding="utf-8-sig").splitlines():
        found = _LINE.match(line)
        value = found["value"].strip().strip("\"'") if found else ""
        if found and found["name"] in names:
            if value:
                secrets[found["name"]] = value
            continue
        # The unit sets DATA_DIR.
        if not (found and found["name"] == "DATA_DIR"):
            lines.append(line)
    return secrets, "\n".join(lines) + "\n"


MARKS = {State.RIGHT: "=", State.MISSING: "+", State.CHANGED: "!", State.SKIPPED: "-"}


async def service(options: argparse.Namespace, settings: Settings) -> int:
    """Print one line per step. The exit code is 0 unless a step failed."""
    # The settings file is taken over as it is written.
    return await asyncio.to_thread(_service, options, settings.file)


def _service(options: argparse.Namespace, env: Path) -> int:
    where = InstallTarget(Path(options.root).absolute(), options.overwrite)
    try:
        steps = install(where, env) if options.what == "install" else uninstall(where)
        if options.apply and not where.elsewhere and os.geteuid() != 0:
            print(say("install.root"))
            return UNAVAILABLE
        left = _carry_out(steps, apply=options.apply, overwrite=options.overwrite)
    except Failed as failed:
        print(say("install.failed", why=failed))
        return UNAVAILABLE
    if left:
        print(say("install.left", number=left))
    if not options.apply:
        print(say("install.nothing"))
    elif where.elsewhere:
        print(say("install.elsewhere", root=options.root))
    elif options.what == "install":
        print(say("install.done"))
    else:
        print(say("install.undone"))
    return OK


def _carry_out(steps: Sequence[Step], *, apply: bool, overwrite: bool) -> int:
    """Show and, with `apply`, carry out the steps; returns how many changed files were left alone. Raises Failed at the
    first step that fails.
    """
    left = 0
    for step in steps:
        state = step.inspect()
        standing = "" if state is State.MISSING else f" ({say(f'install.state.{state.value}')})"
        print(f"{MARKS[state]} {step.text}{standing}")
        left += state is State.CHANGED and not overwrite
        if apply and state in {State.MISSING, State.CHANGED}:
            step.apply()
    return left


async def logs(options: argparse.Namespace, settings: Settings) -> int:
    """Print the lines; with --follow, continue until Ctrl-C or the service stops. Returns the exit code. Raises
    ServiceGone.
    """
    async with service_of(settings) as remote:
        async for line in remote.log(options.lines, follow=options.follow):
            sys.stdout.write(line)
            sys.stdout.flush()
    return OK
