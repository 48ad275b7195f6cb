"""Folders of members and skills that cannot be used."""

from __future__ import annotations

from collections.abc import Iterable

from agent.front_matter import Refused
from bot.domain.finding import Finding
from bot.texts import say
from devices.wording import said


def findings(refused: Iterable[Refused]) -> list[Finding]:
    """One for each, with its reason: the others are used, so none is more than a note."""
    told = [say("check.team.refused", folder=each.folder, reason=said(each.why)) for each in refused]
    return [Finding("computer", "note", text, say("check.team.fix")) for text in told]
