"""Tasks of now and before: the list, a page at a time, and what a replay needs."""

from __future__ import annotations

from aiohttp import web

from bot.chats.web.gate import refuse
from bot.chats.web.views import TASKS_SHOWN, ConsoleSteps, ConsoleTasks, console_task_json
from bot.tasks.views import step_json


class Past:
    """Everything is read from the store: it is the same after a restart."""

    def __init__(self, tasks: ConsoleTasks, steps: ConsoleSteps) -> None:
        self._tasks = tasks
        self._steps = steps

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [
            web.get("/api/tasks", self.tasks),
            web.get("/api/tasks/{task}", self.task),
            web.get("/api/tasks/{task}/steps", self.steps),
        ]

    async def tasks(self, request: web.Request) -> web.Response:
        """The latest tasks, or with `before` those accepted before that one; `more` when there are older ones."""
        before = request.query.get("before", "")
        if before and await self._tasks.get(before) is None:
            return refuse(400, "`before` is the number of a task.")
        found = await self._tasks.recent(TASKS_SHOWN + 1, before=before or None)
        shown = found[:TASKS_SHOWN]
        return web.json_response(
            {"tasks": [console_task_json(task) for task in shown], "more": len(found) > len(shown)}
        )

    async def task(self, request: web.Request) -> web.Response:
        """One task."""
        found = await self._tasks.get(request.match_info["task"])
        return refuse(404, "There is no such task.") if found is None else web.json_response(console_task_json(found))

    async def steps(self, request: web.Request) -> web.Response:
        """The steps of one task, none when it is unknown."""
        found = await self._tasks.get(request.match_info["task"])
        rows = await self._steps.of(found.id) if found is not None else ()
        return web.json_response({"steps": [step_json(row) for row in rows]})
