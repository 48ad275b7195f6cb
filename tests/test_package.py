"""The wheel: what it depends on, what is in it, and that it works where there is no checkout."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bot.cli.exits import OK, UNAVAILABLE
from bot.texts import words
from devices.extras import Extra
from devices.wording import said
from tests.end_to_end.service import place_with
from tests.fixtures.adb import AdbServer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
WITHOUT_A_NEXT = {"tzdata"}
"""Numbered by the year, so that none says that something breaks."""
PINNED = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z_,]+\])?==([^\s;]+)", re.MULTILINE)


def _kept() -> set[str]:
    """Every file of the packages, as Python has not added to them."""
    files = (path for name in ("bot", "agent", "devices") for path in (ROOT / name).rglob("*") if path.is_file())
    return {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}


def _built(folder: Path, version: str = "") -> Path:
    """A wheel, with another version than its own if one is given. Built of copies, so that nothing is written into the
    checkout.
    """
    source = folder / "source"
    for name in (*_kept(), "pyproject.toml", "README.md", "LICENSE", "THIRD_PARTY_NOTICES.md"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    if version:
        project = source / "pyproject.toml"
        text, replaced = re.subn(r'(?m)^version = ".*"$', f'version = "{version}"', project.read_text(encoding="utf-8"))
        assert replaced == 1
        project.write_text(text, encoding="utf-8")
    build = ["wheel", "-q", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-w", str(folder), "."]
    subprocess.run([sys.executable, "-m", "pip", *build], cwd=source, check=True, timeout=100)
    return next(folder.glob("*.whl"))


@dataclass(frozen=True)
class Installed:
    """An unpacked wheel, beside the libraries that are installed, and the home directory it works for."""

    packages: Path
    home: Path

    def opengui(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder above the home directory."""
        code = "import sys; sys.path.insert(0, sys.argv.pop(1)); import bot.cli; sys.exit(bot.cli.main())"
        return subprocess.run(
            [sys.executable, "-c", code, str(self.packages), *arguments],
            cwd=self.home.parent,
            env={"HOME": str(self.home), "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"], **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


def _installed(wheel: Path, packages: Path, home: Path) -> Installed:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return Installed(packages, home)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory.mktemp("wheel"))


def test_it_asks_for_ranges_and_the_versions_that_are_tested_are_in_them(wheel: Path) -> None:
    """Each from a lowest version; constraints.txt, which goes with it, and the locks have the same exact ones."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    wanted = [Requirement(each) for each in metadata.get_all("Requires-Dist") or []]
    assert set(metadata.get_all("Provides-Extra") or ()) == {*Extra, "all"}
    pinned = dict(PINNED.findall((ROOT / "constraints.txt").read_text(encoding="utf-8")))
    for each in wanted:
        if each.name != "opengui-bot":
            operators = {part.operator for part in each.specifier}
            assert operators == ({">="} if each.name in WITHOUT_A_NEXT else {">=", "<"}), each
            assert pinned[canonicalize_name(each.name)] in each.specifier
    for lock in (ROOT / "requirements.lock", *(ROOT / "extras").iterdir()):
        exact = dict(PINNED.findall(lock.read_text(encoding="utf-8")))
        assert exact.items() <= pinned.items() | {("setuptools", exact.get("setuptools"))}, lock


def test_it_has_all_that_the_program_reads(wheel: Path) -> None:
    """Everything of the packages that is kept in the repository."""
    with zipfile.ZipFile(wheel) as archive:
        assert _kept() <= set(archive.namelist())


def test_it_works_in_any_folder_and_leaves_nothing_there(wheel: Path, tmp_path: Path) -> None:
    """A start, a list, and the platform's own folders."""
    here, home = tmp_path / "here", tmp_path / "here" / "home"
    here.mkdir()
    (here / ".env").write_text("LOG_LEVEL=another program's", encoding="utf-8")
    ran = _installed(wheel, tmp_path / "packages", home).opengui("tasks")
    assert (ran.returncode, ran.stderr) == (OK, "")
    assert ran.stdout == "No tasks yet.\n"
    assert {each.name for each in here.iterdir()} == {".env", "home"}
    assert (home / ".local/share/opengui/opengui.sqlite3").is_file()


@pytest.mark.timeout(400)
async def test_it_opens_what_the_wheel_before_it_has_kept_and_that_one_nothing_newer(
    wheel: Path, adb_server: AdbServer, tmp_path: Path
) -> None:
    home, data = tmp_path / "home", tmp_path / "home/.local/share/opengui"
    before = _installed(_built(tmp_path, "0.0.9"), tmp_path / "before", home)
    after = _installed(wheel, tmp_path / "after", home)
    assert before.opengui("--version").stdout.split()[-1] == "0.0.9"
    async with place_with(adb_server, tmp_path) as place:
        settings = place.environment({"DATA_DIR": str(data)})
        del settings["PYTHONPATH"], settings["HOME"]
        done = await asyncio.to_thread(before.opengui, "do", "open settings", **settings)
    assert done.returncode == OK, done.stderr
    (row,) = (json.loads(line) for line in after.opengui("tasks", "--json").stdout.splitlines())
    assert (row["text"], row["outcome"]) == ("open settings", "succeeded")

    database = data / "opengui.sqlite3"
    with closing(sqlite3.connect(database)) as connection:
        newest = int(connection.execute("PRAGMA user_version").fetchone()[0])
        connection.execute(f"PRAGMA user_version = {newest + 1}")
    refused = before.opengui("tasks")
    assert refused.returncode == UNAVAILABLE
    assert said(words("store.too_new", path=database, version=newest + 1, known=newest)) in refused.stderr
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA user_version = {newest}")
    assert len(before.opengui("tasks", "--json").stdout.splitlines()) == 1, "it was left as it was"
