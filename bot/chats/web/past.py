"""Tasks of now and before: the list, searched and a page at a time, and what a replay needs."""

from __future__ import annotations

from aiohttp import web

from agent.outcome import Outcome
from bot.chats.web.gate import refuse
from bot.chats.web.views import TASKS_SHOWN, ConsoleSearch, ConsoleSteps, ConsoleTasks, console_task_json
from bot.store.search import TaskFilter
from bot.tasks.model import TaskState
from bot.tasks.views import step_json
from bot.texts import listed, say

WISH_LIMIT = 200
"""Characters of what is searched for."""
STANDINGS = frozenset({*TaskState, *Outcome} - {TaskState.ENDED})


class Past:
    """Everything is read from the store: it is the same after a restart."""

    def __init__(self, tasks: ConsoleTasks, search: ConsoleSearch, steps: ConsoleSteps) -> None:
        self._tasks = tasks
        self._search = search
        self._steps = steps

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [
            web.get("/api/tasks", self.tasks),
            web.get("/api/choices", self.choices),
            web.get("/api/tasks/{task}", self.task),
            web.get("/api/tasks/{task}/steps", self.steps),
        ]

    async def tasks(self, request: web.Request) -> web.Response:
        """The latest tasks that are wanted, or with `before` those accepted before that one; `more` when there are
        older ones. Wanted are `text`, `standing`, `phone` and `person` (platform:id), each when it is given.
        """
        query = request.query
        if any(len(value) > WISH_LIMIT for value in query.values()):
            return refuse(400, say("refusal.wish", most=WISH_LIMIT))
        standing = query.get("standing", "")
        if standing and standing not in STANDINGS:
            return refuse(400, say("refusal.one_of", name="standing", known=listed(sorted(STANDINGS))))
        before = query.get("before", "")
        if before and await self._tasks.get(before) is None:
            return refuse(400, say("refusal.before_task"))
        platform, _, person = query.get("person", "").partition(":")
        wanted = TaskFilter(query.get("text", ""), standing, query.get("phone", ""), platform, person)
        found = await self._search.find(wanted, TASKS_SHOWN + 1, before=before or None)
        shown = found[:TASKS_SHOWN]
        return web.json_response(
            {"tasks": [console_task_json(task) for task in shown], "more": len(found) > len(shown)}
        )

    async def choices(self, _: web.Request) -> web.Response:
        """Phones and people that tasks can be searched by."""
        choices = await self._search.choices()
        return web.json_response(
            {
                "phones": [{"id": phone, "name": name} for phone, name in choices.phones],
                "people": [
                    {"id": f"{platform}:{person}", "platform": platform, "name": name or person}
                    for platform, person, name in choices.people
                ],
            }
        )

    async def task(self, request: web.Request) -> web.Response:
        """One task."""
        found = await self._tasks.get(request.match_info["task"])
        return refuse(404, say("page.task.unknown")) if found is None else web.json_response(console_task_json(found))

    async def steps(self, request: web.Request) -> web.Response:
        """The steps of one task, none when it is unknown."""
        found = await self._tasks.get(request.match_info["task"])
        rows = await self._steps.of(found.id) if found is not None else ()
        names = {row.app: row.app_shown for row in rows}
        return web.json_response({"steps": [step_json(row, names) for row in rows]})
