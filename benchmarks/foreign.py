"""A phone that was measured elsewhere, with the helper on it and without: own time of a step by what the step does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.figures import Figures, figures_of
from benchmarks.ground import FOREIGN_PHONE
from benchmarks.journey import POINTING, STEPS
from benchmarks.row import Row
from benchmarks.stage import Deeds, Stage, stage
from tests.end_to_end.brain import Act


@dataclass(frozen=True)
class Line:
    """A way to work with that phone, and the seconds to reach by what a step does."""

    name: str
    lane: str
    dialect: str
    targets: Mapping[str, float]

    @property
    def steps(self) -> Sequence[tuple[str, Act]]:
        """What its model does."""
        return POINTING.get(self.dialect, STEPS)

    @property
    def settings(self) -> Mapping[str, str]:
        """Those of the service."""
        return {"FAST_LANE": self.lane, "VLM_DIALECT": self.dialect}


_PLAIN = {"all": 0.60, "tap": 0.55, "type": 0.90}
LINES = (
    Line("fast lane", "auto", "tools", {"all": 0.45, "tap": 0.42, "launch": 0.50, "type": 0.60}),
    Line("plain adb, autoglm", "off", "autoglm", _PLAIN),
    Line("plain adb, tools", "off", "tools", _PLAIN),
)
"""A model that calls elements by number waits for the list of a screen that was not seen before; `autoglm` points."""
FLOOR_S = (FOREIGN_PHONE["frame_ms"] + FOREIGN_PHONE["input_ms"]) / 1000
WINDOW = 5
UPLOAD_KB = 200.0


async def measured(runs: int, model_seconds: float) -> list[Row]:
    """The targets of that phone; prints what else is worth knowing."""
    rows: list[Row] = []
    async with stage(model_seconds, FOREIGN_PHONE) as place:
        # The first, too: scripted models that point learn here where things are.
        pointing = {"VLM_DIALECT": "ui-tars", "VLM_IMAGE_WINDOW": str(WINDOW), "FAST_LANE": "auto"}
        upload = figures_of(await place.run(pointing, POINTING["ui-tars"]))
        for line in LINES:
            tasks = [await _task(place, line) for _ in range(runs)]
            print(_told(line, tasks))
            rows += [
                Row(f"{line.name}, {kind}: own time (frame and input {FLOOR_S:.2f} s)", found, target, "s")
                for kind, target in line.targets.items()
                if (found := _own(line, [figures for figures, _ in tasks], kind)) is not None
            ]
        for dialect in POINTING:
            line = Line(f"plain adb, {dialect}", "off", dialect, {})
            print(_told(line, [await _task(place, line)]))
    print(f"Frames {FOREIGN_PHONE['frame_ms']} ms, inputs {FOREIGN_PHONE['input_ms']} ms, model {model_seconds} s.\n")
    return [
        *rows,
        Row(f"upload of a step, ui-tars, window {WINDOW}", upload.upload / upload.steps / 1000, UPLOAD_KB, "kB"),
    ]


async def _task(place: Stage, line: Line) -> tuple[Figures, Deeds]:
    server, deeds = await place.watched(line.settings, line.steps)
    return figures_of(server), deeds


def _told(line: Line, tasks: Sequence[tuple[Figures, Deeds]]) -> str:
    """What does not depend on the machine's load, in one line."""
    steps = sum(figures.steps for figures, _ in tasks)
    dumps, touches = (sum(getattr(deeds, what) for _, deeds in tasks) for what in ("dumps", "touches"))
    meant = len(tasks) * sum(kind == "tap" for kind, _ in line.steps)
    left = {repr(deeds.left) for _, deeds in tasks}
    return (
        f"{line.name}: own time {median(gap for figures, _ in tasks for gap in figures.gaps):.2f} s, dumps of a step"
        f" {dumps / steps:.2f}, screens that were sent again {sum(figures.resent for figures, _ in tasks)} of {steps},"
        f" touches {touches} ({meant} and those of fields meant), left behind {' / '.join(left)}"
    )


def _own(line: Line, tasks: Sequence[Figures], kind: str) -> float | None:
    """The median of the steps of this kind, None when there was none."""
    gaps = [
        gap
        for each in tasks
        for number, gap in zip(each.numbers, each.gaps, strict=True)
        if kind in {"all", line.steps[(number - 1) % len(line.steps)][0]}
    ]
    return median(gaps) if gaps else None
