"""The compose file and the units of a fleet: what is started by them is tried as a process of this machine."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fleet.engine import SERVER, free_port

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
UNITS = ("nats-server.service", "opengui-host.service")
LIMIT = 60.0


def services() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "compose.fleet.yaml").read_text(encoding="utf-8"))
    for service in read["services"].values():
        for volume in service["volumes"]:
            name = volume.partition(":")[0]
            assert name[0] in "./" or name in read["volumes"], "a volume that compose does not know"
    found: dict[str, Any] = read["services"]
    return found


async def test_the_engine_takes_the_configuration_that_compose_makes(tmp_path: Path) -> None:
    """The command of `config` is run as it stands there; a real nats-server checks what it prints."""
    command = services()["config"]["command"]
    made = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", *command),
        cwd=ROOT,
        env={"DATA_DIR": str(tmp_path / "data")},
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await asyncio.wait_for(made.communicate(), LIMIT)
    assert made.returncode == 0
    store = f'store_dir: "{services()["engine"]["volumes"][1].partition(":")[2]}"'
    assert store.encode() in printed, "the engine keeps its streams in the volume"
    (tmp_path / "nats.conf").write_bytes(printed)
    arguments = services()["engine"]["command"]
    assert arguments == ["-c", services()["engine"]["volumes"][0].split(":")[1]]
    checked = await asyncio.create_subprocess_exec(SERVER, "-c", str(tmp_path / "nats.conf"), "-t")
    assert await asyncio.wait_for(checked.wait(), LIMIT) == 0


async def test_the_host_of_compose_says_how_to_join(tmp_path: Path) -> None:
    """Without keys the command as it stands there ends with the line that has to be run first."""
    host = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", *services()["host"]["command"]),
        cwd=ROOT,
        env={"DATA_DIR": str(tmp_path), "CONSOLE_PORT": str(free_port())},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(host.communicate(), LIMIT)
    assert host.returncode
    assert b"--join" in said


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("name", UNITS)
def test_systemd_takes_the_unit(name: str, tmp_path: Path) -> None:
    """Nothing is found but what a machine without the installation lacks: its commands are put where this test is."""
    text = (ROOT / "systemd" / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(re.sub(r"^(Exec\w+=)/\S+", r"\g<1>/bin/true", text, flags=re.MULTILINE))
    told = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / name)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")
