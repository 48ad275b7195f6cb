"""Skills: those that people and programs request by name and arguments, and those that people record from a task,
confirm, and later rename, restore or delete.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from agent.front_matter import FolderRefused
from agent.recorded_skills.recording import DoneStep, NotSavable, parameters_given, proposed, steps_of, with_parameters
from agent.recorded_skills.skill_file import Parameter, RecordedSkill, Source
from agent.run import Outcome
from agent.skill_parameters import parameters_by
from agent.skills import saving
from agent.skills.library import Skill
from agent.task_results import JsonSchema
from bot.application.access import CallerActions, Refused
from bot.application.services import Services
from bot.cards.formatting import shortened
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.domain.task_request import SkillCall, TaskDraft
from bot.people.access import same_person
from bot.store.skills import Draft
from bot.texts import listed, say
from devices.wording import said, sentence_of

NEAR: Final = 0.5
"""How similar a typed name must be to a skill's name to be suggested, as a difflib ratio."""


def skill_named(name: str, services: Services) -> Skill:
    """Return the skill with this name (case-insensitive). Raises Refused, which suggests a similar name
    if there is one.
    """
    found = services.skills.found
    if (skill := found.get(name.lower())) is not None:
        return skill
    near = get_close_matches(name.lower(), found, n=1, cutoff=NEAR)
    names = listed(found) or "-"
    if near:
        raise Refused(say("skills.unknown_near", name=name[:40].lower(), near=near[0], names=names))
    raise Refused(say("skills.unknown", name=name[:40].lower(), names=names))


def draft_of_skill(
    draft: TaskDraft, call: SkillCall, services: Services, *, values: str = "", left: str = ""
) -> TaskDraft:
    """Return the draft with the skill call filled in. For a recorded skill, the task's text is made from the call; for
    any other skill, only if the draft has no text.

    `values` are the arguments as typed; `left` is typed text that belongs to no argument. Raises Refused for an unknown
    skill, and for text or arguments that do not fit a recorded skill.
    """
    found = skill_named(call.name, services)
    text = draft.text
    if found.recorded is not None:
        wish = worded(found, found.recorded, call.arguments, left)
        if text.strip() not in {"", wish}:
            raise Refused(say("skills.own_words", name=found.name))
    elif not (wish := text):
        values = values or " ".join(f"{key}={value}" for key, value in call.arguments.items())
        wish = (
            say("skills.wish_with", name=found.name, values=values) if values else say("skills.wish", name=found.name)
        )
    return replace(draft, text=wish, skill=replace(call, name=found.name))


def require_skill(call: SkillCall, services: Services) -> SkillCall:
    """Check that a skill call can still be carried out, and return it. The skill may have been deleted or its
    parameters may have changed since the call was made: then Refused is raised.
    """
    found = skill_named(call.name, services)
    if found.recorded is not None:
        worded(found, found.recorded, call.arguments)
    return call


def result_of_skill(call: SkillCall | None, services: Services) -> JsonSchema | None:
    """Return the JSON schema of the result that the called skill defines. None if there is no call, or if the result is
    plain text. Raises Refused for an unknown skill.
    """
    return None if call is None else skill_named(call.name, services).result


def worded(skill: Skill, recorded: RecordedSkill, arguments: Mapping[str, str], left: str = "") -> str:
    """Return the text of the task that a skill call stands for, with the arguments filled in. Raises Refused for
    unknown or missing arguments, and if `left`, text that belongs to no argument, is not empty.
    """
    wrong, missing = recorded.unknown(arguments), recorded.missing(arguments)
    name, takes = skill.name, listed(each.name for each in recorded.parameters)
    example = " ".join([name, *(f'{each.name}="{each.example}"' for each in recorded.parameters)])
    if (wrong or left) and not takes:
        raise Refused(say("skills.takes_none", name=name, names=listed(wrong) or shortened(left, 40), example=example))
    if wrong:
        raise Refused(say("skills.wrong", name=name, names=listed(wrong), takes=takes, example=example))
    if left:
        raise Refused(say("skills.left_over", name=name, text=shortened(left, 40), example=example))
    if missing:
        raise Refused(say("skills.missing", name=name, names=listed(missing), example=example))
    return recorded.asked(arguments)


