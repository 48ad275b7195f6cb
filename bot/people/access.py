"""Decides who may do what, and where: one pure function, which chats, console, API and command line call when somebody
does something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from bot.domain.address import NOWHERE, Address, Person, Place
from bot.domain.right import API_PLATFORM, OPERATOR_PLATFORMS, PAGE_PLATFORM, Grant, Right, TierGift
from bot.texts import say


@dataclass(frozen=True, slots=True)
class Lists:
    """The access lists of one platform; ids are text. An empty list counts as not set and restricts nothing."""

    guilds: frozenset[str] = frozenset()
    chats: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()

    @property
    def any_set(self) -> bool:
        """Whether a list is set that can let people in. The admin list is not one of these."""
        return bool(self.guilds or self.chats or self.users)


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that access decisions depend on: the lists of all platforms, and the rights and tiers that admins have
    given.
    """

    platforms: Mapping[str, Lists] = field(default_factory=dict)
    grants: tuple[Grant, ...] = ()
    tiers: tuple[TierGift, ...] = ()
    links: tuple[tuple[Person, ...], ...] = ()
    """The linked accounts of each person, including the accounts of their tokens."""
    tokens: tuple[Grant, ...] = ()
    """The rights of the valid tokens, each for the token's own account."""

    def accounts(self, person: Person) -> tuple[Person, ...]:
        """Return all accounts of the person, beginning with the one that was passed."""
        linked = next((one for one in self.links if any(same_person(person, account) for account in one)), ())
        return (person, *(account for account in linked if not same_person(person, account)))

    def subjects(self, subject: str) -> tuple[str, ...]:
        """Return all accounts of a person as `platform:id`, given any one of them in this form."""
        platform, _, account = subject.partition(":")
        return tuple(f"{one.platform}:{one.id}" for one in self.accounts(Person(platform, account)))

    def subject(self, person: Person) -> str:
        """Return the id, as `platform:id`, under which a person's memory is kept. It is the same for all their linked
        accounts.
        """
        return min(f"{account.platform}:{account.id}" for account in self.accounts(person))

    def same(self, one: Person, other: Person) -> bool:
        """Return whether both accounts belong to the same person."""
        return any(same_person(account, other) for account in self.accounts(one))

    def grants_of(self, person: Person, address: Address) -> list[Grant]:
        """Return the rights that were given to this person, through this account and linked ones. `address` is the
        place whose roles count. Somebody who uses an access token has only the token's rights.

        The right `admin` is not inherited through a link, so that a stolen account does not give the rights of an
        admin.
        """
        others = self.accounts(person)[1:]
        if person.platform in {API_PLATFORM, PAGE_PLATFORM}:
            # A token does not have the rights of its owner, nor the owner those of the token.
            return [grant for grant in self.tokens if grant.names(_of_token(person), address)]
        own = [grant for grant in self.grants if grant.names(person, address)]
        linked = [grant for grant in self.grants if any(grant.names(other, NOWHERE) for other in others)]
        return [*own, *(replace(each, right=Right.APPROVE) if each.right is Right.ADMIN else each for each in linked)]

    def tier_depends_on_roles(self, person: Person, address: Address) -> bool:
        """Return whether the person's roles at this place may decide their tier: some role there has a tier, and the
        person was given none.
        """
        by_role = any(
            gift.guild and (gift.platform, gift.guild) == (person.platform, address.guild) for gift in self.tiers
        )
        accounts = self.accounts(person)
        return by_role and not any(gift.names(one, NOWHERE) for gift in self.tiers for one in accounts)

    def with_moves(self, moves: Mapping[tuple[str, str], str]) -> Policy:
        """Return the policy with moved chats added: lists that contain an old chat id also contain the new one. `moves`
        maps (platform, old id) to the new id.
        """
        platforms = {
            platform: replace(
                lists, chats=lists.chats | {moves[platform, chat] for chat in lists.chats if (platform, chat) in moves}
            )
            for platform, lists in self.platforms.items()
        }
        return replace(self, platforms=platforms)


