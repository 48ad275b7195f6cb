"""The checks that a running service makes of itself: its phones, and what it is waiting for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agent.front_matter import Refused
from bot.checks import chats, files, model
from bot.checks.settings import Shown, findings_of_changes, findings_of_file, shown
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.monitoring.dependencies import Wait
from bot.platform import Platform
from bot.runtime.settings import RuntimeSettings
from bot.tasks.input import health_words
from bot.texts import catalogue, say
from bot.views.tasks import Json, phone_json
from devices.phone import Health, PhoneInfo
from devices.wording import said

if TYPE_CHECKING:
    from bot.runtime.run_config import RunConfigs

MODEL: Final = "model"
"""Name of the wait for the model, which has a more detailed finding of its own."""


def waited(what: str, why: str, since: float, platforms: Iterable[Platform[Any]] = ()) -> Finding:
    """Return the finding for something that the service is waiting for. `what` is a name of `bot.wiring.dependencies`
    or a chat platform, `why` a finished sentence, `since` a time in Unix seconds.
    """
    if f"check.waits.what.{what}" in catalogue():
        called, fix = say(f"check.waits.what.{what}"), say(f"check.waits.fix.{what}")
    else:
        titles = {platform.name: platform.title for platform in platforms}
        called, fix = titles.get(what, what), say("check.waits.fix.chat")
    begun = datetime.fromtimestamp(since).astimezone().strftime("%Y-%m-%d %H:%M")
    text = say("check.waits.since", what=called, time=begun, why=why)
    return Finding("service", "bad", text, fix)


def findings(rows: Sequence[Json]) -> list[Finding]:
    """Return the findings for each phone (`rows` have the form of `phone_json`), or one that says that there are no
    phones.
    """
    return [finding for row in rows for finding in (health(row), *lane(row))] or [none_attached()]


def none_attached() -> Finding:
    """Return the finding that no phone is connected."""
    return Finding("phone", "bad", say("check.phone.none"), say("check.phone.none_fix"))


def health(row: Json) -> Finding:
    """Return the finding that says whether a phone can be used, and what it needs. `row` has the form of
    `phone_json`.
    """
    kind, name = say("check.phone.kind.virtual") if row["virtual"] else say("check.phone.kind.real"), row["name"]
    if row["state"] == Health.READY.value:
        return Finding("phone", "good", say("check.phone.ready", kind=kind, name=name, serial=row["serial"]))
    state = health_words(Health(row["state"]))
    text = say("check.phone.state", kind=kind, name=name, state=state, reason=row["reason"]).strip()
    waits = row["usable"] or row["state"] == Health.BUSY_ELSEWHERE.value
    return Finding("phone", "note" if waits else "bad", text, row["fix"])


def lane(row: Json) -> list[Finding]:
    """Return a finding if a phone's fast lane (the quick way to transfer screen elements and text) was given up, with
    the reason; else nothing. `row` has the form of `phone_json`.
    """
    if not row["lane_reason"]:
        return []
    text = say("check.phone.lane", name=row["name"], why=row["lane_reason"])
    return [Finding("phone", "note", text, say("check.phone.lane_fix"))]


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """Runs those checks of the doctor that a service can run while it works.

    `phones` returns the known phones, `waits` what the service is waiting for, and `model` knows the state of the model
    that acts. `refused` reads from the disk which folders of members and skills cannot be used.
    """

    live: RuntimeSettings
    phones: Callable[[], Sequence[PhoneInfo]]
    waits: Callable[[], Sequence[Wait]]
    model: RunConfigs
    platforms: Sequence[Platform[Any]]
    refused: Callable[[Settings], Sequence[Refused]]

    def settings(self) -> tuple[Shown, ...]:
        """Return the settings with their values, without secrets."""
        return shown(self.live.now)

    async def near(self) -> Sequence[Finding]:
        """Run the checks that contact no other server except the database: files, outages, known phones, changed
        settings, and the settings of the model and the chats.
        """
        rows = [phone_json(phone, ()) for phone in self.phones()]
        return [
            *(
                waited(wait.what, said(wait.why), wait.since, self.platforms)
                for wait in self.waits()
                if wait.what != MODEL
            ),
            *await files.findings(self.live.now),
            *map(files.refused_folder, await asyncio.to_thread(self.refused, self.live.now)),
            *findings_of_file(self.live.left_out),
            *findings_of_changes(self.live.changes, self.live.unusable),
            *findings(rows),
            model.set_up(self.live.now, self.model.state),
            *chats.set_up(self.live.now, self.platforms),
        ]

    async def far(self) -> Sequence[Finding]:
        """Run the checks that contact other servers: the model (with one small picture) and the chat platforms."""
        tested = await model.findings(self.live.now)
        if model.was_asked(tested):
            self.model.tested(model.cause_of(tested))
        return [*tested, *await chats.findings(self.live.now, self.platforms)]
