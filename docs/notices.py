"""Writes THIRD_PARTY_NOTICES.md: what is installed with the program, or lies in it, by whom, and under which licence.

`.venv/bin/python docs/notices.py` reads the names from constraints.txt and requirements.lock, and the licences from
the packages that are installed. A test compares the file with them.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
NOTICES = REPOSITORY / "THIRD_PARTY_NOTICES.md"

PINNED = ("constraints.txt", "requirements.lock")
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==", re.MULTILINE)

# Packages say their licence in words of their own.
SPDX = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache 2 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "MIT License, Apache License, Version 2.0": "MIT OR Apache-2.0",
    "The BSD 2-Clause License": "BSD-2-Clause",
    "The MIT License (MIT)": "MIT",
}

# Packages that not every machine gets, and those that give no licence in words.
STATED = {
    "audioop-lts": ("PSF-2.0", "https://github.com/AbstractUmbra/audioop"),
    "cykooz-resizer": ("MIT OR Apache-2.0", "https://pypi.org/project/cykooz.resizer"),
    "httpx2-jsfetch": ("BSD-3-Clause", "https://pypi.org/project/httpx2-jsfetch"),
    "pywin32": ("PSF-2.0", "https://github.com/mhammond/pywin32"),
}

# Files that are not the program's own, by where they lie.
BUNDLED = (
    ("Inter, a typeface", "OFL-1.1", "https://github.com/rsms/inter", "`bot/web/page/inter.woff2`, in the wheel"),
    ("axe-core", "MPL-2.0", "https://github.com/dequelabs/axe-core", "`tests/fixtures/axe.min.js`, for tests only"),
    (
        "adb of the Android SDK",
        "Apache-2.0",
        "https://android.googlesource.com/platform/packages/modules/adb",
        "the package `adbutils`",
    ),
    (
        "the server of uiautomator2",
        "MIT",
        "https://github.com/openatx/android-uiautomator-server",
        "the package `uiautomator2`; it is put on phones",
    ),
    ("Debian packages", "each in `/usr/share/doc`", "https://www.debian.org/legal/licenses", "the container image"),
)


def main() -> None:
    """Write the file anew."""
    NOTICES.write_text(notices(), encoding="utf-8")


def notices() -> str:
    """The whole file."""
    packages = [f"| {name} | {licence} | {home} |" for name, (licence, home) in licences().items()]
    files = [f"| {name} | {licence} | {home} | {place} |" for name, licence, home, place in BUNDLED]
    return "\n".join(
        [
            "# Third-party notices",
            "",
            "opengui-bot is under the [MIT licence](LICENSE). What follows belongs to others and keeps its own.",
            "",
            "## Packages that are installed with it",
            "",
            "Their licence texts are installed beside them, in `*.dist-info`. None of them is changed.",
            "",
            "| package | licence | where it comes from |",
            "|---|---|---|",
            *packages,
            "",
            "## Files of others",
            "",
            "| what | licence | where it comes from | where it lies |",
            "|---|---|---|---|",
            *files,
            "",
        ]
    )


def licences() -> dict[str, tuple[str, str]]:
    """The licence and the home page of each package of `PINNED`, by its name.

    Raises LookupError for a package without a licence that is known here, or one that is not installed.
    """
    pinned = "".join((REPOSITORY / name).read_text(encoding="utf-8") for name in PINNED)
    names = sorted({found[1].lower() for found in LOCKED.finditer(pinned)})
    return {name: STATED.get(name) or _stated_by_itself(name) for name in names}


def _stated_by_itself(name: str) -> tuple[str, str]:
    about = metadata.metadata(name)
    said = about.get("License-Expression") or (about.get("License") or "").partition("\n")[0]
    kinds = [each.rpartition(" :: ")[2] for each in about.get_all("Classifier") or [] if each.startswith("License")]
    said = said or " OR ".join(SPDX.get(kind, kind) for kind in kinds)
    if not said:
        message = f"{name} gives no licence: look for it, and state it in docs/notices.py"
        raise LookupError(message)
    return SPDX.get(said, said), f"https://pypi.org/project/{name}"


if __name__ == "__main__":
    main()
