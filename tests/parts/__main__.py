"""`python -m tests.parts PACKAGE …`: all fast tests, in a copy without this part; for each part where none is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.parts.copies import PARTS, command, without

FAST = "not page and not chaos and not fleet and not slow"
WHOLE = (
    "tests/security/test_threat_model.py",
    "tests/bot/texts/test_catalogue.py::test_no_key_is_left_over",
    "tests/devices/test_wording.py::test_every_kind_is_there_with_its_values_and_none_is_left_over",
)
"""Tests that look at the whole repository, so also at documents and texts of a part that is missing."""


def main() -> int:
    """The exit code: how many parts there are without which a test fails."""
    failed = 0
    for part in sys.argv[1:] or PARTS:
        print(f"without {part}", flush=True)
        with TemporaryDirectory() as folder:
            tests = command(
                "pytest", "-q", "-p", "no:cacheprovider", "-m", FAST, *(f"--deselect={test}" for test in WHOLE)
            )
            ran = subprocess.run(tests, cwd=without([part], Path(folder)), check=False)
        failed += ran.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
