"""What the tasks have used, for the page's chart."""

from __future__ import annotations

import time
from zoneinfo import ZoneInfo

from aiohttp import web

from bot.chats.web.gate import refuse
from bot.store.usage import UsageBy, UsageTable, UsageTotals
from bot.tasks.views import totals_json, usage_json
from bot.texts import listed, say
from bot.zones import last_days

DAYS = 30
MOST_DAYS = 366


class Consumption:
    """Sums of the last days, by day, person, phone or model."""

    def __init__(self, usage: UsageTable, zone: ZoneInfo) -> None:
        self._usage = usage
        self._zone = zone

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [web.get("/api/usage", self.usage)]

    async def usage(self, request: web.Request) -> web.Response:
        """Rows `by` a group over `days`, and their sum. Days without tasks are left out."""
        days = request.query.get("days", str(DAYS))
        if not (days.isascii() and days.isdigit() and len(days) < 4 and 1 <= int(days) <= MOST_DAYS):
            return refuse(400, say("refusal.days", most=MOST_DAYS))
        try:
            by = UsageBy(request.query.get("by", UsageBy.DAY.value))
        except ValueError:
            return refuse(400, say("refusal.one_of", name="by", known=listed(UsageBy)))
        begin, end = last_days(int(days), time.time(), self._zone)
        rows = await self._usage.grouped(by, begin, end, self._zone)
        total = sum((row.totals for row in rows), UsageTotals())
        return web.json_response({"rows": [usage_json(row) for row in rows], "total": totals_json(total)})
