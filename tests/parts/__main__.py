"""`python -m tests.parts PACKAGE …`: all fast tests, in a copy without this part; for each part where none is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.parts.copies import PARTS, command, without

FAST = "not page and not chaos and not fleet and not slow"


def main() -> int:
    """The exit code: how many parts there are without which a test fails."""
    failed = 0
    for part in sys.argv[1:] or PARTS:
        print(f"without {part}", flush=True)
        with TemporaryDirectory() as folder:
            tests = command("pytest", "-q", "-p", "no:cacheprovider", "-m", FAST)
            ran = subprocess.run(tests, cwd=without(part, Path(folder)), check=False)
        failed += ran.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
