"""Skills: which there are, a task that follows one, and a run that is saved as one."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.outcome import Outcome
from agent.recorded_skills.drafting import COVERED, DoneStep, NotSavable, proposed, steps_of, with_parameters
from agent.recorded_skills.skill_file import Parameter, RecordedSkill, Source
from agent.skill_parameters import parameters_by
from agent.skills import saving
from agent.skills.loading import Skill
from bot.cards.buttons import Deed, button
from bot.cards.formatting import duration, shortened
from bot.commands.request import Refused, Request, Services, plain, require
from bot.commands.resolve import task_named
from bot.commands.tasks import do
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.people.access import same_person
from bot.store.skills import Draft, SkillRun
from bot.texts import listed, say, spoken
from devices.wording import said, sentence_of

_ARGUMENT: Final = re.compile(
    r"(?P<name>[a-z][a-z0-9_]{0,39})\s?=\s?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|“(?P<curly>[^”]*)”|(?P<plain>\S+))",
    re.IGNORECASE,
)
"""`size=large` or `item="Blue mug"`."""
_SAVE: Final = re.compile(r"#?(?P<task>\d{1,18})\s+(?:as\s+|为\s*)?(?P<name>\S{1,64})(?:\s+(?P<values>.*))?", re.DOTALL)
_CHANGE: Final = re.compile(r"(?P<verb>delete|remove|rename)\s+(?P<name>\S+)(?:\s+(?:to\s+|as\s+)?(?P<new>\S+))?", re.I)
TAKEOVERS: Final = 3
"""Runs in which a model had to help at one place, after which a new version is offered."""
TAKEOVERS_LOOKED: Final = 10
"""Latest runs that are looked through for that."""
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
    lines = [await _line(skill, services) for skill in services.skills.found.values()]
    return plain("\n".join(lines) or say("skills.none"))


async def skill(request: Request, services: Services) -> Reply:
    """Queue a task that follows a skill, with what stands behind its name."""
    return await do(replace(request, call=skill_call(request.call, services)), services)


def skill_call(call: CommandCall, services: Services) -> CommandCall:
    """The `do` that is meant by a `skill NAME key=value …`. Raises Refused."""
    name, _, values = call.rest.strip().partition(" ")
    values = " ".join(values.split())
    return call_of(name, arguments_in(values), services, call.options, values)


def call_of(
    name: str, arguments: Mapping[str, str], services: Services, options: Mapping[str, str], values: str = ""
) -> CommandCall:
    """The `do` that follows the skill of this name with these arguments; `values` is how they were written. Raises
    Refused.
    """
    name = name.lower()
    found = services.skills.found.get(name)
    if found is None:
        raise Refused(say("skills.unknown", name=name[:40], names=listed(services.skills.found) or "-"))
    if found.recorded is not None:
        wish = _asked(found, found.recorded, arguments)
    else:
        values = values or " ".join(f"{key}={value}" for key, value in arguments.items())
        wish = say("skills.wish_with", name=name, values=values) if values else say("skills.wish", name=name)
    given = {"skill": name, "arguments": json.dumps(dict(arguments), ensure_ascii=False)}
    return CommandCall("do", {**options, **given}, wish)


def _asked(skill: Skill, recorded: RecordedSkill, arguments: Mapping[str, str]) -> str:
    """The task in words. Raises Refused for arguments that are not its parameters."""
    wrong, missing = recorded.unknown(arguments), recorded.missing(arguments)
    if wrong or missing:
        example = " ".join([skill.name, *(f'{each.name}="{each.example}"' for each in recorded.parameters)])
        if missing:
            raise Refused(say("skills.missing", name=skill.name, names=listed(missing), example=example))
        raise Refused(say("skills.wrong", name=skill.name, names=listed(wrong), example=example))
    return recorded.asked(arguments)


def arguments_in(values: str) -> dict[str, str]:
    """What is given as `name=value`, by name."""
    forms = ("double", "single", "curly", "plain")
    return {
        found["name"].lower(): next(value for value in found.group(*forms) if value is not None)
        for found in _ARGUMENT.finditer(values)
    }


async def save(request: Request, services: Services) -> Reply:
    """Show what would be saved of a task, with a button that saves it; `--draft` saves what was shown before."""
    if number := request.option("draft"):
        return await confirm(request, services, number)
    found = _SAVE.fullmatch(request.call.rest.strip())
    if found is None:
        raise Refused(say("save.usage", prefix=request.prefix))
    draft = await drafted(request, services, found["task"], found["name"], arguments_in(found["values"] or "") or None)
    name = draft.name
    buttons = ((button(Deed.SAVE, draft.id, say("button.save_skill", name=name), style="primary"),),)
    return Reply(
        Message(heading=say("save.heading", name=name), body=_shown(draft.skill), footer=draft.id, buttons=buttons)
    )


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
        made = await _drafted(task, services, given)
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
    try:
        version = await asyncio.to_thread(saving.save, services.skills, draft.name, draft.skill)
    except saving.NotChanged as refused:
        raise Refused(said(sentence_of(refused))) from refused
    except OSError as error:
        raise Refused(say("save.disk", why=error.strerror or str(error))) from error
    await services.store.skills.saved(draft, now=services.clock())
    example = " ".join([draft.name, *(f'{each.name}="{each.example}"' for each in draft.skill.parameters)])
    return plain(say("save.done", name=draft.name, version=version, example=f"{request.prefix}skill {example}"))


async def _drafted(task: Task, services: Services, given: Mapping[str, str] | None) -> RecordedSkill:
    """The skill as it would be saved. Raises NotSavable and Refused."""
    if task.state is not TaskState.ENDED or task.outcome not in {Outcome.SUCCEEDED, Outcome.UNVERIFIED}:
        raise Refused(say("save.not_done", task=task.called))
    if task.parts:
        raise Refused(say("save.parts", task=task.called))
    rows = await services.task_service.steps(task.id)
    done = [
        DoneStep(row.record.actions, row.effect, followed=row.record.followed)
        if row.record is not None and not row.denied
        else DoneStep((), row.effect, recorded=row.record is not None)
        for row in rows
    ]
    steps, end = steps_of(done)
    if given is None and task.skill and services.skills.recording(task.skill, task.arguments) is not None:
        given = task.arguments
    parameters: tuple[Parameter, ...]
    if given is not None:
        parameters = tuple(Parameter(name=name, example=value) for name, value in given.items())
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
    return with_parameters(task.text, steps, end, parameters, source)


def _shown(made: RecordedSkill) -> str:
    """What a person confirms: the task, each parameter with its value, the steps, and what is always typed."""
    lines = [made.task, "", *(say("save.parameter", name=each.name, value=each.example) for each in made.parameters)]
    if not made.parameters:
        lines.append(say("save.no_parameters"))
    lines += [say("save.always", text=shortened(text, 80)) for text in always_typed(made)]
    lines.append(say("save.steps", number=len(made.steps), model=left_to_model(made)))
    return "\n".join(lines)


def always_typed(made: RecordedSkill) -> list[str]:
    """Texts that are typed at each run whatever its arguments are; the first few."""
    typed = [str(step.action["text"]) for step in made.steps if step.kind == "type" and "text" in step.action]
    return [text for text in typed if "{" not in text and COVERED not in text][:FIXED_SHOWN]


def left_to_model(made: RecordedSkill) -> int:
    """How many steps a model does, since nothing is known by which code would find its place again."""
    return sum(step.touches and step.anchor is None and not step.reads for step in made.steps)


async def _may_change(request: Request, services: Services, name: str) -> None:
    """Raise Refused unless it is new, one's own, or an admin asks."""
    if name in services.skills.found:
        owner = await services.store.skills.owner(name)
        if owner is None or not services.policy.same(owner, request.person):
            require(request, services.policy, Right.ADMIN)


