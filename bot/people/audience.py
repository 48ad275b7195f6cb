"""Who should see which menu of commands, and where: what may be used is shown, and to strangers next to nothing."""

from __future__ import annotations

from dataclasses import dataclass

from bot.access import Lists, Policy, Right


@dataclass(frozen=True, slots=True)
class Audience:
    """Those who see one menu: everybody in a chat, or one person in it."""

    chat: str
    """A group's id, or a person's for the private chat."""
    person: str = ""
    admin: bool = False


def audiences(policy: Policy, platform: str) -> tuple[Audience, ...]:
    """The menus of people who are named and of the chats on the list. Only shows: what counts is asked at each use."""
    lists = policy.platforms.get(platform, Lists())
    grants = [grant for grant in policy.grants if grant.platform == platform and not grant.guild]
    if not lists.any_set and not grants:
        return ()
    admins = lists.admins | {grant.id for grant in grants if grant.gives(Right.ADMIN, "")}
    named = lists.users | admins | {grant.id for grant in grants}
    private = [Audience(person, admin=person in admins) for person in sorted(named)]
    groups = [Audience(chat) for chat in sorted(lists.chats)]
    in_groups = [Audience(chat, admin, admin=True) for chat in sorted(lists.chats) for admin in sorted(admins)]
    return (*private, *groups, *in_groups)
