"""Decides which files are installed where. The systemd unit and the udev rule are those in `systemd/`, with this
program's paths.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.chats.installed import installed, model_of
from bot.cli.installing.steps import Account, Call, Failed, File, Folder, Gone, Step
from bot.config.settings import secret_names
from bot.texts import say

PROGRAM: Final = Path(__file__).parents[3]
"""Directory into which the program was unpacked."""
SHIPPED: Final = PROGRAM / "systemd"
UNIT: Final = "opengui.service"
RULE: Final = "70-opengui-phones.rules"
HIDDEN: Final = (Path("/home"), Path("/root"), Path("/run/user"))
"""Directories that ProtectHome=yes hides from the service."""
_LINE: Final = re.compile(r"^(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>.*)$")


@dataclass(frozen=True)
class Where:
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


def install(where: Where, env: Path, *, program: Path = PROGRAM, python: Path | None = None) -> list[Step]:
    """Return the steps of an installation, in order. If the settings file `env` exists, its settings are used, and its
    secrets become credentials, one file each. Raises Failed if the service could not read its own program.
    """
    binary = (python or Path(sys.executable)).parent / "opengui"
    for path in (program, binary, Path(sys.base_prefix)):
        if not where.elsewhere and any(path.is_relative_to(hidden) for hidden in HIDDEN):
            raise Failed(say("install.hidden", path=path))
    secrets, settings = _settings(env)
    return [
        Account("opengui", Path("/var/lib/opengui"), skipped=where.elsewhere),
        # The unit and the udev rule name this group, which not every system has.
        Call(("groupadd", "--system", "--force", "plugdev"), where.elsewhere),
        Folder(where.path("/etc/opengui"), 0o755),
        File(where.path("/etc/opengui/env"), settings, 0o600, theirs=True),
        *([Folder(where.path("/etc/credstore"), 0o700)] if secrets else []),
        *(File(where.path(f"/etc/credstore/{name}"), value, 0o600, theirs=True) for name, value in secrets.items()),
        Folder(where.path("/etc/systemd/system"), 0o755),
        unit_file(where, program, binary),
        Folder(where.path("/etc/udev/rules.d"), 0o755),
        rule_file(where),
        Call(("udevadm", "control", "--reload"), where.without_udev),
        Call(("udevadm", "trigger", "--subsystem-match=usb"), where.without_udev),
        Call(("systemctl", "daemon-reload"), where.elsewhere),
        Call(("systemctl", "enable", "--now", UNIT), where.elsewhere),
    ]


def uninstall(where: Where, *, program: Path = PROGRAM, python: Path | None = None) -> list[Step]:
    """Return the steps that undo an installation. Settings, credentials, data and the user are kept."""
    binary = (python or Path(sys.executable)).parent / "opengui"
    unit = unit_file(where, program, binary)
    stop = Call(("systemctl", "disable", "--now", UNIT), where.elsewhere or not unit.path.exists())
    return [
        stop,
        Gone(unit),
        Gone(rule_file(where)),
        Call(("systemctl", "daemon-reload"), where.elsewhere),
        Call(("udevadm", "control", "--reload"), where.without_udev),
    ]


def unit_file(where: Where, program: Path, binary: Path) -> File:
    """Return the step that installs the systemd unit with this program's paths. `binary` is the program to start."""
    text = (SHIPPED / UNIT).read_text(encoding="utf-8")
    text = re.sub(r"(?m)^WorkingDirectory=.*$", f"WorkingDirectory={program}", text)
    text = re.sub(r"(?m)^ExecStart=.*$", f"ExecStart={binary} run", text)
    text = re.sub(r"(?m)^Documentation=.*$", f"Documentation=file://{program}/docs/operations.md", text)
    return File(where.path(f"/etc/systemd/system/{UNIT}"), text, overwrite=where.overwrite)


def rule_file(where: Where) -> File:
    """Return the step that installs the udev rule, unchanged."""
    return File(
        where.path(f"/etc/udev/rules.d/{RULE}"), (SHIPPED / RULE).read_text(encoding="utf-8"), overwrite=where.overwrite
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
