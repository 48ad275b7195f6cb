"""Skills: which there are, a task that follows one, and a run that is saved as one."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agent.front_matter import FolderRefused
from agent.outcome import Outcome
from agent.recorded_skills.drafting import (
    COVERED,
    DoneStep,
    NotSavable,
    parameters_given,
    proposed,
    steps_of,
    with_parameters,
)
from agent.recorded_skills.skill_file import FIELDS, Parameter, RecordedSkill, Source
from agent.skill_parameters import parameters_by
from agent.skills import saving
from bot.application.access import Refused, require
from bot.application.services import Services
from bot.application.skills import draft_of_skill, skill_named
from bot.application.task_access import task_named
from bot.cards.buttons import Deed, button
from bot.cards.formatting import shortened
from bot.commands.request import Request, plain
from bot.commands.resolve import task_meant
from bot.commands.skill_arguments import ARGUMENT, arguments_in
from bot.commands.skill_figures import figures_of, skill_line
from bot.commands.tasks import draft_of, start
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.domain.task_request import SkillCall, TaskDraft
from bot.people.access import same_person
from bot.store.skills import Draft
from bot.texts import listed, say
from devices.wording import said, sentence_of

_SAVE: Final = re.compile(
    r"(?:#?(?P<task>\d{1,18}(?:\.[^\s.]{1,64})?)\s+)?(?P<as>as\s+|为\s*)?(?P<rest>\S.*)", re.DOTALL | re.IGNORECASE
)
_CHANGE: Final = re.compile(
    r"(?P<verb>delete|remove|rename|restore)\s+(?P<name>\S+)(?:\s+(?:to\s+|as\s+)?(?P<new>\S+))?", re.I
)
FIXED_SHOWN: Final = 5
"""Texts that are always typed, of those that a person is shown before it is saved."""


async def skills(request: Request, services: Services) -> Reply:
    """Name and description of each, with what came of the recorded ones; or one is renamed or deleted."""
    typed = request.call.rest.strip()
    if (found := _CHANGE.fullmatch(typed)) is not None:
        return plain(await _change(request, services, found["verb"].lower(), found["name"], found["new"] or ""))
    if typed:
        raise Refused(say("skills.usage", prefix=request.prefix))
    if services.skills.own is not None:
        await asyncio.to_thread(saving.refresh, services.skills)  # a folder may have been put there
    there = services.skills.found.values()
    lines = [skill_line(skill, await figures_of(skill, services.store)) for skill in there]
    return plain("\n".join(lines) or say("skills.none"))


async def skill(request: Request, services: Services) -> Reply:
    """Queue a task that follows a skill, with what stands behind its name."""
    return await start(request, services, skill_draft(request, services))


def skill_draft(request: Request, services: Services) -> TaskDraft:
    """The task that is meant by a `skill NAME key=value …`. Raises Refused."""
    name, values = [*request.call.rest.split(None, 1), "", ""][:2]
    arguments, left = arguments_in(values)
    draft = replace(draft_of(request), text="")
    return draft_of_skill(draft, SkillCall(name, arguments), services, values=" ".join(values.split()), left=left)


async def save(request: Request, services: Services) -> Reply:
    """Show what would be saved of a task, with a button that saves it; `--draft` saves what was shown before."""
    if number := request.option("draft"):
        return await confirm(request, services, number)
    found = _SAVE.fullmatch(request.call.rest.strip())
    if found is None or not (found["task"] or found["as"]):
        raise Refused(say("save.usage", prefix=request.prefix))
    first = ARGUMENT.search(found["rest"])
    named = found["rest"] if first is None else found["rest"][: first.start()]
    given, left = arguments_in(found["rest"][len(named) :])
    if left:
        raise Refused(say("save.left_over", text=shortened(left, 40)))
    number = found["task"] or (await task_meant(request, services)).id
    draft = await drafted(request, services, number, "-".join(named.split()), given or None)
    name = draft.name
    buttons = ((button(Deed.SAVE, draft.id, say("button.save_skill", name=name), style="primary"),),)
    return Reply(Message(heading=say("save.heading", name=name), body=_shown(draft.skill), buttons=buttons))


async def drafted(
    request: Request, services: Services, number: str, name: str, given: Mapping[str, str] | None
) -> Draft:
    """What would be saved of a task under this name, kept until a person confirms it; with the parameters that are
    `given` with their values, with proposed ones for None. Raises Refused.
    """
    task = await task_named(number, request, services)
    require(request, services.policy, Right.USE, owner=task.person)
    name = name.lower()
    await _may_change(request, services, name)
    try:
        made = await _drafted(task, services, given, name)
        saving.check(services.skills, name)
    except (NotSavable, saving.NotChanged) as refused:
        raise Refused(said(sentence_of(refused))) from refused
    draft = Draft(secrets.token_hex(8), request.person, name, task.id, made, services.clock())
    await services.store.skills.add_draft(draft)
    return draft


async def confirm(request: Request, services: Services, number: str) -> Reply:
    """Save what a person was shown, and nothing else. Raises Refused."""
    draft = await services.store.skills.draft(number, now=services.clock())
    if draft is None:
        raise Refused(say("save.gone"))
    if not same_person(draft.person, request.person):
        raise Refused(say("save.not_yours"))
    await _may_change(request, services, draft.name)
    if draft.name not in services.skills.found:
        await services.store.skills.removed(draft.name)  # of a former one whose folder somebody has taken away
    try:
        version = await asyncio.to_thread(saving.save, services.skills, draft.name, draft.skill)
    except saving.NotChanged as refused:
        raise Refused(said(sentence_of(refused))) from refused
    except OSError as error:
        raise Refused(say("save.disk", why=error.strerror or str(error))) from error
    rows = await services.task_service.steps(draft.task)
    verdicts = [each for row in rows for each in row.record.verdicts]
    await services.store.skills.saved(draft, verdicts, now=services.clock())
    example = " ".join([draft.name, *(f'{each.name}="{each.example}"' for each in draft.skill.parameters)])
    return plain(say("save.done", name=draft.name, version=version, example=f"{request.prefix}skill {example}"))


async def _drafted(task: Task, services: Services, given: Mapping[str, str] | None, name: str) -> RecordedSkill:
    """The skill as it would be saved. Raises NotSavable and Refused."""
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


def _shown(made: RecordedSkill) -> str:
    """What a person confirms: the task, each parameter with its value, the steps, and what is always typed."""
    lines = [made.task, "", *(say("save.parameter", name=each.name, value=each.example) for each in made.parameters)]
    if not made.parameters:
        lines.append(say("save.no_parameters"))
    lines += [say("save.always", text=shortened(text, 80)) for text in always_typed(made)]
    lines.append(say("save.steps", number=len(made.steps), model=left_to_model(made)))
    lines.append(say("save.seen_by"))
    return "\n".join(lines)


def always_typed(made: RecordedSkill) -> list[str]:
    """Texts that are typed at each run whatever its arguments are; the first few."""
    typed = [str(step.action["text"]) for step in made.steps if step.kind == "type" and "text" in step.action]
    return [text for text in typed if "{" not in text and COVERED not in text][:FIXED_SHOWN]


def left_to_model(made: RecordedSkill) -> int:
    """How many steps a model does."""
    return sum(step.is_left_to_model or step.kind not in FIELDS for step in made.steps)


async def _may_change(request: Request, services: Services, name: str) -> None:
    """Raise Refused unless it is new, one's own, or an admin asks."""
    if name in services.skills.found:
        owner = await services.store.skills.owner(name)
        if owner is None or not services.policy.same(owner, request.person):
            require(request, services.policy, Right.ADMIN)


