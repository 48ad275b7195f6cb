"""The program `python -m devices.virtual_phone`, which starts virtual phones without the rest of the service."""

from __future__ import annotations

import argparse
import asyncio
import sys

from devices.virtual_phone.options import add_options
from devices.virtual_phone.runner import run


def main() -> int:
    """Run virtual phones as the command line says. Returns the exit code: 0, or 1 when they could not be started, for
    example because a port is taken; wrong options exit with 2.
    """
    parser = argparse.ArgumentParser(prog="python -m devices.virtual_phone", description="Starts virtual phones.")
    add_options(parser)
    options = parser.parse_args()
    try:
        asyncio.run(run(options))
    except OSError as problem:
        sys.stderr.write(f"The virtual phones could not be started: {problem}\n")
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
