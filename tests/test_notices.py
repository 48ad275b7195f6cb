"""THIRD_PARTY_NOTICES.md is true, and nothing in it forbids what the program's own licence allows."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[1]

# Free to use beside MIT code that is neither changed nor linked into it. A choice (OR) needs one of them.
ALLOWED = {
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CNRI-Python",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-2.0",
    "OFL-1.1",
    "PSF-2.0",
}


@cache
def writer() -> ModuleType:
    """docs/notices.py, which is a script and no package of the program."""
    spec = importlib.util.spec_from_file_location("notices", REPOSITORY / "docs" / "notices.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_allowed(licence: str) -> bool:
    """Whether a licence expression (SPDX) has a choice of which each part is allowed."""
    flat = licence.replace("(", "").replace(")", "")
    parts = [part.strip() for part in flat.split(" AND ")]
    return all(any(choice.strip() in ALLOWED for choice in part.split(" OR ")) for part in parts)


def test_the_file_says_what_is_installed() -> None:
    told = (REPOSITORY / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    assert told == writer().notices(), "run .venv/bin/python docs/notices.py"


def test_every_licence_goes_with_that_of_the_program() -> None:
    packages: dict[str, tuple[str, str]] = writer().licences()
    assert len(packages) > 50
    assert {name: licence for name, (licence, _) in packages.items() if not is_allowed(licence)} == {}


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("Proprietary", False),
        ("", False),
    ],
)
def test_what_is_allowed(licence: str, *, allowed: bool) -> None:
    assert is_allowed(licence) is allowed


def test_every_font_and_script_of_others_has_its_licence_beside_it() -> None:
    """Of what is kept in the repository: a typeface, and minified code. Its notice names the file."""
    told = (REPOSITORY / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    foreign = [
        path
        for folder in ("bot", "agent", "devices", "tests")
        for path in (REPOSITORY / folder).rglob("*")
        if re.search(r"\.(woff2?|ttf|otf|min\.js|jar|apk|so)$", path.name)
    ]
    assert foreign
    for path in foreign:
        assert f"`{path.relative_to(REPOSITORY)}`" in told
        assert list(path.parent.glob(f"{path.name.split('.')[0]}-license.txt")), path


def test_the_wheel_brings_the_licences_of_what_lies_in_it() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    files = {str(path.relative_to(REPOSITORY)) for glob in project["license-files"] for path in REPOSITORY.glob(glob)}
    assert files == {"LICENSE", "THIRD_PARTY_NOTICES.md", "bot/web/page/inter-license.txt"}
