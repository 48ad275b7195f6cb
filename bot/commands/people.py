"""About the person and the bot: help, whoami, why."""

from __future__ import annotations

from dataclasses import replace

from bot.access import OPERATOR_PLATFORMS, Right, authorize
from bot.chats.address import Address, Person, Place
from bot.chats.outgoing import Message, Reply
from bot.commands.forms import forms_of
from bot.commands.linking import linked_line
from bot.commands.parser import unknown_command
from bot.commands.request import Refused, Request, Services, aside, plain, require, verdict
from bot.commands.spec import BY_NAME, COMMANDS, CommandSpec, OptionKind
from bot.people.subjects import Subject, subject_named
from bot.texts import listed, say


async def show_help(request: Request, services: Services) -> Reply:
    """All commands that this person may use, or one of them in full."""
    if name := request.option("command").lower():
        spec = BY_NAME.get(name)
        if spec is None:
            raise Refused(unknown_command(name))
        return plain(_explained(spec, request.prefix))
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
    """The ids that the lists of the settings are made of, and the rights that follow from them."""
    rights = [right.value for right in Right if verdict(request, services.policy, right).allowed]
    lines = [ids_of(request.person, request.place), say("whoami.rights", rights=listed(rights))]
    lines += [linked] if (linked := linked_line(request, services)) else []
    return aside("\n".join(lines), heading=request.person.name or request.person.id)


def ids_of(person: Person, place: Place) -> str:
    """The ids of a person and a place, one on a line."""
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


def _as_if(request: Request, other: str) -> Request:
    """What somebody else would find here; in a private chat of their own platform when it is another one.

    Raises Refused when the console asks about nobody: there only a word with a platform names a person.
    """
    subject = subject_named(other, request.address)
    if subject is not None and not subject.guild and subject.platform != request.address.platform:
        alone = Place(Address(subject.platform, "", ""), private=True)
        return replace(request, person=Person(subject.platform, subject.id), place=alone)
    if request.person.platform in OPERATOR_PLATFORMS:
        raise Refused(say("people.unknown", name=other))
    return replace(request, person=Person(request.person.platform, other))


async def why(request: Request, services: Services) -> Reply:
    """Every check that decides here, with what it found: for oneself, or for another person (admins only)."""
    asked = request
    if other := request.option("person"):
        require(request, services.policy, Right.ADMIN)
        asked = _as_if(request, other)
    lines = []
    for right in Right:
        found = authorize(asked.person, asked.place, right, services.policy)
        lines.append(say("why.right", right=right.value, answer=say("why.yes" if found.allowed else "why.no")))
        lines += [f"  {'✓' if check.passed else '✗'} {check.sentence}" for check in found.checks]
    heading = say("why.heading", person=asked.person.id)
    if asked.person.platform != request.person.platform:
        heading = say("why.in_private", person=Subject.of_person(asked.person))
    return aside("\n".join(lines), heading=heading)
