"""Commands about people and what is decided for them: who may do what, how much they may use in a day, and why the gate
(which decides what needs a person's approval) acted as it did in a task.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent.effect_facts import AllowedAhead, DeniedBefore, LookedBefore, OtherWindow
from agent.questions import QuestionKind
from bot.application.access import Refused, may_see, require, verdict
from bot.application.people import Denied, PeopleCommands, subject_meant
from bot.application.services import Services
from bot.application.task_access import task_or_none
from bot.cards.formatting import shortened, step_words, title_of
from bot.cards.question import closed_line
from bot.commands import accounts
from bot.commands.accounts import linked_line
from bot.commands.parser import forms_of, unknown_command
from bot.commands.request import Request, private_reply, public_reply, task_meant
from bot.commands.spec import BY_NAME, COMMANDS, CommandSpec, OptionKind
from bot.domain.address import Address, Person, Place
from bot.domain.limits import QUOTAS, Tier
from bot.domain.outgoing import Message, Reply
from bot.domain.right import OPERATOR_PLATFORMS, Grant, Right
from bot.domain.task import StepRow, Task
from bot.people.access import authorize
from bot.people.subjects import Subject, subject_named
from bot.texts import listed, say
from bot.views.tasks import effect_words

MOST_LINES = 40
"""Maximum lines, the latest ones, so that an answer fits into one message."""
LINE_LIMIT = 240


async def gate_record(task: Task, services: Services) -> Reply:
    """Return a reply that lists the gate's latest decisions in the task (at most MOST_LINES), oldest first."""
    steps = await services.task_service.steps(task.id)
    questions = await services.store.questions.of(task.id)
    told = [(step.at, line) for step in steps for line in _of_step(step)]
    told += [
        (each.asked, say("why.asked", question=each.question.text, answer=closed_line(each)))
        for each in questions
        if each.question.kind is QuestionKind.APPROVE
    ]
    lines = [shortened(line, LINE_LIMIT) for _, line in sorted(told, key=lambda each: each[0])]
    return private_reply("\n".join(lines[-MOST_LINES:]) or say("why.nothing"), heading=title_of(task))


def _of_step(step: StepRow) -> Iterator[str]:
    """The lines about one step; empty if the gate took no part in it."""
    kinds = AllowedAhead | DeniedBefore | LookedBefore | OtherWindow
    facts = [each for each in step.effect if isinstance(each, kinds)]
    found = [_reading(each) for each in step.action.get("readings", ())]
    found += [effect_words(facts, {})] if facts else []
    yield from (say("why.step", step=step.step, did=step_words(step), found=each) for each in found)


def _reading(reading: dict[str, Any]) -> str:
    """What the independent reader said about a press, and what it used."""
    kind = str(reading["consequence"]).replace(" ", "_")
    says = say("why.read", consequence=say(f"why.consequence.{kind}"))
    if reading.get("object"):
        says = say("why.read_object", says=says, object=reading["object"])
    if reading.get("kept"):
        return say("why.read_kept", says=says)
    return say(
        "why.read_took", says=says, tokens=reading.get("tokens", 0), seconds=f"{reading.get('seconds', 0.0):.1f}"
    )


async def show_help(request: Request, services: Services) -> Reply:
    """List all commands that this person may use, or explain one of them in full."""
    if name := request.option("command").lower():
        spec = BY_NAME.get(name)
        if spec is None:
            raise Refused(unknown_command(name))
        return public_reply(_explained(spec, request.prefix))
    known = [spec for spec in COMMANDS if verdict(request, services.policy, spec.right).allowed]
    if request.picked:
        lines = [say("help.line", line=form.path, help=form.help) for spec in known for form in forms_of(spec)]
    else:
        lines = [say("help.line", line=f"{request.prefix}{_usage(spec)}", help=spec.help) for spec in known]
    example = say("help.example", line=f"{request.prefix}{BY_NAME['do'].example}")
    return Reply(Message(heading=say("help.heading"), body="\n".join(lines), footer=example))


