"""One phone, one task after the other: own time, upload, tokens, growth."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from benchmarks.figures import Figures, figures_of
from benchmarks.ground import REAL_PHONE
from benchmarks.overhead import step_seconds
from benchmarks.row import Row
from benchmarks.stage import stage

OWN_MS = 1.5 * (REAL_PHONE["frame_ms"] + REAL_PHONE["input_ms"])
UPLOAD_KB = 150.0
TOKENS_SHARE = 0.5
OVERHEAD_MS = 15.0
GROWTH_MB = 1.0
GROWTH_STEPS = 30
EVERY_PICTURE = "1000"
"""An image window that no task fills."""


async def measured(runs: int, model_seconds: float) -> list[Row]:
    """The targets of one phone; prints what else is worth knowing."""
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
    gaps = sorted(gap for each in counted for gap in each.gaps)
    print(
        f"{runs} tasks of {counted[0].steps} steps, frames {REAL_PHONE['frame_ms']} ms, inputs"
        f" {REAL_PHONE['input_ms']} ms, model {model_seconds} s.\n"
        f"Own time of a step: least {gaps[0] * 1000:.0f}, 9 of 10 within {gaps[int(len(gaps) * 0.9)] * 1000:.0f} ms;"
        f" screens that moved under the model and were sent again: {sum(each.resent for each in counted)}.\n"
    )
    return _rows(counted, keeps_all, overhead, grown)


def _rows(counted: list[Figures], keeps_all: Figures, overhead: float, grown: int) -> list[Row]:
    steps = sum(each.steps for each in counted)
    tokens = median(each.tokens for each in counted)
    own = median(gap for each in counted for gap in each.gaps) * 1000
    return [
        Row("own time of a step, model excluded (median)", own, OWN_MS, "ms"),
        Row("upload of a step", sum(each.upload for each in counted) / steps / 1000, UPLOAD_KB, "kB"),
        Row("input tokens, as a share of keeping every picture", tokens / keeps_all.tokens, TOKENS_SHARE, ""),
        Row("graph and checkpoints, of a step (median)", overhead * 1000, OVERHEAD_MS, "ms"),
        Row(f"growth of the databases in {GROWTH_STEPS} steps", grown / steps * GROWTH_STEPS / 1e6, GROWTH_MB, "MB"),
    ]
