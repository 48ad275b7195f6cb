"""The looks that a running service takes at itself: its phones, and what it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

from agent.front_matter import Refused
from agent.models.cause import Cause
from agent.models.state import ModelState
from bot.checks import chats, files, model, setting_changes
from bot.checks.settings import Shown, shown
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

MODEL: Final = "model"
"""The name of the wait for the model, of which its own finding tells more."""


def waited(what: str, why: str, since: float, platforms: Iterable[Platform[Any]] = ()) -> Finding:
    """One thing that is waited for (a name of `bot.wiring.dependencies`, or a chat platform), since a Unix time. `why`
    is worded already.
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
    waits = row["usable"] or row["state"] == Health.BUSY_ELSEWHERE.value
    return Finding("phone", "note" if waits else "bad", text, row["fix"])


def lane(row: Json) -> list[Finding]:
    """Why a phone's fast lane was given up, if it was."""
    if not row["lane_reason"]:
        return []
    text = say("check.phone.lane", name=row["name"], why=row["lane_reason"])
    return [Finding("phone", "note", text, say("check.phone.lane_fix"))]


class Listed(Protocol):
    """The phones, from memory."""

    def list(self) -> tuple[PhoneInfo, ...]:
        """Every known phone."""
        ...


class Waiting(Protocol):
    """What the service waits for, from memory."""

    def now(self) -> tuple[Wait, ...]:
        """What was waited for when it was last looked."""
        ...


class TestedModel(Protocol):
    """The model that the service works with."""

    @property
    def state(self) -> ModelState:
        """How it is doing."""
        ...

    def tested(self, cause: Cause | None) -> None:
        """Take in how a test of it ended: why it failed, None for an answer."""
        ...


class ServiceCheck:
    """Finds what the doctor finds, as far as a service can look at it while it works."""

    def __init__(
        self,
        live: RuntimeSettings,
        known: Listed,
        waits: Waiting,
        model_tested: TestedModel,
        platforms: Sequence[Platform[Any]],
        refused: Callable[[Settings], Sequence[Refused]],
    ) -> None:
        """`refused` reads from the disk which folders of members and skills cannot be used."""
        self._live = live
        self._phones = known
        self._waits = waits
        self._model = model_tested
        self._platforms = platforms
        self._refused = refused

    def settings(self) -> tuple[Shown, ...]:
        """What is set, without secrets."""
        return shown(self._live.now)

    async def near(self) -> Sequence[Finding]:
        """What costs nothing: files, what is waited for, phones from memory, what model and chats are set to."""
        rows = [phone_json(phone, ()) for phone in self._phones.list()]
        return [
            *(
                waited(wait.what, said(wait.why), wait.since, self._platforms)
                for wait in self._waits.now()
                if wait.what != MODEL
            ),
            *await files.findings(self._live.now),
            *map(files.refused_folder, await asyncio.to_thread(self._refused, self._live.now)),
            *setting_changes.of_file(self._live.left_out),
            *setting_changes.told(self._live.changes, self._live.unusable),
            *findings(rows),
            model.set_up(self._live.now, self._model.state),
            *chats.set_up(self._live.now, self._platforms),
        ]

    async def far(self) -> Sequence[Finding]:
        """What is asked elsewhere: the model, with one small picture, and the chats' platforms."""
        tested = await model.findings(self._live.now)
        if model.was_asked(tested):
            self._model.tested(model.cause_of(tested))
        return [*tested, *await chats.findings(self._live.now, self._platforms)]
