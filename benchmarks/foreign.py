"""A phone that was measured elsewhere, with the helper on it and without: own time of a step by what the step does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
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
    Line("plain adb, ui-tars", "off", "ui-tars", {}),
    Line("plain adb, mobile-use", "off", "mobile-use", {}),
)
"""A model that calls elements by number waits for the list of a screen that was not seen before; others point."""
KINDS = ("tap", "launch", "type", "scroll", "key")
FRAME_S, INPUT_S, LANE_S = (FOREIGN_PHONE[name] / 1000 for name in ("frame_ms", "input_ms", "lane_ms"))
WINDOW = 5
UPLOAD_KB = 200.0
UPLOAD = "upload"
"""The name of the one line that is measured by what it sends."""


async def measured(runs: int, model_seconds: float, chosen: str = "") -> AsyncIterator[Row]:
    """The targets of that phone, each as soon as it is known; prints what else is worth knowing. Only the lines whose
    names have `chosen` in them.
    """
    print(
        f"Frames {FOREIGN_PHONE['frame_ms']} ms, inputs {FOREIGN_PHONE['input_ms']} ms, model {model_seconds} s; own"
        f" times are medians of {runs} tasks, [in brackets] what the phone alone takes for inputs and a frame.",
        flush=True,
    )
    async with stage(model_seconds, FOREIGN_PHONE) as place:
        # The first, always: scripted models that point learn here where things are.
        pointing = {"VLM_DIALECT": "ui-tars", "VLM_IMAGE_WINDOW": str(WINDOW), "FAST_LANE": "auto"}
        upload = figures_of(await place.run(pointing, POINTING["ui-tars"]))
        if chosen in UPLOAD:
            sent = upload.upload / upload.steps / 1000
            yield Row(f"{UPLOAD} of a step, ui-tars, window {WINDOW}", sent, UPLOAD_KB, "kB")
        if not any(chosen in line.name for line in LINES if line.lane == "auto"):
            await place.run({"FAST_LANE": "auto"})  # a model that calls elements by number learns there, too
        for line in LINES:
            if chosen not in line.name:
                continue
            tasks = [await _task(place, line) for _ in range(runs if line.targets else 1)]
            print(_told(line, tasks), flush=True)
            for kind, target in line.targets.items():
                gaps = _own(line, [figures for figures, _ in tasks], kind)
                if gaps:
                    yield Row(f"{line.name}, {kind}: own time [{_alone(line, kind):.2f} s]", median(gaps), target, "s")


async def _task(place: Stage, line: Line) -> tuple[Figures, Deeds]:
    server, deeds = await place.watched(line.settings, line.steps)
    return figures_of(server), deeds


def _told(line: Line, tasks: Sequence[tuple[Figures, Deeds]]) -> str:
    """What does not depend on the machine's load, and the own time of every kind of step."""
    figures = [each for each, _ in tasks]
    steps = sum(each.steps for each in figures)
    dumps, touches = (sum(getattr(deeds, what) for _, deeds in tasks) for what in ("dumps", "touches"))
    meant = len(tasks) * sum(kind == "tap" for kind, _ in line.steps)
    left = {repr(deeds.left) for _, deeds in tasks}
    kinds = " · ".join(f"{kind} {median(gaps):.2f}" for kind in ("all", *KINDS) if (gaps := _own(line, figures, kind)))
    return (
        f"{line.name}: own time in s: {kinds}; dumps of a step {dumps / steps:.2f}, screens that were sent again"
        f" {sum(each.resent for each in figures)} of {steps}, touches {touches} ({meant} and those of fields meant),"
        f" left behind {' / '.join(left)}"
    )


def _own(line: Line, tasks: Sequence[Figures], kind: str) -> list[float]:
    """The own times of the steps of this kind."""
    return [
        gap
        for each in tasks
        for number, gap in zip(each.numbers, each.gaps, strict=True)
        if kind in {"all", line.steps[(number - 1) % len(line.steps)][0]}
    ]


def _alone(line: Line, kind: str) -> float:
    """The seconds that this phone takes for the inputs of such a step and for one frame: nobody is quicker.

    A field that is named is touched first; the helper enters a text by one request.
    """
    if kind != "type":
        return INPUT_S + FRAME_S
    touches = INPUT_S if line.dialect == "tools" else 0.0
    return touches + (LANE_S if line.lane == "auto" else INPUT_S) + FRAME_S
