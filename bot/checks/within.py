"""The looks that a running service takes at itself, for the console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.checks import changes, chats, files, model, phones
from bot.checks.finding import Finding
from bot.checks.settings import Shown, shown
from bot.checks.waiting import waited
from bot.live.settings import LiveSettings
from bot.tasks.views import phone_json
from bot.watching.waits import Wait
from devices.phone import PhoneInfo
from devices.wording import said


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


class ServiceCheck:
    """Finds what the doctor finds, as far as a service can look at it while it works."""

    def __init__(self, live: LiveSettings, known: Listed, waits: Waiting) -> None:
        self._live = live
        self._phones = known
        self._waits = waits

    def settings(self) -> tuple[Shown, ...]:
        """What is set, without secrets."""
        return shown(self._live.now)

    async def near(self) -> Sequence[Finding]:
        """What costs nothing: files, what is waited for, phones from memory, what model and chats are set to."""
        rows = [phone_json(phone, ()) for phone in self._phones.list()]
        return [
            *(waited(wait.what, said(wait.why), wait.since) for wait in self._waits.now()),
            *await files.findings(self._live.now),
            *changes.told(self._live.changes, self._live.unusable),
            *phones.findings(rows),
            model.set_up(self._live.now),
            *chats.set_up(self._live.now),
        ]

    async def far(self) -> Sequence[Finding]:
        """What is asked elsewhere: the model, with one small picture, and the chats' platforms."""
        return [*await model.findings(self._live.now), *await chats.findings(self._live.now)]
