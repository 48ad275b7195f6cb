"""The routes and models of skills: list them with their parameters, and save tasks as skills."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from fastapi import APIRouter
from pydantic import Field

from agent.recorded_skills.skill_file import Parameter
from agent.skills import saving
from agent.skills.library import Skill, load_skills
from bot.application.access import Unknown, verdict
from bot.commands.skill_figures import figures_of
from bot.commands.skills import always_typed, change, left_to_model, saved_words, shown_words
from bot.domain.right import Right
from bot.texts import listed, say, spoken
from bot.web.v1.asking import Caller, Id, whole
from bot.web.v1.calls import Calls
from bot.web.v1.models import NAME_LIMIT, Arguments, Got, Listed, Sent
from devices.wording import said


class ParameterInfo(Got):
    """A parameter of a recorded skill."""

    name: str
    example: str = Field(description="What it was when the skill was recorded.")
    about: str


class RecordingInfo(Got):
    """The task that a recorded skill was made from, and what that task took."""

    text: str = Field(
        description="The task in words, with its parameters in braces. Everyone who may give tasks sees a saved skill."
    )
    task: str = Field(description="The task that it was recorded from; empty where that is not known.")
    steps: int


class SkillFiguresInfo(Got):
    """Statistics of a recorded skill's runs, and what they saved compared with the recorded task."""

    runs: int
    succeeded: int
    seconds: float
    tokens: int
    money: float | None = Field(description="Null where no price was known.")
    proven: bool = Field(description="Whether it has worked with other arguments than those it was made of.")
    again: str = Field(description="The task to save a new version from, since a model often had to help; else empty.")
    step: int = Field(description="Where it had to help, counted from 1; 0 for nowhere.")


class SkillInfo(Got):
    """A skill: a saved way of doing something, which a task follows if it names the skill."""

    name: str
    description: str
    apps: list[str] = Field(description="The packages of the apps that it is for; empty for any.")
    version: int | None = Field(description="Of the recording; null for a skill in words alone.")
    parameters: list[ParameterInfo]
    may_change: bool = Field(description="Whether whoever asks may rename and delete it.")
    recording: RecordingInfo | None = Field(description="Null for a skill in words alone.")
    figures: SkillFiguresInfo | None = Field(description="Null for a skill in words alone, and before the first run.")
    told: str = Field(default="", description="What there is to say of it when it was saved or changed.")


class RefusedSkill(Got):
    """A folder that is not a valid skill, and the reason."""

    folder: str
    why: str


class RefusedSkills(Listed[RefusedSkill]):
    """The folders that are not valid skills, and their location."""

    root: str


class SkillName(Sent):
    """The new name of a skill."""

    name: str = Field(min_length=1, max_length=NAME_LIMIT)


class SkillVersion(Sent):
    """A former version of a skill, to be restored."""

    version: str = Field(min_length=1, max_length=NAME_LIMIT)


class SkillRemoved(Got):
    """The answer to deleting a skill: what still uses it."""

    planned: list[str] = Field(description="The schedules that are still planned with it.")


class NewDraft(Sent):
    """A task that is to become a skill."""

    task: str = Field(min_length=1, max_length=NAME_LIMIT)
    name: str = Field(min_length=1, max_length=NAME_LIMIT)
    parameters: Arguments | None = Field(
        default=None, description="Parameters with their values as they stand in the task; left out, they are proposed."
    )


class DraftInfo(Got):
    """A draft of a skill made from a task. POST /skills/drafts/{id}/save saves exactly this."""

    id: str
    name: str
    text: str = Field(description="The task in words, with its parameters in braces.")
    parameters: list[ParameterInfo]
    steps: int
    by_model: int = Field(description="How many of its steps a model does each time.")
    always: list[str] = Field(description="Texts that are typed each time, whatever its arguments are.")
    told: str = Field(description="All that in words, for a person to confirm.")


router = APIRouter(tags=["skills"])


def _parameters(found: Sequence[Parameter]) -> list[ParameterInfo]:
    return [ParameterInfo(name=each.name, example=each.example, about=each.about) for each in found]


async def _may_change(calls: Calls, skill: Skill) -> bool:
    services = calls.services
    if skill.folder.parent != services.skills.own:
        return False
    if verdict(calls.asking(), services.policy, Right.ADMIN).allowed:
        return True
    owner = None if skill.recorded is None else await services.store.skills.owner(skill.name)
    return owner is not None and services.policy.same(owner, calls.person)