async def _change(request: Request, services: Services, verb: str, name: str, new: str) -> str:
    name, new = name.lower(), new.lower()
    if name not in services.skills.found:
        raise Refused(say("skills.unknown", name=name[:40], names=listed(services.skills.found) or "-"))
    await _may_change(request, services, name)
    try:
        if verb != "rename":
            await asyncio.to_thread(saving.remove, services.skills, name)
            await services.store.skills.removed(name)
            return say("skills.deleted", name=name)
        if not new:
            raise Refused(say("skills.usage", prefix=request.prefix))
        await asyncio.to_thread(saving.rename, services.skills, name, new)
    except saving.NotChanged as refused:
        raise Refused(said(sentence_of(refused))) from refused
    except OSError as error:
        raise Refused(say("save.disk", why=error.strerror or str(error))) from error
    await services.store.skills.renamed(name, new)
    return say("skills.renamed", name=name, new=new)


@dataclass(frozen=True, slots=True)
class SkillFigures:
    """What the runs of a recorded skill have come to, and what they have saved against the run it was made of. `money`
    is None where that had no price. `proven`: it has worked with other arguments than those it was made of.
    """

    runs: int
    succeeded: int
    seconds: float
    tokens: int
    money: float | None
    proven: bool
    again: str = ""
    """The task from which a new version should be saved, since a model had to help often at one place; "" for none."""
    step: int = 0
    """That place, counted from 1."""