def _usage(spec: CommandSpec) -> str:
    words = [spec.name]
    words += [f"[{spec.argument}]"] if spec.argument else []
    if spec.text is not None:
        words.append(f"<{spec.text.name}>" if spec.text.required else f"[{spec.text.name}]")
    return " ".join(words)


def _explained(spec: CommandSpec, prefix: str) -> str:
    lines = [spec.help]
    for option in spec.options:
        value = "" if option.kind is OptionKind.FLAG else f" <{option.name}>"
        lines.append(f"--{option.name}{value}: {option.help}")
    if spec.text is not None:
        lines.append(f"<{spec.text.name}>: {spec.text.help}")
    return "\n".join([*lines, say("help.example", line=f"{prefix}{spec.example}")])


async def whoami(request: Request, services: Services) -> Reply:
    """Show the ids of the person and the place, as the lists in the settings use them, and the person's rights."""
    rights = [right.value for right in Right if verdict(request, services.policy, right).allowed]
    lines = [ids_of(request.person, request.place), say("whoami.rights", rights=listed(rights))]
    lines += [linked] if (linked := linked_line(request, services)) else []
    return private_reply("\n".join(lines), heading=request.person.name or request.person.id)


def ids_of(person: Person, place: Place) -> str:
    """Return a text with the ids of a person and a place, one per line."""
    address = place.address
    lines = [
        say("whoami.platform", value=person.platform),
        say("whoami.person", value=person.id),
        say("whoami.guild", value=address.guild) if address.guild else "",
        say("whoami.chat", value=address.chat),
        say("whoami.thread", value=address.thread) if address.thread else "",
        say("whoami.private") if place.private else "",
    ]
    return "\n".join(line for line in lines if line)


def _as_if(request: Request, services: Services, other: str) -> Request:
    """The person and place for which `why` explains access: somebody else here, or in a private chat of their own
    platform.

    Raises Refused for a word that names no person; in the console the word must name a platform.
    """
    subject = subject_named(other, request.address, services.namings)
    if subject is not None and not subject.guild and subject.platform != request.address.platform:
        alone = Place(Address(subject.platform, "", ""), private=True)
        return replace(request, person=Person(subject.platform, subject.id), place=alone)
    if request.person.platform in OPERATOR_PLATFORMS:
        raise Refused(say("people.unknown", name=other))
    return replace(request, person=Person(request.person.platform, other))


async def why(request: Request, services: Services) -> Reply:
    """Show every check of the access decision here, for oneself or (admins only) for another person. With the number of
    a task that the person may see, show what the gate did in it.
    """
    asked = request
    if request.option("task"):
        return await gate_record(await task_meant(request, services), services)
    if other := request.option("person"):
        task = await task_or_none(other.removeprefix("#"), services)
        if task is not None and may_see(request, services.policy, task):
            return await gate_record(task, services)
        require(request, services.policy, Right.ADMIN)
        asked = _as_if(request, services, other)
    lines = []
    for right in Right:
        found = authorize(asked.person, asked.place, right, services.policy)
        lines.append(say("why.right", right=right.value, answer=say("why.yes" if found.allowed else "why.no")))
        lines += [f"  {'✓' if check.passed else '✗'} {check.sentence}" for check in found.checks]
    heading = say("why.heading", person=asked.person.id)
    if asked.person.platform != request.person.platform:
        heading = say("why.in_private", person=Subject.of_person(asked.person))
    return private_reply("\n".join(lines), heading=heading)


NONE = "default"
"""Typed instead of a tier to take back the one that was given."""


async def tier(request: Request, services: Services, who: str = "", name: str = "") -> Reply:
    """Show the tiers (levels of daily quotas), or put the person or role `who` into the tier `name`. The name "default"
    takes back the tier that was given. Raises Refused.
    """
    settings = services.live.now
    if not who:
        lines = [_defined(known, limits, settings.default_tier) for known, limits in settings.tiers.items()]
        return private_reply("\n".join(lines) or say("tier.none"), heading=say("tier.heading"))
    subject = subject_meant(request, services, who)
    if name.lower() == NONE:
        taken = await services.rights.take_tier(subject, request.person)
        return private_reply(say("tier.taken", who=subject, tier=taken) if taken else say("tier.had_none", who=subject))
    if name.lower() not in settings.tiers:
        raise Refused(say("tier.unknown", name=name[:40], known=listed((*settings.tiers, NONE))))
    await services.rights.give_tier(subject, name.lower(), request.person)
    return private_reply(say("tier.given", who=subject, tier=name.lower()))


