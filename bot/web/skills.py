"""Recorded skills, schedules and watches in the page, for whoever looks at it: each sees and changes what is theirs.

What is done here are the commands of every chat, given with a form in the place of typed words.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.skills import saving
from agent.skills.loading import Skill
from bot.cards.watch import reads_words, told_words, value_words
from bot.commands.request import Refused, Services, verdict
from bot.commands.request import Request as Asked
from bot.commands.scheduling import may_see_schedule
from bot.commands.skills import always_typed, drafted, figures_of, left_to_model
from bot.domain.chat import Intake
from bot.domain.incoming import CommandCall, Invocation
from bot.domain.right import Right
from bot.domain.schedule import Schedule
from bot.store.skills import Draft
from bot.texts import say, spoken
from bot.views.tasks import Json, schedule_json
from bot.web.api import ID_LIMIT, SAID_LIMIT, body_of
from bot.web.connect_folders import FolderKind
from bot.web.http import RequestRefused, get, post
from bot.web.viewers import Viewer, Viewers
from devices.wording import said

VALUE_LIMIT: Final = 4_000
"""Characters of a parameter, as a recorded skill has them."""


class _Sent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WishedSkill(_Sent):
    """A task that is to become a skill, with its parameters as a person wants them; None for proposed ones."""

    task: str = Field(min_length=1, max_length=ID_LIMIT)
    name: str = Field(min_length=1, max_length=ID_LIMIT)
    parameters: Mapping[str, str] | None = Field(default=None, max_length=20)


class Order(_Sent):
    """One of the commands that these pages give."""

    name: Literal["skills", "save", "schedule", "schedules", "watch"]
    options: Mapping[str, str] = Field(default_factory=dict, max_length=20)
    text: str = Field(default="", max_length=SAID_LIMIT)


class SkillPages:
    """Serves the pages of skills and of schedules. `own` are the folders that admins bring in."""

    def __init__(self, services: Services, viewers: Viewers, intake: Intake, own: FolderKind) -> None:
        self._services = services
        self._viewers = viewers
        self._intake = intake
        self._own = own

    def routes(self) -> list[Route]:
        """What is served."""
        return [
            get("/api/skills", self.skills, Right.USE),
            post("/api/skills/draft", self.draft, Right.USE),
            post("/api/skills/order", self.order, Right.USE),
            get("/api/plans", self.plans, Right.USE),
        ]

    async def skills(self, request: Request) -> Response:
        """All skills, with what came of the recorded ones; for admins the folders that cannot be used as well."""
        _, asked = self._asking(request)
        services = self._services
        admin = verdict(asked, services.policy, Right.ADMIN).allowed
        own = self._own.root
        read = await asyncio.to_thread(self._read_again)
        rows = [await self._skill_json(skill, asked, admin=admin) for skill in services.skills.found.values()]
        told: Json = {"skills": rows, "admin": admin}
        if admin:
            told["folder"] = str(own)
            told["refused"] = [{"folder": one.folder.rpartition("/")[2], "why": said(one.why)} for one in read]
        return JSONResponse(told, headers={"Cache-Control": "no-store"})

    async def draft(self, request: Request) -> Response:
        """What would be saved of a task; `save` with its `draft` keeps exactly that."""
        wish = await body_of(request, WishedSkill)
        _, asked = self._asking(request)
        if any(len(value) > VALUE_LIMIT for value in (wish.parameters or {}).values()):
            raise RequestRefused(413, say("connect.long"))
        try:
            made = await drafted(asked, self._services, wish.task, wish.name, wish.parameters)
        except Refused as refused:
            raise RequestRefused(409, str(refused)) from None
        return JSONResponse(_draft_json(made))

    async def order(self, request: Request) -> Response:
        """Give one command; the answer is what it says."""
        order = await body_of(request, Order)
        viewer, _ = self._asking(request)
        call = CommandCall(order.name, order.options, order.text)
        event = f"page:{secrets.token_hex(8)}"
        reply = await self._intake.invoke(Invocation(viewer.person, viewer.place(""), event, call))
        message = reply.message
        text = "\n".join(filter(None, [message.heading, message.body] if message else [reply.toast]))
        if reply.refused:
            raise RequestRefused(409, text)
        return JSONResponse({"text": text})

    async def plans(self, request: Request) -> Response:
        """Schedules and watches that may be seen and changed."""
        _, asked = self._asking(request)
        found = [
            _plan_json(one)
            for one in await self._services.store.schedules.all()
            if may_see_schedule(asked, self._services, one)
        ]
        return JSONResponse(
            {"schedules": found, "zone": self._services.zone.key}, headers={"Cache-Control": "no-store"}
        )

    def _asking(self, request: Request) -> tuple[Viewer, Asked]:
        """Who looks, and what they ask for, as commands see it."""
        viewer = self._viewers.of(request)
        return viewer, Asked(viewer.person, viewer.place(""), "", CommandCall(""))

    def _read_again(self) -> tuple[Any, ...]:
        """The folders that cannot be used; one may have been put there by hand."""
        saving.refresh(self._services.skills)
        return self._own.read(self._own.root).refused

    async def _skill_json(self, skill: Skill, asked: Asked, *, admin: bool) -> Json:
        services, recorded = self._services, skill.recorded
        own = skill.folder.parent == self._own.root
        told: Json = {
            "name": skill.name,
            "description": skill.described(spoken()),
            "apps": skill.apps,
            "own": own,
            "recorded": None,
            "figures": None,
            "may_change": own and admin,
        }
        if recorded is None:
            return told
        owner = await services.store.skills.owner(skill.name)
        figures = await figures_of(skill, services)
        return told | {
            "may_change": own and (admin or (owner is not None and services.policy.same(owner, asked.person))),
            "figures": None if figures is None else asdict(figures),
            "recorded": {
                "task": recorded.task,
                "version": recorded.version,
                "steps": len(recorded.steps),
                "parameters": [each.model_dump() for each in recorded.parameters],
                "source": recorded.source.model_dump(),
            },
        }


def _draft_json(draft: Draft) -> Json:
    made = draft.skill
    return {
        "draft": draft.id,
        "name": draft.name,
        "task": made.task,
        "parameters": [each.model_dump() for each in made.parameters],
        "steps": len(made.steps),
        "by_model": left_to_model(made),
        "always": always_typed(made),
    }


def _plan_json(one: Schedule) -> Json:
    told = schedule_json(one)
    watch = one.plan.watch
    if watch is not None:
        last, told_before, told_last = one.readings.last, one.readings.before, one.readings.told
        told["reads"] = reads_words(watch)
        told["when"] = told_words(watch)
        told["value"] = "" if last is None else value_words(last)
        told["before"] = "" if told_before is None else value_words(told_before)
        told["told"] = "" if told_last is None else value_words(told_last)
        told["misses"] = one.readings.misses
    return told
