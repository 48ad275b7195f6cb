"""`make fuzz`: each target for FUZZ_SECONDS (60). Prints the seed of each, and the smallest input that fails."""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import traceback

from tests.fuzz.target import Target, batches
from tests.fuzz.targets import TARGETS

TRIES = 500
"""Inputs from one seed."""
SEEDS = 2**31


def main() -> int:
    """Hunts, and returns the exit code: 1 when anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="targets whose name has this in it")
    parser.add_argument("--seed", type=int, default=None, help="begin with this seed instead of a random one")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "60")))
    options = parser.parse_args()
    logging.disable()  # what is hunted complains about every input
    chosen = [target for target in TARGETS if options.only in target.name]
    first = random.SystemRandom().randrange(SEEDS) if options.seed is None else options.seed
    failed = [target.name for target in chosen if not _passes(target, first, options.seconds)]
    print(f"{len(chosen) - len(failed)} of {len(chosen)} targets found nothing.", *failed, sep="\n  ✗ ")
    return 1 if failed or not chosen else 0


def _passes(target: Target[object], first: int, seconds: float) -> bool:
    number = first
    try:
        with target.opened() as check:
            for number in batches(seconds, first):
                target.hunt(check, number, TRIES, regressions=number == first)
    except Exception:  # noqa: BLE001 - whatever it is, it is what was looked for
        traceback.print_exc()
        print(f"✗ {target.name}: again with --only {target.name!r} --seed {number}", flush=True)
        return False
    print(f"✓ {target.name}: seeds {first} to {number}, {(number - first + 1) * TRIES} inputs", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
