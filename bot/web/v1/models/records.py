"""The API's models of schedules, usage, quotas, rights and the audit."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent.ports.memory import FactSource
from bot.domain.watch import MOST_CONDITION
from bot.web.v1.models.base import NAME_LIMIT, Got, Listed, Name
from bot.web.v1.models.tasks import WhatToDo


class NewSchedule(WhatToDo):
    """A task to repeat at set times, as text or as a skill with arguments. With `tell_me_when` it is a watch. A watch
    is paused until POST /schedules/{id}/resume confirms that its condition was understood correctly.
    """

    rule: str = Field(
        min_length=1, max_length=NAME_LIMIT, description="`every 2h`, `every monday at 8 pm`, `cron 0 8 * * 1-5`."
    )
    tell_me_when: str = Field(
        default="", max_length=MOST_CONDITION, description="Makes it a watch: `the price is below $50`, `it changes`."
    )
    zone: Name = ""


class ReadingsInfo(Got):
    """What a watch reads and when it reports, as text; missing values are empty."""

    reads: str
    when: str = Field(description="When it is told.")
    value: str = Field(description="The last one that was read.")
    read: float | None = Field(description="When that was, in Unix seconds; null where it is not known.")
    now: str = Field(description="The last one that was told.")
    before: str = Field(description="The one before that.")
    misses: int = Field(description="How often in a row nothing was found.")


class ScheduleInfo(Got):
    """A schedule. Times are Unix seconds."""

    id: str
    rule: str
    zone: str
    text: str
    person: str
    person_name: str
    platform: str
    options: dict[str, Any] = Field(description="How it is to be done, as far as that is more than what is set.")
    due: float
    paused: bool
    task: str | None
    allowed: dict[str, Any] | None = Field(description="What a person has allowed ahead for it.")
    watch: dict[str, Any] | None = Field(description="What is read and compared each time, where it watches.")
    last: dict[str, Any] | None = Field(description="The last reading.")
    readings: ReadingsInfo | None = Field(description="The same in words, where it watches.")
    told: str = Field(default="", description="What there is to say of it when it was made or changed.")


class UsageSum(Got):
    """The total usage of several tasks."""

    tasks: int
    steps: int
    seconds: float
    tokens: dict[str, Any]
    unpriced: int
    voice: dict[str, Any]


class UsageInfo(UsageSum):
    """The usage of one day, person, phone, role or model."""

    key: str
    label: str


class Statistics(Listed[UsageInfo]):
    """The usage by group, and the total."""

    total: UsageSum


class QuotaInfo(Got):
    """How much of the limits of their tier the caller has used today. `tier` is null for people without limits."""

    tier: str | None
    ends: float | None = None
    used: dict[str, float] = Field(default_factory=dict)
    limits: dict[str, float | None] = Field(default_factory=dict)


class FactInfo(Got):
    """A fact that is remembered about a person. Times are Unix seconds."""

    id: int
    text: str
    phone: str = Field(description="The id of the only phone that it holds for; empty for any.")
    source: FactSource = Field(description="Who said it: the person, or with their yes a screen or a page.")
    created: float
    used: float | None = Field(description="When it was last recalled.")


class WhoInfo(Got):
    """The caller of the API: their token, account and rights."""

    token: str = Field(description="Its name; empty for the operator, who needs none.")
    person: str
    name: str
    rights: list[str]
    phones: list[str] = Field(description="The only phones that the rights are for; empty for all.")
    expires: float | None


class GrantInfo(Got):
    """A right that a person or role has, for one phone or for all."""

    person: str
    right: str
    phone: str
    from_settings: bool


class AuditInfo(Got):
    """One entry of the audit log: something that a person did."""

    id: int
    at: float
    kind: str
    person: str
    name: str
    task: str | None
    detail: Any
