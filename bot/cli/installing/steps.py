"""The kinds of installation steps. `look` reports the current state, `do` makes the change; neither changes what is
already right.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, Protocol

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
        ...

    def look(self) -> State:
        """Return the current state of what the step creates."""
        ...

    def do(self) -> None:
        """Make the change. Raises Failed."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A step that creates a folder with these permissions."""

    path: Path
    mode: int

    @property
    def text(self) -> str:
        """A description of the step for people, never containing a secret."""
        return say("install.step.folder", path=self.path, mode=f"{self.mode:o}")

    def look(self) -> State:
        """Return the current state of the folder. An existing one counts as right and is left as it is."""
        return State.RIGHT if self.path.is_dir() else State.MISSING

    def do(self) -> None:
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

    def look(self) -> State:
        """Return the current state of the file."""
        try:
            same = self.path.read_text(encoding="utf-8") == self.content
        except FileNotFoundError:
            return State.MISSING
        except (OSError, UnicodeDecodeError):
            same = False
        return State.RIGHT if same or self.theirs else State.CHANGED

    def do(self) -> None:
        """Write the file."""
        if self.look() is State.CHANGED and not self.overwrite:
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
class Gone:
    """A step that removes an installed file, unless it has been edited."""

    file: File

    @property
    def text(self) -> str:
        """A description of the step for people, never containing a secret."""
        return say("install.step.gone", path=self.file.path)

    def look(self) -> State:
        """Return the current state: right if the file is gone, missing if it is still to be removed."""
        state = self.file.look()
        return {State.MISSING: State.RIGHT, State.RIGHT: State.MISSING}.get(state, state)

    def do(self) -> None:
        """Remove the file."""
        if self.look() is State.CHANGED and not self.file.overwrite:
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

    def look(self) -> State:
        """Return the current state. A command that is not skipped always counts as missing, because it is run each
        time.
        """
        return State.SKIPPED if self.skipped else State.MISSING

    def do(self) -> None:
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

    def look(self) -> State:
        """Return the current state of the user."""
        if self.skipped:
            return State.SKIPPED
        try:
            pwd.getpwnam(self.name)
        except KeyError:
            return State.MISSING
        return State.RIGHT

    def do(self) -> None:
        """Create the user."""
        shell = ("--shell", "/usr/sbin/nologin")
        Call(("useradd", "--system", "--user-group", "--home-dir", str(self.home), *shell, self.name)).do()
