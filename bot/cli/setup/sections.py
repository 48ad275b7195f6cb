"""The sections of the setup dialogue: what each one asks, and how its answers are tested."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bot.checks import chats, model
from bot.cli.doctor import phones
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.platform import Asked, Platform
from bot.texts import say


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the setup dialogue. `check` tests the answers as the service would use them. If the first question
    is left empty, the others are not asked.
    """

    heading: str
    """The section's title, and a line on what it is about."""
    asked: Sequence[Asked]
    check: Callable[[Settings], Awaitable[list[Finding]]]
    closing: Callable[[Settings], str] = lambda _: ""


def sections(platforms: Iterable[Platform[Any]]) -> list[Section]:
    """List all sections in order, in the terminal's language."""
    return [
        Section(
            _heading(say("setup.title.model"), say("setup.about.model")),
            (
                Asked("vlm_base_url", lambda: say("setup.ask.vlm_base_url")),
                Asked("vlm_api_key", lambda: say("setup.ask.vlm_api_key"), secret=True),
                Asked("vlm_model", lambda: say("setup.ask.vlm_model"), choices=_models),
            ),
            model.findings,
        ),
        *(
            Section(
                _heading(platform.title, platform.about()),
                platform.asked,
                partial(chats.of_one, platform=platform),
                platform.closing,
            )
            for platform in platforms
        ),
        Section(
            _heading(say("setup.title.phones"), say("setup.about.phones")),
            (Asked("android_serials", lambda: say("setup.ask.android_serials")),),
            _phones,
        ),
    ]


def _heading(title: str, about: str) -> str:
    return f"{title}\n{about}"


async def _models(given: Mapping[str, str]) -> Sequence[str]:
    """List the models at the address that was entered."""
    return await model.names_at(given["vlm_base_url"], given["vlm_api_key"])


async def _phones(settings: Settings) -> list[Finding]:
    return [found async for found in phones.findings(settings, running=False, mend=False)]
