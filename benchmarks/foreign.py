"""A phone that was measured elsewhere, with the helper on it and without: own time of a step by what the step does."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from benchmarks.figures import Figures, figures_of
from benchmarks.ground import FOREIGN_PHONE
from benchmarks.journey import POINTING_STEPS, STEPS
from benchmarks.row import Row
from benchmarks.stage import stage

LANES: Mapping[str, Mapping[str, float]] = {
    "auto": {"all": 0.45, "tap": 0.42, "launch": 0.50, "type": 0.60},
    "off": {"all": 0.60, "tap": 0.55, "type": 0.90},
}
"""Seconds to reach, by FAST_LANE and by what a step does."""
_NAMES = {"auto": "fast lane", "off": "plain adb"}
FLOOR_S = (FOREIGN_PHONE["frame_ms"] + FOREIGN_PHONE["input_ms"]) / 1000
WINDOW = 5
UPLOAD_KB = 200.0


async def measured(runs: int, model_seconds: float) -> list[Row]:
    """The targets of that phone; prints what else is worth knowing."""
    rows: list[Row] = []
    async with stage(model_seconds, FOREIGN_PHONE) as place:
        for lane, targets in LANES.items():
            tasks = [figures_of(await place.run({"FAST_LANE": lane})) for _ in range(runs)]
            resent = sum(each.resent for each in tasks)
            print(f"{_NAMES[lane]}: {resent} screens moved under the model and were sent again.")
            rows += [
                Row(f"{_NAMES[lane]}, {kind}: own time (frame and input {FLOOR_S:.2f} s)", found, target, "s")
                for kind, target in targets.items()
                if (found := _own(tasks, kind)) is not None
            ]
        pointing = {"VLM_DIALECT": "ui-tars", "VLM_IMAGE_WINDOW": str(WINDOW)}
        upload = figures_of(await place.run(pointing, POINTING_STEPS))
    print(f"Frames {FOREIGN_PHONE['frame_ms']} ms, inputs {FOREIGN_PHONE['input_ms']} ms, model {model_seconds} s.\n")
    return [
        *rows,
        Row(f"upload of a step, ui-tars, window {WINDOW}", upload.upload / upload.steps / 1000, UPLOAD_KB, "kB"),
    ]


def _own(tasks: list[Figures], kind: str) -> float | None:
    """The median of the steps of this kind, None when there was none."""
    gaps = [
        gap
        for each in tasks
        for number, gap in zip(each.numbers, each.gaps, strict=True)
        if kind in {"all", STEPS[(number - 1) % len(STEPS)][0]}
    ]
    return median(gaps) if gaps else None
