"""What is known of the attached phones without asking them anything."""

from __future__ import annotations

from collections.abc import Sequence

from bot.checks.finding import Finding
from bot.tasks.views import Json
from bot.tasks.wording import health_words
from bot.texts import say
from devices.phone import Health


def findings(rows: Sequence[Json]) -> list[Finding]:
    """One for each phone, as `phone_json` tells it, or one for none at all."""
    return [finding for row in rows for finding in (health(row), *lane(row))] or [none_attached()]


def none_attached() -> Finding:
    """There is no phone at all."""
    return Finding("phone", "bad", say("check.phone.none"), say("check.phone.none_fix"))


def health(row: Json) -> Finding:
    """Whether a phone can be used, and what it needs."""
    kind, name = say("check.phone.kind.virtual") if row["virtual"] else say("check.phone.kind.real"), row["name"]
    if row["state"] == Health.READY.value:
        return Finding("phone", "good", say("check.phone.ready", kind=kind, name=name, serial=row["serial"]))
    state = health_words(Health(row["state"]))
    text = say("check.phone.state", kind=kind, name=name, state=state, reason=row["reason"]).strip()
    return Finding("phone", "note" if row["usable"] else "bad", text, row["fix"])


def lane(row: Json) -> list[Finding]:
    """Why a phone's fast lane was given up, if it was."""
    if not row["lane_reason"]:
        return []
    text = say("check.phone.lane", name=row["name"], why=row["lane_reason"])
    return [Finding("phone", "note", text, say("check.phone.lane_fix"))]
