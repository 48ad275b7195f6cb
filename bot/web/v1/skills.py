"""Skills: which there are, and what each is done with."""

from __future__ import annotations

from fastapi import APIRouter

from bot.domain.right import Right
from bot.web.v1.asking import Caller, page
from bot.web.v1.models import Listed, ParameterInfo, SkillInfo

router = APIRouter(tags=["skills"])


@router.get("/skills")
async def list_skills(calls: Caller) -> Listed[SkillInfo]:
    """All of them; a task follows one by its name, with its arguments."""
    calls.require(Right.USE)
    infos = [
        SkillInfo(
            name=skill.name,
            description=skill.description,
            apps=list(skill.apps),
            version=None if skill.recorded is None else skill.recorded.version,
            parameters=[
                ParameterInfo(name=each.name, example=each.example, about=each.about)
                for each in (() if skill.recorded is None else skill.recorded.parameters)
            ],
        )
        for skill in calls.services.skills.found.values()
    ]
    return page(infos, max(1, len(infos)), None)
