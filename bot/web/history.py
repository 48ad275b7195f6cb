"""Tasks of now and before, searched and a page at a time, what a replay needs, and what they have used."""

from __future__ import annotations

import time
from zoneinfo import ZoneInfo

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.outcome import Outcome
from bot.domain.task import TaskState
from bot.domain.zones import last_days
from bot.store.search import TaskFilter
from bot.store.usage import UsageBy, UsageTable
from bot.texts import listed, say
from bot.views.tasks import step_json, totals_json, usage_json
from bot.web.http import get, refuse
from bot.web.viewers import Viewers
from bot.web.views import TASKS_SHOWN, ConsoleSearch, ConsoleSteps, ConsoleTasks, console_task_json

WISH_LIMIT = 200
"""Characters of what is searched for."""
STANDINGS = frozenset({*TaskState, *Outcome} - {TaskState.ENDED})


class TaskHistory:
    """Everything is read from the store: it is the same after a restart."""

    def __init__(self, tasks: ConsoleTasks, search: ConsoleSearch, steps: ConsoleSteps, viewers: Viewers) -> None:
        self._viewers = viewers
        self._tasks = tasks
        self._search = search
        self._steps = steps

    def routes(self) -> list[Route]:
        """What is served."""
        return [
            get("/api/tasks", self.tasks),
            get("/api/choices", self.choices),
            get("/api/tasks/{task}", self.task),
            get("/api/tasks/{task}/steps", self.steps),
        ]

    async def tasks(self, request: Request) -> Response:
        """The latest tasks that are wanted, or with `before` those accepted before that one; `more` when there are
        older ones. Wanted are `text`, `standing`, `phone` and `person` (platform:id), each when it is given.
        """
        query = request.query_params
        if any(len(value) > WISH_LIMIT for value in query.values()):
            return refuse(400, say("refusal.wish", most=WISH_LIMIT))
        standing = query.get("standing", "")
        if standing and standing not in STANDINGS:
            return refuse(400, say("refusal.one_of", name="standing", known=listed(sorted(STANDINGS))))
        before = query.get("before", "")
        if before and await self._tasks.get(before) is None:
            return refuse(400, say("refusal.before_task"))
        platform, _, person = query.get("person", "").partition(":")
        viewer = self._viewers.of(request)
        wanted = TaskFilter(query.get("text", ""), standing, query.get("phone", ""), platform, person, viewer.accounts)
        found = await self._search.find(wanted, TASKS_SHOWN + 1, before=before or None)
        shown = found[:TASKS_SHOWN]
        tasks = [console_task_json(task, viewer.home) for task in shown if viewer.sees(task)]
        return JSONResponse({"tasks": tasks, "more": len(found) > len(shown)})

    async def choices(self, request: Request) -> Response:
        """Phones and people that tasks can be searched by."""
        choices = await self._search.choices(self._viewers.of(request).accounts)
        return JSONResponse(
            {
                "phones": [{"id": phone, "name": name} for phone, name in choices.phones],
                "people": [
                    {"id": f"{platform}:{person}", "platform": platform, "name": name or person}
                    for platform, person, name in choices.people
                ],
            }
        )

    async def task(self, request: Request) -> Response:
        """One task."""
        viewer, found = self._viewers.of(request), await self._tasks.get(request.path_params["task"])
        if found is None or not viewer.sees(found):
            return refuse(404, say("page.task.unknown"))
        return JSONResponse(console_task_json(found, viewer.home))

    async def steps(self, request: Request) -> Response:
        """The steps of one task, none when it is unknown."""
        found = await self._tasks.get(request.path_params["task"])
        seen = found is not None and self._viewers.of(request).sees(found)
        rows = await self._steps.of(found.id) if found is not None and seen else ()
        names = {row.app: row.app_shown for row in rows}
        return JSONResponse({"steps": [step_json(row, names) for row in rows]})


DAYS = 30
MOST_DAYS = 366


class UsageHistory:
    """Sums of the last days, by day, person, phone, role or model."""

    def __init__(self, usage: UsageTable, zone: ZoneInfo, viewers: Viewers) -> None:
        self._viewers = viewers
        self._usage = usage
        self._zone = zone

    def routes(self) -> list[Route]:
        """What is served."""
        return [get("/api/usage", self.usage)]

    async def usage(self, request: Request) -> Response:
        """Rows `by` a group over `days`, and their sum. Days without tasks are left out."""
        days = request.query_params.get("days", str(DAYS))
        if not (days.isascii() and days.isdigit() and len(days) < 4 and 1 <= int(days) <= MOST_DAYS):
            return refuse(400, say("refusal.days", most=MOST_DAYS))
        try:
            by = UsageBy(request.query_params.get("by", UsageBy.DAY.value))
        except ValueError:
            return refuse(400, say("refusal.one_of", name="by", known=listed(UsageBy)))
        people = self._viewers.of(request).accounts
        begin, end = last_days(int(days), time.time(), self._zone)
        rows = await self._usage.grouped(by, begin, end, self._zone, people)
        total = await self._usage.total(begin, end, people)
        return JSONResponse({"rows": [usage_json(row) for row in rows], "total": totals_json(total)})