@dataclass(frozen=True, slots=True)
class Check:
    """One check of an access decision, and its result."""

    name: str
    passed: bool

    @property
    def sentence(self) -> str:
        """What this check found, as a sentence for the command `why`."""
        return say(f"access.{self.name}.{'passed' if self.passed else 'failed'}")


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """The result of an access check: allowed or refused, with every check that was made, in order."""

    checks: tuple[Check, ...]

    @property
    def allowed(self) -> bool:
        """Whether every check passed (and at least one was made)."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def reason(self) -> str:
        """The sentence of the first check that failed, or of the last one if all passed."""
        return next((check.sentence for check in self.checks if not check.passed), self.checks[-1].sentence)


def authorize(
    person: Person, place: Place, right: Right, policy: Policy, *, owner: Person | None = None, phone: str = ""
) -> AccessDecision:
    """Decide whether `person` may use `right` at `place`.

    `owner` is the person whose task this is about, None for no task: other people's tasks require an admin, whatever
    the right. `phone` is the id of the phone that this is about, "" for none.

    A thread counts as its chat. In a private chat only what names the person counts: the user list, the admin list or a
    right that was given. Elsewhere, the lists of servers and chats also restrict people who were given rights.
    """
    checks: list[Check] = []
    for check in _checks(person, place, right, policy, owner, phone):
        checks.append(check)
        if not check.passed:
            break
    return AccessDecision(tuple(checks))


def is_admin(person: Person, address: Address, policy: Policy) -> bool:
    """Return whether the person is the operator, or an admin for all phones."""
    lists = policy.platforms.get(person.platform, Lists())
    if person.platform in OPERATOR_PLATFORMS or person.id in lists.admins:
        return True
    known = _of_token(person)
    return any(
        grant.names(known, address) and grant.gives(Right.ADMIN, "") for grant in (*policy.grants, *policy.tokens)
    )


def same_person(one: Person, other: Person) -> bool:
    """Return whether both are the same account, whatever their names. `Policy.same` also considers linked accounts."""
    return (one.platform, one.id) == (other.platform, other.id)


def _of_token(person: Person) -> Person:
    """The account of the token with which the person has signed in to the console; other people unchanged."""
    return replace(person, platform=API_PLATFORM) if person.platform == PAGE_PLATFORM else person


def _checks(
    person: Person, place: Place, right: Right, policy: Policy, owner: Person | None, phone: str
) -> Iterable[Check]:
    address = place.address
    yield Check("same_platform", person.platform == address.platform)
    if person.platform in OPERATOR_PLATFORMS:
        yield Check("operator", True)
        return
    lists = policy.platforms.get(person.platform, Lists())
    held = policy.grants_of(person, address)
    listed = person.id in lists.users or person.id in lists.admins
    named = listed or bool(held)
    admin = person.id in lists.admins or any(grant.gives(Right.ADMIN, phone) for grant in held)
    yield Check("lists", lists.any_set or bool(held))
    if place.private:
        yield Check("private", named)
    else:
        if lists.guilds:
            yield Check("guild", address.guild in lists.guilds)
        if lists.chats:
            yield Check("chat", address.chat in lists.chats)
        if lists.users:
            yield Check("user", named)
    if phone:
        everybody = lists.any_set and not place.private and not lists.users
        given = any(grant.gives(Right.USE, phone) for grant in held)
        yield Check("phone", everybody or listed or given)
    if owner is not None:
        yield Check("owner", admin or policy.same(person, owner))
    if right is Right.APPROVE:
        yield Check("approve", listed or any(grant.gives(Right.APPROVE, phone) for grant in held))
    elif right is Right.OPERATE:
        yield Check("operate", admin or any(grant.gives(Right.OPERATE, phone) for grant in held))
    elif right is Right.ADMIN:
        yield Check("admin", admin)
    yield Check("use", True)
