"""Who may do what, and where: one pure function that every surface asks at the moment of doing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.chats.base import Person, Place
from bot.settings import Settings
from bot.texts import say

OPERATOR_PLATFORMS = frozenset({"web", "cli"})
"""Whoever reaches these runs the service: the console needs its start token, the command line the machine."""


class Right(StrEnum):
    """What may be done. `admin` includes the others."""

    USE = "use"
    APPROVE = "approve"
    ADMIN = "admin"


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
    """The lists of every platform that has any."""

    platforms: Mapping[str, Lists] = field(default_factory=dict)

    @classmethod
    def from_settings(cls, settings: Settings) -> Policy:
        """The policy that the settings describe."""
        return cls(
            {
                "discord": Lists(
                    frozenset(settings.discord_allowed_guild_ids),
                    frozenset(settings.discord_allowed_channel_ids),
                    frozenset(settings.discord_allowed_user_ids),
                    frozenset(settings.discord_admin_user_ids),
                ),
                "telegram": Lists(
                    chats=frozenset(settings.telegram_allowed_chat_ids),
                    users=frozenset(settings.telegram_allowed_user_ids),
                    admins=frozenset(settings.telegram_admin_user_ids),
                ),
            }
        )


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
class Verdict:
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


def authorize(person: Person, place: Place, right: Right, policy: Policy, *, owner: Person | None = None) -> Verdict:
    """Whether `person` may use `right` at `place`.

    `owner` is who gave the task that this is about: what is not one's own needs an admin, whatever the right. A thread
    counts as its chat. In a private chat only the user and admin lists count, and one of them must name the person.
    """
    return Verdict(tuple(_until_refused(_checks(person, place, right, policy, owner))))


def same_person(one: Person, other: Person) -> bool:
    """Whether two records mean the same account; names may differ."""
    return (one.platform, one.id) == (other.platform, other.id)


def _until_refused(checks: Iterable[Check]) -> Iterable[Check]:
    for check in checks:
        yield check
        if not check.passed:
            return


def _checks(person: Person, place: Place, right: Right, policy: Policy, owner: Person | None) -> Iterable[Check]:
    address = place.address
    yield Check("same_platform", person.platform == address.platform)
    if person.platform in OPERATOR_PLATFORMS:
        yield Check("operator", True)
        return
    lists = policy.platforms.get(person.platform, Lists())
    admin = person.id in lists.admins
    named = person.id in lists.users
    yield Check("lists", lists.any_set)
    if place.private:
        yield Check("private", named or admin)
    else:
        if lists.guilds:
            yield Check("guild", address.guild in lists.guilds)
        if lists.chats:
            yield Check("chat", address.chat in lists.chats)
        if lists.users:
            yield Check("user", named or admin)
    if owner is not None:
        yield Check("owner", admin or same_person(person, owner))
    if right is Right.APPROVE:
        yield Check("approve", named or admin)
    elif right is Right.ADMIN:
        yield Check("admin", admin)
    yield Check("use", True)
