"""Prints what the rules hold and what they let pass, by class and by language; ends with 1 above the targets. With
`model=NAME` it also says what a model adds as the independent reader.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from pydantic import SecretStr

from agent.guards.policy import Policy
from agent.model_roles import ModelSettings, build_models, close_models
from agent.models.endpoint import EndpointSettings
from tests.agent.guards.table.cases import ASIDE_MISSED, HELD_MISSED, NEEDLESS, Case, cases
from tests.agent.guards.table.reading import is_read, read
from tests.agent.guards.table.unseen import figures, real_cases


def main(arguments: list[str]) -> int:
    """`seen` leaves out what is set aside; `-v` names each case that went wrong."""
    policy, table = Policy.default(), cases()
    if "seen" in arguments:
        table = tuple(case for case in table if not case.aside)
    passed = {id(case): case.passes(policy) for case in table}

    def wrong(case: Case) -> bool:
        return passed[id(case)] is case.held

    def lines(title: str, of: Iterable[Case], key: Callable[[Case], str]) -> None:
        groups: dict[str, list[Case]] = defaultdict(list)
        for case in of:
            groups[key(case)].append(case)
        sys.stdout.write(f"\n{title}\n")
        for name, each in groups.items():
            bad = sum(map(wrong, each))
            sys.stdout.write(f"  {name:<48} {len(each) - bad:>5} right {bad:>5} wrong\n")

    failed = False
    parts = [
        ("consequential, looked at", HELD_MISSED, [c for c in table if c.held and not c.aside]),
        ("consequential, set aside", ASIDE_MISSED, [c for c in table if c.held and c.aside]),
        ("ordinary, looked at", NEEDLESS, [c for c in table if not c.held and not c.aside]),
        ("ordinary, set aside", NEEDLESS, [c for c in table if not c.held and c.aside]),
    ]
    for title, _, part in parts:
        if part:
            lines(f"{title}: by class", part, lambda case: case.kind)
            lines(f"{title}: by language", part, lambda case: case.language)
            if "-v" in arguments:
                lines(f"{title}: by form", part, lambda case: case.form)
                for case in filter(wrong, part):
                    sys.stdout.write(f"    {case.name}\n")
    sys.stdout.write("\n")
    for title, most, part in parts:
        if part:
            bad = sum(map(wrong, part))
            above = bad > most * len(part)
            failed |= above
            what = "passed" if part[0].held else "asked needlessly"
            share = f"{bad} of {len(part)} {what} ({bad / len(part):.1%}, at most {most:.0%})"
            sys.stdout.write(f"{title:<26} {share}{'  ABOVE THE TARGET' if above else ''}\n")
    for aside in (False, True):
        sys.stdout.write(f"\nlabels of real apps, {'set aside' if aside else 'looked at'}\n")
        for figure in figures(policy, aside=aside):
            failed |= figure.above
            sys.stdout.write(f"{figure}\n")
        if "-v" in arguments and not aside:
            for case in real_cases():
                if not case.aside and case.passes(policy) is case.held:
                    sys.stdout.write(f"    {case.kind}: {case.name}\n")
    name = next((word.removeprefix("model=") for word in arguments if word.startswith("model=")), "")
    if name:
        asyncio.run(_with_reader(name, [case for case in table if is_read(case, policy)], policy))
    return 1 if failed else 0


async def _with_reader(name: str, unknown: Sequence[Case], policy: Policy) -> None:
    """Print what this model says of the presses that the rules do not know (VLM_BASE_URL, VLM_API_KEY)."""
    key = SecretStr(os.environ.get("VLM_API_KEY", ""))
    endpoint = EndpointSettings(model=name, base_url=os.environ.get("VLM_BASE_URL", ""), api_key=key)
    models = build_models(ModelSettings(endpoint))
    try:
        readings = await read(unknown, models.vision, policy)
    finally:
        await close_models(models)
    said = Counter(
        (case.held, "held" if reading.rule else "unknown" if reading.consequence == "unknown" else "none")
        for case, reading in zip(unknown, readings, strict=True)
    )
    tokens = sum(reading.tokens for reading in readings)
    sys.stdout.write(f"\n{name} was asked about {len(unknown)} presses that the rules do not know ({tokens} tokens)\n")
    for held, what in ((True, "consequential"), (False, "ordinary")):
        counts = ", ".join(f"{said[held, word]} {word}" for word in ("held", "none", "unknown"))
        sys.stdout.write(f"  {what:<16} {counts}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
