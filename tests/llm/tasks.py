"""Fifty tasks on virtual phones by a model that can do hardly any of them (`make llm-tasks`): nothing breaks over its
answers, and nothing is called done that is not.

`ARGS="20 30"`: twenty tasks, within thirty minutes. What is not done by then is not counted.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from dataclasses import replace

from agent.limits import TaskLimits
from bot.config.settings import Settings
from bot.model_comparison.candidates import Candidate, candidates_of
from bot.model_comparison.running import TaskResult, do_task
from bot.model_comparison.tasks import sample, suite
from tests.llm.server import LONG_WINDOW, NAME, serving

TASKS = 50
MINUTES = 120.0
MOST_MINUTES = 10.0
"""Of one task. It reads ninety tokens a second at best, and the tools alone are four thousand."""
PATIENCE_S = 600.0


class Faults(logging.Handler):
    """The errors that were logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take one in."""
        self.found.append(self.format(record))


def candidate_at(base_url: str) -> Candidate:
    """The model of the server, with lists instead of pictures."""
    settings = Settings(
        vlm_base_url=base_url,
        vlm_model=NAME,
        vlm_pictures="never",
        vlm_context=LONG_WINDOW,
        vlm_timeout=PATIENCE_S,
        guard="rules",
    )
    (made,) = candidates_of(settings)
    return replace(made, config=replace(made.config, limits=TaskLimits(minutes=MOST_MINUTES)))


async def work(most: int, minutes: float) -> int:
    """Do the tasks, and say how each ended. 1 where something broke, or was called done and is not."""
    faults = Faults()
    logging.getLogger().addHandler(faults)
    results: list[TaskResult] = []
    with serving("tasks") as base_url:
        candidate = candidate_at(base_url)
        try:
            async with asyncio.timeout(minutes * 60):
                for task in sample(suite(1), most):
                    result = await do_task(candidate, task)
                    results.append(result)
                    said = " ".join(result.summary.split())[:80]
                    sys.stdout.write(
                        f"{len(results)} {task.kind}: {result.outcome}, {result.seconds:.0f} s, "
                        f"{result.usage.input} + {result.usage.output} tokens: {said}\n"
                    )
                    sys.stdout.flush()
        except TimeoutError:
            sys.stdout.write(f"The {minutes:g} minutes are over.\n")
        finally:
            await candidate.close()
    false = [each.task.text for each in results if each.verdict.false_success]
    endings = ", ".join(f"{number} {outcome}" for outcome, number in Counter(each.outcome for each in results).items())
    sys.stdout.write(
        f"{len(results)} of {most} tasks: {endings}; {len(false)} false successes, {len(faults.found)} errors\n"
    )
    sys.stdout.writelines(f"{each}\n" for each in (*false, *faults.found))
    return int(bool(false or faults.found or not results))


if __name__ == "__main__":
    given = [float(each) for each in sys.argv[1:]]
    sys.exit(asyncio.run(work(int(given[0]) if given else TASKS, given[1] if len(given) > 1 else MINUTES)))
