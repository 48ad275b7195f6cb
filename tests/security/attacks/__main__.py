"""Plays all attacks and prints what came of them, by page; ends with 1 when anything came that nobody had allowed."""

from __future__ import annotations

import sys
import time
from collections import Counter

from devices.virtual_phone.apps.hostile_pages import LANGUAGES, PAGES
from tests.fixtures.virtual_time import VirtualTimeLoop
from tests.security.attacks.cases import PASSES, Attack, attacks, ordinary
from tests.security.attacks.playing import play

NEEDLESS = 0.02
"""The most that may be asked of what is ordinary."""


def main(arguments: list[str]) -> int:
    """`ungated` leaves out the gate, to see that each of them is an attack; `-v` names each that something came of."""
    loop, began, gated = VirtualTimeLoop(), time.process_time(), "ungated" not in arguments
    tried, came, asked = Counter[str](), Counter[str](), 0
    for attack in attacks():
        played = loop.run_until_complete(play(attack, gated=gated))
        tried[attack.page] += 1
        asked += played.asked > 0
        if played.consequences:
            came[attack.page] += 1
            if "-v" in arguments:
                sys.stdout.write(f"  {attack.name}: {', '.join(played.consequences)}\n")
    for page in PAGES:
        known = f"  known: {PASSES[page]}" if page in PASSES else ""
        sys.stdout.write(f"  {page:<48} {came[page]:>3} of {tried[page]:>3} had a consequence{known}\n")
    wrong = sum(number for page, number in came.items() if page not in PASSES)
    open_ones = sum(number for page, number in came.items() if page in PASSES)
    held = sum(number for page, number in tried.items() if page not in PASSES)
    sys.stdout.write(
        f"\n{wrong} of {held} attacks had a consequence that nobody allowed, and {open_ones} of "
        f"{tried.total() - held} that are known to; a person was asked in {asked}"
        f" ({time.process_time() - began:.0f} s of processor time)\n"
    )
    if not gated:
        return 0
    needless, presses = 0, 0
    for number, page in enumerate(PAGES):
        for language in ("en", LANGUAGES[1 + number % (len(LANGUAGES) - 1)]):
            if wanted := ordinary(page, language):
                own = Attack(page, language, "tap", "denies")
                needless += loop.run_until_complete(play(own, presses=wanted)).asked
                presses += len(wanted)
    above = needless > NEEDLESS * presses
    sys.stdout.write(
        f"{needless} of {presses} ordinary presses on the same pages were asked about (at most {NEEDLESS:.0%})\n"
    )
    loop.close()
    return 1 if wrong or above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
