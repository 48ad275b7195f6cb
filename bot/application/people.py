"""What admins do about people and tokens: give and take rights, let people in by a code, revoke tokens."""

from __future__ import annotations

from dataclasses import dataclass

from bot.application.access import Caller, Refused, audited, require
from bot.application.phones import phone_named
from bot.application.services import Services
from bot.domain.address import Person
from bot.domain.right import API_PLATFORM, OPERATOR_PLATFORMS, Grant, Right
from bot.domain.token import Token
from bot.people.access import Lists
from bot.people.pairing import Locked, Pairing
from bot.people.subjects import Subject, subject_named
from bot.texts import say


@dataclass(frozen=True, slots=True)
class Denied:
    """The rights that were taken away, and access that the person may still have."""

    subject: Subject
    grants: tuple[Grant, ...]
    unlinked: tuple[Person, ...] = ()
    """Their other accounts, which were unlinked because rights on those would still have let this one in."""
    tokens: tuple[Token, ...] = ()
    """Their tokens, which were revoked because rights given to tokens would have remained."""
    listed: bool = False
    """Whether the lists in the settings still name them."""


class PeopleCommands:
    """What one caller can do about people and tokens. Every method raises NotAllowed, which is audited, or Refused."""

    def __init__(self, caller: Caller, services: Services) -> None:
        self._caller = caller
        self._services = services

    async def allow(self, who: str, wanted: str, device: str = "") -> Grant:
        """Give somebody a right for one phone, or ("") for all."""
        await self._require_admin()
        subject = subject_meant(self._caller, self._services, who)
        if subject.platform == API_PLATFORM:
            raise Refused(say("token.own_rights"))
        right = next((right for right in Right if right.value == wanted.lower()), None)
        if right is None:
            raise Refused(say("people.no_right", name=wanted[:40]))
        grant = Grant(subject.platform, subject.id, right, guild=subject.guild, phone=self._phone(device))
        await self._services.rights.allow(grant, self._caller.person)
        return grant

    async def deny(self, who: str, device: str = "") -> Denied:
        """Take away what was given: for one phone, or ("") everything, including links and tokens."""
        await self._require_admin()
        rights, by = self._services.rights, self._caller.person
        subject = subject_meant(self._caller, self._services, who)
        # A phone that is not there any more is still named by its id.
        known = any(grant.phone == device for grant in rights.policy.grants)
        phone = device if known else self._phone(device)
        grants = await rights.deny(subject, by, phone)
        lists = rights.policy.platforms.get(subject.platform, Lists())
        listed = not subject.guild and subject.id in lists.users | lists.admins
        if phone or subject.guild:
            return Denied(subject, grants, listed=listed)
        unlinked = await rights.unlink(subject, by)
        tokens = tuple(rights.tokens.of(subject.platform, subject.id))
        for token in tokens:
            await rights.revoke_token(token.name, by)
        return Denied(subject, grants, unlinked, tokens, listed)

    async def pairing(self) -> Pairing:
        """The people waiting to be let in. Raises Refused if pairing codes are off."""
        await self._require_admin()
        if (pairing := self._services.rights.pairing) is None:
            raise Refused(say("pair.off"))
        return pairing

    async def let_in(self, code: str) -> Person:
        """Let the person who got this code use the bot."""
        pairing, rights = await self.pairing(), self._services.rights
        try:
            person = pairing.approve(code, self._caller.person)
        except Locked:
            raise Refused(say("pair.locked")) from None
        if person is None:
            raise Refused(say("pair.wrong"))
        grant = Grant(person.platform, person.id, Right.USE)
        subject = Subject.of(grant)
        if not any(Subject.of(held) == subject and not held.phone for held in rights.policy.grants):
            await rights.allow(grant, self._caller.person)
        return person

    async def revoke_token(self, name: str) -> Token:
        """Revoke a token."""
        await self._require_admin()
        revoked = await self._services.rights.revoke_token(name.lower(), self._caller.person)
        if revoked is None:
            raise Refused(say("token.unknown", name=name[:40]))
        return revoked

    def _phone(self, device: str) -> str:
        return phone_named(device, self._services.phones.list()).id if device else ""

    async def _require_admin(self) -> None:
        async with audited(self._caller.person, self._services.store):
            require(self._caller, self._services.policy, Right.ADMIN)


def subject_meant(caller: Caller, services: Services, who: str) -> Subject:
    """The person or role that a word names. Raises Refused if it names none, or if this admin's rights do not cover
    it.
    """
    subject = subject_named(who, caller.address, services.namings)
    if subject is None:
        raise Refused(say("people.unknown", name=who[:40]))
    if caller.person.platform not in OPERATOR_PLATFORMS | {subject.platform}:
        raise Refused(say("people.other_platform"))
    return subject
