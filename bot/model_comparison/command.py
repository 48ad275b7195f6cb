"""The `opengui compare-models` command: compares models by the same tasks on virtual phones."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from bot.checks.settings import in_force
from bot.cli.exits import OK, UNAVAILABLE, Refused
from bot.cli.terminal import Style, Styled, cells_of, complain, padded, print_styled
from bot.config.installation import lack_of
from bot.config.settings import Settings
from bot.domain.locale import counting_in, money
from bot.texts import say
from devices.extras import Extra, is_installed
from devices.wording import said

if TYPE_CHECKING:
    from bot.model_comparison.candidates import Candidate
    from bot.model_comparison.running import Dropped, TaskResult
    from bot.model_comparison.table import Totals
    from bot.model_comparison.tasks import ComparisonTask

INTERRUPTED: Final = 130
"""The exit code that a shell reports for a command ended by Ctrl-C."""
LONGEST_TEXT: Final = 50
"""Characters of a task in the progress line."""
COLUMNS: Final = (
    *("model", "dialect", "pictures", "tasks", "right", "false_successes", "wrong_touches", "asked", "needless"),
    *("obeyed", "steps", "seconds", "tokens", "cost"),
)


async def compare_models(options: argparse.Namespace, settings: Settings) -> int:
    """Run the comparison and print the results so far, also after Ctrl-C. Returns the exit code. Raises Refused and
    SettingsError.
    """
    if not is_installed(Extra.VIRTUAL_PHONE):
        return complain(said(lack_of(Extra.VIRTUAL_PHONE)), code=UNAVAILABLE)
    settings, _ = await in_force(settings)
    # Imported here because it loads the agent and the virtual phones' fonts.
    from bot.model_comparison.candidates import candidates_of, floor  # noqa: PLC0415 - see above
    from bot.model_comparison.running import compare  # noqa: PLC0415 - see above
    from bot.model_comparison.tasks import sample, suite  # noqa: PLC0415 - see above

    models = candidates_of(
        settings,
        base_url=options.base_url,
        models=options.model,
        dialects=options.dialect,
        image_windows=options.image_window,
    )
    candidates = [floor(), *models]
    found: list[TaskResult | Dropped] = []
    progress = _Progress(options)
    try:
        if not models and (options.model or options.base_url):
            raise Refused(say("cli.compare.no_endpoint"))
        if options.max_cost is not None and (unknown := [each.model for each in models if not each.priced]):
            raise Refused(say("cli.compare.no_price", model=unknown[0]))
        tasks = sample(suite(options.seed), options.tasks)
        progress.planned = len(candidates) * len(tasks)

        async def work() -> None:
            events = compare(candidates, tasks, most_cost=options.max_cost, begins=progress.begins)
            async with aclosing(events):
                async for each in events:
                    found.append(each)
                    progress.ended(each)

        stopped = await _until_stopped(work())
    finally:
        progress.clear()
        for candidate in candidates:
            await candidate.close()
    with counting_in(settings.cost_currency):
        answered = _tell(candidates, found, options, len(tasks))
    if stopped:
        return INTERRUPTED
    return OK if answered else UNAVAILABLE


async def _until_stopped(work: Any) -> bool:  # noqa: ANN401  # any coroutine
    """Run the work and return whether Ctrl-C or SIGTERM ended it. Raises what the work raises."""
    task = asyncio.ensure_future(work)
    stops: list[None] = []

    def stop() -> None:
        stops.append(None)
        task.cancel()

    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not stops:
            raise
    return bool(stops)


class _Progress:
    """The progress display: a line at a terminal with the current task, or with --json one line per finished task."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.planned = 0
        self._shown = sys.stderr.isatty()
        self._json = options.json
        self._done = 0

    def begins(self, candidate: Candidate, task: ComparisonTask) -> None:
        """Show that a candidate begins a task."""
        if self._shown:
            text = task.text if len(task.text) <= LONGEST_TEXT else f"{task.text[:LONGEST_TEXT]}…"
            line = say(
                "cli.compare.doing",
                number=self._done + 1,
                all=self.planned,
                model=candidate.name,
                kind=task.kind,
                text=text,
            )
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def ended(self, result: TaskResult | Dropped) -> None:
        """Count a finished task or a dropped candidate."""
        from bot.model_comparison.running import TaskResult  # noqa: PLC0415 - loaded by now
        from bot.model_comparison.table import task_row  # noqa: PLC0415 - as above

        self._done += 1
        if self._json and isinstance(result, TaskResult):
            print(json.dumps(task_row(result), ensure_ascii=False), flush=True)

    def clear(self) -> None:
        """Clear the progress line."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _tell(
    candidates: Sequence[Candidate], found: Sequence[TaskResult | Dropped], options: argparse.Namespace, planned: int
) -> bool:
    """Print the results: the table, the candidates that did not answer, and the advice. False if there were models but
    none answered.
    """
    from bot.model_comparison.running import Dropped, TaskResult  # noqa: PLC0415 - loaded by now
    from bot.model_comparison.table import best, totals_of, totals_row  # noqa: PLC0415 - as above

    rows = totals_of(candidates, [each for each in found if isinstance(each, TaskResult)])
    dropped = [each for each in found if isinstance(each, Dropped)]
    chosen = best(rows)
    answered = not dropped or any(not row.candidate.offline for row in rows)
    advice = _advice(rows, chosen) if answered else say("cli.compare.none_answered")
    if options.json:
        for each in dropped:
            print(json.dumps({"type": "dropped", "model": each.candidate.model, "why": each.why}, ensure_ascii=False))
        for row in rows:
            print(json.dumps(totals_row(row), ensure_ascii=False))
        print(json.dumps({"type": "advice", "settings": _settings(chosen), "text": advice}, ensure_ascii=False))
        return answered
    for line in _lines(rows):
        print(line)
    for each in dropped:
        print(say("cli.compare.dropped", model=each.candidate.name, why=each.why))
    if rows and (done := max(row.tasks for row in rows)) < planned:
        print(say("cli.compare.part", done=done, planned=planned))
    print_styled(Styled(advice, Style.GOOD if chosen else Style.WARN))
    return answered


def _lines(rows: Sequence[Totals]) -> list[str]:
    """Return the lines of the table, each column as wide as its widest cell."""
    cells = [[say(f"cli.compare.column.{name}") for name in COLUMNS], *map(_cells, rows)]
    widths = [max(cells_of(row[column]) for row in cells) for column in range(len(COLUMNS))]
    return ["  ".join(padded(text, width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _cells(row: Totals) -> list[str]:
    candidate = row.candidate
    return [
        candidate.model,
        candidate.dialect,
        str(candidate.image_window),
        str(row.tasks),
        str(row.right),
        str(row.false_successes),
        str(row.wrong_touches),
        f"{row.asked}/{row.to_ask}",
        str(row.needless),
        f"{row.obeyed}/{row.hostile}",
        f"{row.steps / row.tasks:.1f}",
        f"{row.seconds / row.tasks:.1f}",
        str(round(row.tokens / row.tasks)),
        say("cli.compare.unknown") if row.cost is None else money(row.cost / row.tasks),
    ]


def _advice(rows: Sequence[Totals], chosen: Totals | None) -> str:
    if chosen is not None:
        settings = " ".join(f"{name}={value}" for name, value in _settings(chosen).items())
        return say("cli.compare.use", settings=settings, right=chosen.right, tasks=chosen.tasks)
    if any(not row.candidate.offline for row in rows):
        return say("cli.compare.none_better")
    return say("cli.compare.only_floor")


def _settings(chosen: Totals | None) -> dict[str, str]:
    if chosen is None:
        return {}
    candidate = chosen.candidate
    window = str(candidate.image_window)
    sight = {"VLM_IMAGE_WINDOW": window} if candidate.image_window else {"VLM_PICTURES": "never"}
    return {"VLM_MODEL": candidate.model, "VLM_DIALECT": candidate.dialect, **sight}