class SkillCommands(CallerActions):
    """The actions on saved skills that one caller can perform. Every method raises NotAllowed, which is written to the
    audit log, or Refused.
    """

    async def draft(self, task: Task, name: str, given: Mapping[str, str] | None) -> Draft:
        """Make a draft of a skill from a finished task, and store it until the caller confirms it. `name` is the
        skill's name. `given` maps the wanted parameters to their values in the task; with None, the parameters are
        proposed automatically.
        """
        caller, services = self._caller, self._services
        await self._require(Right.USE, owner=task.person)
        name = saving.as_name(name)
        await self._require_to_change(name)
        async with _refusing():
            made = await _drafted(task, services, given, name)
            saving.check(services.skills, name)
        draft = Draft(secrets.token_hex(8), caller.person, name, task.id, made, services.clock())
        await services.store.skills.add_draft(draft)
        return draft

    async def drafted(self, number: str) -> Draft:
        """Return the caller's unconfirmed draft with this id. Raises Refused if it has expired or belongs to somebody
        else.
        """
        draft = await self._services.store.skills.draft(number, now=self._services.clock())
        if draft is None:
            raise Refused(say("save.gone"))
        if not same_person(draft.person, self._caller.person):
            raise Refused(say("save.not_yours"))
        return draft

    async def save(self, draft: Draft) -> int:
        """Save the draft exactly as the caller saw it, as a new skill or as the next version of an existing one.
        Returns the version number.
        """
        services, skills = self._services, self._services.skills
        await self._require_to_change(draft.name)
        if draft.name not in skills.found:
            await services.store.skills.removed(draft.name)  # of a former one whose folder somebody has taken away
        async with _refusing():
            version = await asyncio.to_thread(saving.save, skills, draft.name, draft.skill)
        rows = await services.task_service.steps(draft.task)
        verdicts = [each for row in rows for each in row.record.verdicts]
        await services.store.skills.saved(draft, verdicts, now=services.clock())
        return version

    async def rename(self, name: str, new: str) -> None:
        """Rename a skill. Its run statistics and the schedules that use it are kept."""
        name = await self._own(name)
        async with _refusing():
            await asyncio.to_thread(saving.rename, self._services.skills, name, new := saving.as_name(new))
        await self._services.store.skills.renamed(name, new)

    async def restore(self, name: str, version: str) -> int:
        """Make an earlier version of a skill the newest one. Returns the new version number."""
        name = await self._own(name)
        async with _refusing():
            return await asyncio.to_thread(saving.restore, self._services.skills, name, version)

    async def remove(self, name: str) -> list[str]:
        """Delete a skill and its run statistics. Returns the numbers of the schedules that still use it."""
        name = await self._own(name)
        async with _refusing():
            await asyncio.to_thread(saving.remove, self._services.skills, name)
        await self._services.store.skills.removed(name)
        drafts = [(one.id, one.plan.draft.skill) for one in await self._services.store.schedules.all()]
        return [number for number, skill in drafts if skill is not None and skill.name == name]

    async def _own(self, name: str) -> str:
        name = skill_named(name, self._services).name
        await self._require_to_change(name)
        return name

    async def _require_to_change(self, name: str) -> None:
        """Raise NotAllowed unless the skill is new, belongs to the caller, or the caller is an admin."""
        if name not in self._services.skills.found:
            return
        owner = await self._services.store.skills.owner(name)
        if owner is None or not self._services.policy.same(owner, self._caller.person):
            await self._require(Right.ADMIN)


@asynccontextmanager
async def _refusing() -> AsyncIterator[None]:
    """Turn the reasons why a skill cannot be stored or changed into Refused."""
    try:
        yield
    except (NotSavable, saving.NotChanged, FolderRefused) as refused:
        raise Refused(said(sentence_of(refused))) from refused
    except OSError as error:
        raise Refused(say("save.disk", why=error.strerror or str(error))) from error


async def _drafted(task: Task, services: Services, given: Mapping[str, str] | None, name: str) -> RecordedSkill:
    """The skill as it would be saved. Raises NotSavable or Refused."""
    if task.state is not TaskState.ENDED or task.outcome not in {Outcome.SUCCEEDED, Outcome.UNVERIFIED}:
        raise Refused(say("save.not_done", task=task.called))
    if task.parts:
        raise Refused(say("save.parts", task=task.called, name=name))
    rows = await services.task_service.steps(task.id)
    done = [
        DoneStep((), row.effect)
        if row.denied
        else DoneStep(row.record.actions, row.effect, followed=row.record.followed)
        for row in rows
    ]
    steps, end = steps_of(done)
    followed = task.request.skill
    former = None if followed is None else services.skills.recording(followed.name, followed.arguments)
    if given is None and followed is not None and former is not None:
        given = followed.arguments
    parameters: tuple[Parameter, ...]
    if given is not None:
        parameters = parameters_given(given)
    else:
        parameters = proposed(task.text, steps, [fact for row in rows for fact in row.effect])
        if services.reasoning is not None:
            parameters = await parameters_by(services.reasoning(), task.text, steps, parameters)
    seconds = (task.ended or 0.0) - (task.started or task.ended or 0.0)
    source = Source(
        task=task.id,
        recorded=task.ended or 0.0,
        seconds=round(seconds, 1),
        tokens=task.usage.tokens,
        cost=task.usage.cost,
    )
    if former is not None:  # what it takes without a recording is known from the first run alone
        taken = {name: getattr(former.source, name) for name in ("seconds", "tokens", "cost")}
        source = source.model_copy(update=taken)
    return with_parameters(task.text, steps, end, parameters, source)