def _defined(name: str, limits: Tier, default: str) -> str:
    found = {quota: getattr(limits, quota) for quota in QUOTAS}
    words = [say(f"quota.limit.{quota}", limit=f"{limit:,}") for quota, limit in found.items() if limit is not None]
    told = listed(words) or say("quota.no_limit")
    return say("tier.default" if name == default else "tier.defined", tier=name, limits=told)


LISTED = 100
"""Maximum rights that one answer lists."""


async def people(request: Request, services: Services) -> Reply:
    """Show all rights, or change them: `allow WHO [RIGHT]` or `deny WHO`, with `--device` for one phone. Also tiers and
    links.
    """
    words, commands = request.call.rest.split(), PeopleCommands(request, services)
    match [word.lower() for word in words[:1]]:
        case []:
            return _shown(services)
        case ["allow"] if len(words) in {2, 3}:
            right = words[2] if len(words) > 2 else Right.USE.value
            return private_reply(allowed_words(await commands.allow(words[1], right, request.option("device"))))
        case ["deny"] if len(words) == 2:
            return private_reply(denied_words(await commands.deny(words[1], request.option("device"))))
        case ["unlink"] if len(words) == 2:
            return await accounts.unlink(request, services, subject_meant(request, services, words[1]))
        case ["tier"] if len(words) in {1, 3}:
            return await tier(request, services, *words[1:])
    raise Refused(say("people.usage", prefix=request.prefix))


def allowed_words(grant: Grant) -> str:
    """Return a sentence that says what somebody may do from now on."""
    return say("people.allowed", grant=grant_line(grant))


def denied_words(denied: Denied) -> str:
    """Return sentences that say what was taken from somebody, and what access they still have."""
    who = denied.subject
    lines = [say("people.denied", grant=grant_line(grant)) for grant in denied.grants] or [
        say("people.had_none", who=who)
    ]
    if denied.unlinked:
        names = listed(str(Subject.of_person(other)) for other in denied.unlinked)
        lines.append(say("link.ended", who=who, others=names))
    if denied.tokens:
        lines.append(say("token.revoked_with", names=listed(token.name for token in denied.tokens)))
    if denied.listed:
        lines.append(say("people.listed_still", who=who))
    return "\n".join(lines)


def _shown(services: Services) -> Reply:
    lines = []
    for platform, lists in services.policy.platforms.items():
        lines += [say("people.from_lists", who=f"{platform}:{one}", right=Right.ADMIN) for one in sorted(lists.admins)]
        users = sorted(lists.users - lists.admins)
        lines += [say("people.from_lists", who=f"{platform}:{one}", right=Right.APPROVE) for one in users]
    lines += [grant_line(grant) for grant in (*services.policy.grants, *services.policy.tokens)]
    lines += [
        say("link.listed", accounts=" = ".join(map(str, map(Subject.of_person, one)))) for one in services.policy.links
    ]
    lines += [
        say("tier.line", who=Subject(gift.platform, gift.id, gift.guild), tier=gift.tier)
        for gift in services.policy.tiers
    ]
    if len(lines) > LISTED:
        lines = [*lines[:LISTED], say("people.more", number=len(lines) - LISTED)]
    return private_reply("\n".join(lines) or say("people.none"), heading=say("people.heading"))


def grant_line(grant: Grant) -> str:
    """Return one line that says which right somebody has and, if it is for one phone, for which."""
    who = Subject.of(grant)
    if grant.phone:
        return say("people.grant_phone", who=who, right=grant.right, phone=grant.phone)
    return say("people.grant", who=who, right=grant.right)