async def _info(calls: Calls, skill: Skill, told: str = "") -> SkillInfo:
    recorded = skill.recorded
    figures = await figures_of(skill, calls.services.store)
    return SkillInfo(
        name=skill.name,
        description=skill.described(spoken()),
        apps=list(skill.apps),
        version=None if recorded is None else recorded.version,
        parameters=[] if recorded is None else _parameters(recorded.parameters),
        may_change=await _may_change(calls, skill),
        recording=None
        if recorded is None
        else RecordingInfo(text=recorded.task, task=recorded.source.task, steps=len(recorded.steps)),
        figures=None if figures is None else SkillFiguresInfo(**asdict(figures)),
        told=told,
    )


@router.get("/skills")
async def list_skills(calls: Caller) -> Listed[SkillInfo]:
    """List all skills. A task follows a skill if it gives the skill's name, with arguments."""
    calls.require(Right.USE)
    skills = calls.services.skills
    if skills.own is not None:
        await asyncio.to_thread(saving.refresh, skills)  # a folder may have been added by hand
    return whole([await _info(calls, skill) for skill in skills.found.values()])


@router.get("/skills/refused")
async def list_refused_skills(calls: Caller) -> RefusedSkills:
    """List the operator's folders that are not valid skills; for admins."""
    calls.require(Right.ADMIN)
    own = calls.services.skills.own
    found = () if own is None else (await asyncio.to_thread(load_skills, own, shipped=False)).refused
    infos = [RefusedSkill(folder=one.folder.rpartition("/")[2], why=said(one.why)) for one in found]
    return RefusedSkills(data=whole(infos).data, root="" if own is None else str(own))


@router.post("/skills/drafts", status_code=201)
async def draft_skill(wish: NewDraft, calls: Caller) -> DraftInfo:
    """Make a draft of a skill from a successful task, and show it. Nothing is saved as a skill yet."""
    draft = await calls.skills().draft(await calls.task(wish.task), wish.name, wish.parameters)
    made = draft.skill
    return DraftInfo(
        id=draft.id,
        name=draft.name,
        text=made.task,
        parameters=_parameters(made.parameters),
        steps=len(made.steps),
        by_model=left_to_model(made),
        always=always_typed(made),
        told=shown_words(made),
    )


@router.post("/skills/drafts/{draft}/save", status_code=201)
async def save_skill(draft: Id, calls: Caller) -> SkillInfo:
    """Save a draft exactly as it was shown: as a new skill, or as the next version of one of the caller's skills."""
    calls.require(Right.USE)
    if await calls.services.store.skills.draft(draft, now=calls.services.clock()) is None:
        raise Unknown(say("save.gone"))
    found = await calls.skills().drafted(draft)
    version = await calls.skills().save(found)
    return await _info(calls, calls.services.skills.found[found.name], saved_words(found, version))


def _known(calls: Calls, name: str) -> str:
    """Return the stored name of a skill. Raises Unknown."""
    calls.require(Right.USE)
    found = calls.services.skills.found
    if name.lower() not in found:
        raise Unknown(say("skills.unknown", name=name[:40], names=listed(found) or "-"))
    return name.lower()


@router.patch("/skills/{skill}")
async def rename_skill(skill: Id, wish: SkillName, calls: Caller) -> SkillInfo:
    """Rename one of the caller's skills; an admin may rename any that was saved here."""
    new = wish.name.lower()
    await calls.skills().rename(_known(calls, skill), new)
    return await _info(calls, calls.services.skills.found[new])


@router.post("/skills/{skill}/restore")
async def restore_skill(skill: Id, wish: SkillVersion, calls: Caller) -> SkillInfo:
    """Make a former version of one of the caller's skills the newest one. An admin may do this with any skill that was
    saved here.
    """
    name = _known(calls, skill)
    told = await change(calls.skills(), "restore", name, wish.version)
    return await _info(calls, calls.services.skills.found[name], told)


@router.delete("/skills/{skill}")
async def delete_skill(skill: Id, calls: Caller) -> SkillRemoved:
    """Delete one of the caller's skills with its statistics. An admin may delete any skill that was saved here."""
    return SkillRemoved(planned=await calls.skills().remove(_known(calls, skill)))