async def figures_of(skill: Skill, services: Services) -> SkillFigures | None:
    """What its runs have come to; None for a skill in words alone, and before the first run."""
    recorded = skill.recorded
    runs = () if recorded is None else await services.store.skills.runs(skill.name)
    if recorded is None or not runs:
        return None
    done = [run for run in runs if run.outcome is Outcome.SUCCEEDED]
    first = {each.name: each.example for each in recorded.parameters}
    source = recorded.source
    place = await _taken_over(services, runs[:TAKEOVERS_LOOKED])
    return SkillFigures(
        runs=len(runs),
        succeeded=len(done),
        seconds=sum(max(0.0, source.seconds - run.seconds) for run in done),
        tokens=sum(source.tokens - run.tokens for run in done),
        money=None if source.cost is None else sum(source.cost - (run.cost or 0.0) for run in done),
        proven=any(json.loads(run.arguments) != first or not first for run in done),
        again=done[0].task if place is not None and done else "",
        step=0 if place is None else place + 1,
    )


async def _line(skill: Skill, services: Services) -> str:
    """One skill; of a recorded one its parameters, and what its runs have come to and saved."""
    words = f"{skill.name}: {skill.described(spoken())}"
    recorded = skill.recorded
    if recorded is None:
        return words
    names = listed(each.name for each in recorded.parameters) or "-"
    words += "\n  " + say("skills.recorded", version=recorded.version, names=names)
    found = await figures_of(skill, services)
    if found is None:
        return words
    words += " · " + say("skills.runs", number=found.runs, share=f"{found.succeeded / found.runs:.0%}")
    words += " · " + say("skills.saved", time=duration(found.seconds), tokens=found.tokens)
    words += "" if found.money is None else f" · {found.money:.2f}"
    words += f" · {say('skills.proven')}" if found.proven else ""
    if found.again:
        words += "\n  " + say("skills.new_version", step=found.step, task=found.again, name=skill.name)
    return words


async def _taken_over(services: Services, runs: Sequence[SkillRun]) -> int | None:
    """The recorded step at which a model had to help most often, where that is often enough for a new version."""
    places: Counter[int] = Counter()
    for run in runs:
        at, seen = 0, set[int]()
        for row in await services.task_service.steps(run.task):
            if row.record is None or row.action.get("kind") == "finish":
                continue
            if row.record.followed is None:
                seen.add(at)
            else:
                at = row.record.followed + 1
        places.update(seen)
    found = places.most_common(1)
    return found[0][0] if found and found[0][1] >= TAKEOVERS else None
