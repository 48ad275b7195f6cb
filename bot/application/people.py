"""What admins do with people and tokens: give and take away rights, let people in by a pairing code, revoke tokens."""

from __future__ import annotations

from dataclasses import dataclass

from bot.application.access import Caller, CallerActions, Refused
from bot.application.phones import phone_named
from bot.application.services import Services
from bot.domain.address import Person
from bot.domain.right import API_PLATFORM, OPERATOR_PLATFORMS, Grant, Right, Token
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


class PeopleCommands(CallerActions):
    """The actions on people and tokens that one caller, who must be an admin, can perform. Every method raises
    NotAllowed, which is written to the audit log, or Refused.
    """

    async def allow(self, who: str, wanted: str, device: str = "") -> Grant:
        """Give the right named `wanted` ("use", "admin", ...) to a person or role, and return it. `who` names them as
        typed (see `subject_named`). It holds for the phone that `device` names, or for all phones if `device` is "".
        """
        await self._require(Right.ADMIN)
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
        """Take away rights that were given to the person or role `who`. With `device`, only those for that phone; with
        "", all of them, and also the person's account links and tokens. Returns what was taken away.
        """
        await self._require(Right.ADMIN)
        rights, by = self._services.rights, self._caller.person
        subject = subject_meant(self._caller, self._services, who)
        # Rights for a phone that no longer exists are found by its id.
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
        """Return the pairing codes of people who wait to be let in. Raises Refused if pairing codes are off."""
        await self._require(Right.ADMIN)
        if (pairing := self._services.rights.pairing) is None:
            raise Refused(say("pair.off"))
        return pairing

    async def let_in(self, code: str) -> Person:
        """Give the right to use the bot to the person who was shown this pairing code, and return them. Raises Refused
        for a wrong code, or after too many wrong ones.
        """
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
        """Revoke the access token with this name, and return it. Raises Refused if there is none."""
        await self._require(Right.ADMIN)
        revoked = await self._services.rights.revoke_token(name.lower(), self._caller.person)
        if revoked is None:
            raise Refused(say("token.unknown", name=name[:40]))
        return revoked

    def _phone(self, device: str) -> str:
        return phone_named(device, self._services.phones.list()).id if device else ""


def subject_meant(caller: Caller, services: Services, who: str) -> Subject:
    """Return the person or role that `who` names. Raises Refused if it names none, or if it is on another platform than
    this admin (except for the operator).
    """
    subject = subject_named(who, caller.address, services.namings)
    if subject is None:
        raise Refused(say("people.unknown", name=who[:40]))
    if caller.person.platform not in OPERATOR_PLATFORMS | {subject.platform}:
        raise Refused(say("people.other_platform"))
    return subject
