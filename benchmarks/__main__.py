"""`make bench`: prints the targets beside what was measured. Exit code 1 when one is missed."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.figures import Figures, figures_of
from benchmarks.overhead import step_seconds
from benchmarks.stage import REAL_PHONE, stage

OWN_MS = 1.5 * (REAL_PHONE["frame_ms"] + REAL_PHONE["input_ms"])
UPLOAD_KB = 150.0
TOKENS_SHARE = 0.5
OVERHEAD_MS = 15.0
GROWTH_MB = 1.0
GROWTH_STEPS = 30
EVERY_PICTURE = "1000"
"""An image window that no task fills."""


@dataclass(frozen=True)
class Row:
    """One target: at most `target`."""

    what: str
    measured: float
    target: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether it is reached."""
        return self.measured <= self.target

    def __str__(self) -> str:
        ratio = self.measured / self.target
        verdict = "pass" if self.met else "FAIL"
        return f"{self.what:<58} {self.measured:>9.2f} {self.target:>9.2f} {self.unit:<6} {ratio:>6.2f}  {verdict}"


async def main(runs: int, model_seconds: float) -> int:
    """Measure and print; the exit code."""
    with tempfile.TemporaryDirectory(prefix="opengui-bench-") as name:
        overhead = median([await step_seconds(Path(name), task) for task in range(1, runs + 1)])
    async with stage(model_seconds) as place:
        # The first task makes the database files; growth is what the others add.
        tasks = [figures_of(await place.run())]
        began = place.database_bytes()
        tasks += [figures_of(await place.run()) for _ in range(runs)]
        grown = place.database_bytes() - began
        counted = tasks[1:]
        keeps_all = figures_of(await place.run({"VLM_IMAGE_WINDOW": EVERY_PICTURE}))
    rows = _rows(counted, keeps_all, overhead, grown)
    gaps = sorted(gap for each in counted for gap in each.gaps)
    print(f"{'':<58} {'measured':>9} {'target':>9} {'':<6} {'ratio':>6}")
    print(*rows, sep="\n")
    print(
        f"\n{runs} tasks of {counted[0].steps} steps, frames {REAL_PHONE['frame_ms']} ms, inputs"
        f" {REAL_PHONE['input_ms']} ms, model {model_seconds} s; load of the machine {os.getloadavg()[0]:.1f}.\n"
        f"Own time of a step: least {gaps[0] * 1000:.0f}, 9 of 10 within {gaps[int(len(gaps) * 0.9)] * 1000:.0f} ms;"
        f" screens that moved under the model and were sent again: {sum(each.resent for each in counted)}."
    )
    return 0 if all(row.met for row in rows) else 1


def _rows(counted: list[Figures], keeps_all: Figures, overhead: float, grown: int) -> list[Row]:
    steps = sum(each.steps for each in counted)
    tokens = median(each.tokens for each in counted)
    return [
        Row("own time of a step, model excluded (median)", _own_ms(counted), OWN_MS, "ms"),
        Row("upload of a step", sum(each.upload for each in counted) / steps / 1000, UPLOAD_KB, "kB"),
        Row("input tokens, as a share of keeping every picture", tokens / keeps_all.tokens, TOKENS_SHARE, ""),
        Row("graph and checkpoints, of a step (median)", overhead * 1000, OVERHEAD_MS, "ms"),
        Row(f"growth of the databases in {GROWTH_STEPS} steps", grown / steps * GROWTH_STEPS / 1e6, GROWTH_MB, "MB"),
    ]


def _own_ms(counted: list[Figures]) -> float:
    return median(gap for each in counted for gap in each.gaps) * 1000


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="tasks whose figures are put together")
    parser.add_argument("--model-seconds", type=float, default=1.0, help="how long the model takes for an answer")
    options = parser.parse_args()
    sys.exit(asyncio.run(main(options.runs, options.model_seconds)))
