"""Telegram's limits of how often a bot may send or edit, on the clock of a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.telegram.refusals import flood

COUNTED = ("send", "edit")
SLACK = 1e-6
"""Seconds: sums of floating numbers are not exact."""


@dataclass
class Rates:
    """20 a minute and group, one a second and chat, 30 a second in all; an album counts each of its files."""

    clock: Callable[[], float]
    calls: list[tuple[float, int, str]] = field(default_factory=list)
    """When, to which chat, and which method."""
    refused: list[tuple[float, int, str]] = field(default_factory=list)

    def take(self, method: str, form: Mapping[str, Any]) -> None:
        """Count a call. Raises a flood refusal when it is one too many."""
        if not method.startswith(COUNTED) or method == "sendChatAction":
            return
        now, chat = self.clock(), int(form.get("chat_id", 0))
        limits = [(1, 1.0, True), (30, 1.0, False)] + ([(20, 60.0, True)] if chat < 0 else [])
        for most, seconds, here in limits:
            since = now - seconds + SLACK
            if len([at for at, where, _ in self.calls if at > since and (not here or where == chat)]) >= most:
                self.refused.append((now, chat, method))
                raise flood(30)
        self.calls += [(now, chat, method)] * (len(json.loads(form["media"])) if method == "sendMediaGroup" else 1)
