"""Who may do what, and where: one pure function that every surface asks at the moment of doing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from bot.domain.address import Address, Person, Place
from bot.domain.right import API_PLATFORM, OPERATOR_PLATFORMS, PAGE_PLATFORM, Grant, Right, TierGift
from bot.texts import say


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of one platform, ids as text. An empty list is not set and limits nothing."""

    guilds: frozenset[str] = frozenset()
    chats: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()

    @property
    def any_set(self) -> bool:
        """Whether anybody can match at all; the admin list alone opens nothing."""
        return bool(self.guilds or self.chats or self.users)


@dataclass(frozen=True, slots=True)
class Policy:
    """The lists of every platform that has any, and the rights and tiers that admins have given."""

    platforms: Mapping[str, Lists] = field(default_factory=dict)
    grants: tuple[Grant, ...] = ()
    tiers: tuple[TierGift, ...] = ()
    links: tuple[tuple[Person, ...], ...] = ()
    """The accounts of each person who has linked several, those of their tokens included."""
    tokens: tuple[Grant, ...] = ()
    """What the tokens that hold may do, each for an account of its own."""

    def accounts(self, person: Person) -> tuple[Person, ...]:
        """All accounts of the person, the one that is asked about first."""
        linked = next((one for one in self.links if any(same_person(person, account) for account in one)), ())
        return (person, *(account for account in linked if not same_person(person, account)))

    def subjects(self, subject: str) -> tuple[str, ...]:
        """All accounts of a person as `platform:id`, given any of them in that form."""
        platform, _, account = subject.partition(":")
        return tuple(f"{one.platform}:{one.id}" for one in self.accounts(Person(platform, account)))

    def subject(self, person: Person) -> str:
        """Whom memory belongs to, as "platform:id": the same for all accounts that the person has linked."""
        return min(f"{account.platform}:{account.id}" for account in self.accounts(person))

    def same(self, one: Person, other: Person) -> bool:
        """Whether both accounts are one person's."""
        return any(same_person(account, other) for account in self.accounts(one))

    def held(self, person: Person, where: Address) -> list[Grant]:
        """The rights that were given to this person: to the account that asks, and to linked ones.

        Over a link nobody is an admin: who gets hold of one account gets what belongs to its person, and no more.
        """
        others = self.accounts(person)[1:]
        if person.platform in {API_PLATFORM, PAGE_PLATFORM}:
            # What was given to the person whose token it is counts neither for it nor the other way round.
            return [grant for grant in self.tokens if grant.names(_of_token(person), where)]
        own = [grant for grant in self.grants if grant.names(person, where)]
        linked = [grant for grant in self.grants if any(grant.names(other, _NOWHERE) for other in others)]
        return [*own, *(_over_a_link(grant) for grant in linked)]

    def tier_hangs_on_roles(self, person: Person, where: Address) -> bool:
        """Whether their roles there may decide the tier: some role has one, and nobody gave the person their own."""
        by_role = any(
            gift.guild and (gift.platform, gift.guild) == (person.platform, where.guild) for gift in self.tiers
        )
        accounts = self.accounts(person)
        return by_role and not any(gift.names(one, _NOWHERE) for gift in self.tiers for one in accounts)

    def with_moves(self, moves: Mapping[tuple[str, str], str]) -> Policy:
        """A policy in which lists that name a chat name its new id, too: (platform, old id) → new id."""
        platforms = {
            platform: replace(
                lists, chats=lists.chats | {moves[platform, chat] for chat in lists.chats if (platform, chat) in moves}
            )
            for platform, lists in self.platforms.items()
        }
        return replace(self, platforms=platforms)


_NOWHERE = Address("", "", "")
"""Where no role counts."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question that was asked on the way, and its answer."""

    name: str
    passed: bool

    @property
    def sentence(self) -> str:
        """What this check found, for `why`."""
        return say(f"access.{self.name}.{'passed' if self.passed else 'failed'}")


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """Allowed or not, with every check that was made, in order."""

    checks: tuple[Check, ...]

    @property
    def allowed(self) -> bool:
        """Whether all checks passed; none made is a refusal."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def reason(self) -> str:
        """The sentence of the check that decided."""
        return next((check.sentence for check in self.checks if not check.passed), self.checks[-1].sentence)


def authorize(
    person: Person, place: Place, right: Right, policy: Policy, *, owner: Person | None = None, phone: str = ""
) -> AccessDecision:
    """Whether `person` may use `right` at `place`.

    `owner` is who gave the task that this is about: what is not one's own needs an admin, whatever the right. A thread
    counts as its chat. In a private chat only what names the person counts: the user list, the admin list or a grant.
    The lists of servers and chats hold for people with grants too. `phone` is the id of the phone that this is about,
    "" when it is about none.
    """
    return AccessDecision(tuple(_until_refused(_checks(person, place, right, policy, owner, phone))))


def is_admin(person: Person, where: Address, policy: Policy) -> bool:
    """Whether this person is one whom nothing limits: the operator, or an admin for all phones."""
    lists = policy.platforms.get(person.platform, Lists())
    if person.platform in OPERATOR_PLATFORMS or person.id in lists.admins:
        return True
    known = _of_token(person)
    return any(grant.names(known, where) and grant.gives(Right.ADMIN, "") for grant in (*policy.grants, *policy.tokens))


def same_person(one: Person, other: Person) -> bool:
    """Whether two records mean the same account; names may differ. `Policy.same` asks about people."""
    return (one.platform, one.id) == (other.platform, other.id)


def _of_token(person: Person) -> Person:
    """The account of the token with which somebody has signed in to the console; others stay who they are."""
    return replace(person, platform=API_PLATFORM) if person.platform == PAGE_PLATFORM else person


def _over_a_link(grant: Grant) -> Grant:
    return replace(grant, right=Right.APPROVE) if grant.right is Right.ADMIN else grant


def _until_refused(checks: Iterable[Check]) -> Iterable[Check]:
    for check in checks:
        yield check
        if not check.passed:
            return


def _checks(
    person: Person, place: Place, right: Right, policy: Policy, owner: Person | None, phone: str
) -> Iterable[Check]:
    address = place.address
    yield Check("same_platform", person.platform == address.platform)
    if person.platform in OPERATOR_PLATFORMS:
        yield Check("operator", True)
        return
    lists = policy.platforms.get(person.platform, Lists())
    held = policy.held(person, address)
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
