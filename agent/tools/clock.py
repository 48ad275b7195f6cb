"""The time tool: the current time in a zone, and the time between two dates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts

TEXTS: Final = Texts(
    {
        "time": "look at the time",
        "now": "it is {time} ({zone})",
        "between": "from {start} to {end} it is {days} days ({hours} hours)",
    },
    zh={
        "time": "查看时间",
        "now": "现在是 {time}（{zone}）",
        "between": "从 {start} 到 {end} 相隔 {days} 天（{hours} 小时）",
    },
)


class Time(Action):
    """The time now in a zone; with since and until also how long it is between two dates."""

    kind: Literal["time"] = "time"
    zone: str = Field(default="", max_length=60, description='Such as Europe/Berlin; "" for that of the service.')
    since: str = Field(default="", max_length=40, description="A date or time, such as 2026-03-01 or 2026-03-01T08:00.")
    until: str = Field(default="", max_length=40, description='The same; "" for now.')


def time_tool(zone: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Tool[Time]:
    """Return the time tool for a service in this time zone ("" for UTC). `now` returns the current time."""

    async def run(action: Time, _context: ToolContext) -> ActionResult:
        name = action.zone or zone or "UTC"
        there = _zone(name)
        at = now().astimezone(there)
        told = at.strftime("%A %Y-%m-%d %H:%M")
        effect = Worded.of(TEXTS.words("now", time=told, zone=name))
        if not action.since:
            return ActionResult((effect,), data={"now": at.isoformat(timespec="seconds")})
        start, end = _date(action.since, there), _date(action.until, there) if action.until else at
        seconds = (end - start).total_seconds()
        days, hours = round(seconds / 86_400, 2), round(seconds / 3_600, 2)
        shown = [each.isoformat(timespec="minutes") for each in (start, end)]
        words = TEXTS.words("between", start=shown[0], end=shown[1], days=f"{days:g}", hours=f"{hours:g}")
        return ActionResult((effect, Worded.of(words)), data={"now": at.isoformat(timespec="seconds"), "days": days})

    return Tool(model=Time, describe=lambda _action, _: TEXTS.words("time"), gate=ungated, repeatable=True, run=run)


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ActionError(
            "Not done: there is no such zone. They are called as Europe/Berlin or Asia/Shanghai."
        ) from error


def _date(text: str, zone: tzinfo) -> datetime:
    try:
        read = datetime.fromisoformat(text.strip())
        return read if read.tzinfo is not None else read.replace(tzinfo=zone)
    except (ValueError, OverflowError) as error:
        raise ActionError("Not done: dates are written as 2026-03-01 or 2026-03-01T08:00.") from error
