"""A process with a desk that kills itself right after the commit that it is told to die at.

Arguments: the data directory, and "accept", "question", "answer", "end" or "sending".
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from agent.events import Asked, TaskEnded, TaskEvent
from agent.questions import QuestionKind
from bot.domain.task import TaskState
from bot.domain.task_request import Origin, TaskRequest
from bot.store.directory import DataDirectory
from tests.bot.tasks.bench import ANNA, HERE, PATIENCE, Bench, bench
from tests.fakes.echo import EchoMind

WISH = TaskRequest("open the browser", ANNA, Origin(HERE, "77"))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(path: Path, moment: str) -> None:
    asking = moment in {"question", "answer"}
    async with bench(path, EchoMind(question=QuestionKind.ASK if asking else None)) as one:
        await live(one, moment)


async def live(one: Bench, moment: str) -> None:
    def changed(_task: str) -> None:
        if moment == "accept":
            die()

    def happened(_task: str, event: TaskEvent) -> None:
        if (moment, type(event)) in {("question", Asked), ("end", TaskEnded)}:
            die()

    one.task_service.subscribe(changed)
    one.task_service.on_event(happened)
    task = (await one.task_service.accept(WISH)).task
    async with asyncio.timeout(PATIENCE):
        if moment == "answer":
            await one.until(task, TaskState.WAITING)
            (question,) = await one.task_service.open_questions()
            # The first to hear of the committed answer; the agent is told after that.
            one.task_service.subscribe(lambda _task: die())
            await one.task_service.answer(question.question.id, "blue", ANNA)
        await one.until(task, TaskState.ENDED)
        (row,) = await one.store.outbox.pending(one.clock.now)
        assert await one.store.outbox.sending(row.id)
        die()


if __name__ == "__main__":
    with DataDirectory(Path(sys.argv[1])) as directory:
        asyncio.run(main(directory.path, sys.argv[2]))
