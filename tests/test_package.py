"""The wheel: what it depends on, what is in it, and that it works where there is no checkout."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from devices.extras import Extra

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
WITHOUT_A_NEXT = {"tzdata"}
"""Numbered by the year, so that none says that something breaks."""
PINNED = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z_,]+\])?==([^\s;]+)", re.MULTILINE)


def _kept() -> set[str]:
    """Every file of the packages, as Python has not added to them."""
    files = (path for name in ("bot", "agent", "devices") for path in (ROOT / name).rglob("*") if path.is_file())
    return {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built of copies, so that nothing is written into the checkout."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in (*_kept(), "pyproject.toml", "README.md", "LICENSE", "THIRD_PARTY_NOTICES.md"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    build = ["wheel", "-q", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-w", str(made), "."]
    subprocess.run([sys.executable, "-m", "pip", *build], cwd=source, check=True, timeout=100)
    return next(made.glob("*.whl"))


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


@pytest.mark.slow
def test_it_works_in_any_folder_and_leaves_nothing_there(wheel: Path, tmp_path: Path) -> None:
    """Unpacked, beside the libraries that are installed: a start, a list, and the platform's own folders."""
    here, home, packages = tmp_path / "here", tmp_path / "home", tmp_path / "packages"
    here.mkdir()
    (here / ".env").write_text("LOG_LEVEL=another program's", encoding="utf-8")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); import bot.cli; print(bot.cli.main(), bot.__file__)"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(packages), "tasks"],
        cwd=here,
        env={"HOME": str(home), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"No tasks yet.\n0 {packages}/bot/__init__.py\n"
    assert [each.name for each in here.iterdir()] == [".env"]
    assert (home / ".local/share/opengui/opengui.sqlite3").is_file()
