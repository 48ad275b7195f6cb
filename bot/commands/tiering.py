"""Tiers while the service runs: which there are, and who is in which. For admins only."""

from __future__ import annotations

from bot.access import OPERATOR_PLATFORMS, TierGift
from bot.chats.outgoing import Reply
from bot.commands.request import Refused, Request, Services, aside
from bot.people.subjects import Subject, subject_named
from bot.people.tiers import QUOTAS, Tier
from bot.texts import listed, say

NONE = "default"
"""Typed in the place of a tier: the one that was given is taken back."""


async def tier(request: Request, services: Services, who: str = "", name: str = "") -> Reply:
    """Show the tiers, or put somebody into one."""
    settings = services.live.now
    if not who:
        lines = [_defined(known, limits, settings.default_tier) for known, limits in settings.tiers.items()]
        return aside("\n".join(lines) or say("tier.none"), heading=say("tier.heading"))
    subject = subject_meant(request, who)
    if name.lower() == NONE:
        taken = await services.rights.take_tier(subject, request.person)
        return aside(say("tier.taken", who=subject, tier=taken) if taken else say("tier.had_none", who=subject))
    if name.lower() not in settings.tiers:
        raise Refused(say("tier.unknown", name=name[:40], known=listed((*settings.tiers, NONE))))
    await services.rights.give_tier(subject, name.lower(), request.person)
    return aside(say("tier.given", who=subject, tier=name.lower()))


def subject_meant(request: Request, who: str) -> Subject:
    """Whom the word means. Raises Refused when nobody, or when this admin's rights do not reach there."""
    subject = subject_named(who, request.address)
    if subject is None:
        raise Refused(say("people.unknown", name=who[:40]))
    if request.person.platform not in OPERATOR_PLATFORMS | {subject.platform}:
        raise Refused(say("people.other_platform"))
    return subject


def line(gift: TierGift) -> str:
    """Who is in which tier, for the list of people."""
    return say("tier.line", who=Subject(gift.platform, gift.id, gift.guild), tier=gift.tier)


def _defined(name: str, limits: Tier, default: str) -> str:
    found = {quota: getattr(limits, quota) for quota in QUOTAS}
    words = [say(f"quota.limit.{quota}", limit=f"{limit:,}") for quota, limit in found.items() if limit is not None]
    told = listed(words) or say("quota.no_limit")
    return say("tier.default" if name == default else "tier.defined", tier=name, limits=told)
