"""Copies of the program that lack parts, and the tests that can run there."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "bot.fleet": (),
    "bot.workshop": (),
    "bot.model_comparison": (),
    "bot.mcp_servers": (),
    "bot.triggers": (),
    "bot.webhooks": (),
    "devices.virtual_phone": ("bot.model_comparison",),
    "agent.offline": ("bot.model_comparison",),
}
"""The parts, and those that are of no use without them."""
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "bot.fleet": ("fleet", "host"),
    "bot.workshop": ("workshop",),
    "bot.model_comparison": ("compare-models",),
    "bot.mcp_servers": (),
    "bot.triggers": ("when", "triggers"),
    "bot.webhooks": ("webhooks",),
    "devices.virtual_phone": ("phone", "compare-models"),
    "agent.offline": ("compare-models",),
}
"""The commands that are not there without a part."""
LAUNCHER: Final = """
import runpy, sys
sys.meta_path[:] = [each for each in sys.meta_path if "__editable__" not in getattr(each, "__module__", "")]
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""
"""Runs a module of the folder it is started in. The finder of an editable installation goes: it would fill every gap
from the checkout.
"""
WITHOUT: Final = "OPENGUI_WITHOUT"
"""The variable that tells tests in a copy which parts are missing there, with commas between them."""


FOLDERS: Final = frozenset({"bot", "agent", "devices", "extras", "tests", "docs", "docker", "systemd", "benchmarks"})


def without(parts: Collection[str], copy: Path) -> Path:
    """A copy of the program and its tests in the folder `copy`, without these parts and without their own tests. What
    needs one of the parts has no use there, and its tests are left out as well.
    """
    gone = tuple({each for part in parts for each in (part, *PARTS[part])})
    copy.mkdir(exist_ok=True)
    left_out = {ROOT / package.replace(".", "/") for package in gone} | own_tests(gone)

    def skip(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder, name) in left_out]

    for each in ROOT.iterdir():
        if each.is_dir() and each.name in FOLDERS:
            shutil.copytree(each, copy / each.name, ignore=skip)
        elif each.is_file() and each.name != ".env":
            shutil.copy2(each, copy / each.name)
    return copy


def command(module: str, *arguments: str) -> list[str]:
    """What runs a module of a copy, in the folder of the copy."""
    return [sys.executable, "-c", LAUNCHER, module, *arguments]


def own_tests(parts: tuple[str, ...]) -> set[Path]:
    """The files of tests that name one of these parts, and those that import such a file as they are loaded; where a
    `conftest.py` does, all its folder.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    del texts[Path(__file__)], texts[Path(__file__).with_name("in_a_copy.py")]
    named = re.compile("|".join(rf"\b{re.escape(part)}\b" for part in parts))
    own: set[Path] = set()
    found = {path for path, text in texts.items() if named.search(text)}
    while found:
        folders = {path.parent for path in found if path.name == "conftest.py"}
        own |= found | folders | {path for path in texts if folders & {*path.parents}}
        imports = re.compile("|".join(_import_of(path) for path in own if path in texts), re.MULTILINE)
        found = {path for path, text in texts.items() if path not in own and imports.search(text)}
    return own


def _import_of(file: Path) -> str:
    """The pattern of a line that imports this file."""
    *package, name = file.relative_to(ROOT).with_suffix("").parts
    folder = r"\.".join(package)
    return rf"^(?:from|import) {folder}\.{name}\b|^from {folder} import (?:[^\n(]*|\([^)]*)\b{name}\b"