async def _change(request: Request, services: Services, verb: str, name: str, new: str) -> str:
    name, new = name.lower(), new.lower()
    skill_named(name, services)
    await _may_change(request, services, name)
    try:
        if verb in {"rename", "restore"} and not new:
            raise Refused(say("skills.usage", prefix=request.prefix))
        if verb == "restore":
            made = await asyncio.to_thread(saving.restore, services.skills, name, new)
            return say("skills.restored", name=name, version=new, made=made)
        if verb != "rename":
            await asyncio.to_thread(saving.remove, services.skills, name)
            await services.store.skills.removed(name)
            return await _deleted(name, services)
        await asyncio.to_thread(saving.rename, services.skills, name, new)
    except (saving.NotChanged, FolderRefused) as refused:
        raise Refused(said(sentence_of(refused))) from refused
    except OSError as error:
        raise Refused(say("save.disk", why=error.strerror or str(error))) from error
    await services.store.skills.renamed(name, new)
    return say("skills.renamed", name=name, new=new)


async def _deleted(name: str, services: Services) -> str:
    """That it was deleted, and what is still planned with it."""
    planned = [
        one.id
        for one in await services.store.schedules.all()
        if one.plan.draft.skill is not None and one.plan.draft.skill.name == name
    ]
    words = say("skills.deleted", name=name)
    return f"{words}\n{say('skills.still_planned', schedules=listed(planned))}" if planned else words
