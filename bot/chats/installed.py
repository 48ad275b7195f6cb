"""The chat platforms that are available: the built-in ones, and those of installed packages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Final

from bot.chats.discord.manifest import DISCORD
from bot.chats.feishu.manifest import FEISHU
from bot.chats.slack.manifest import SLACK
from bot.chats.telegram.manifest import TELEGRAM
from bot.config.settings import Settings, SettingsError, settings_of
from bot.domain.right import OPERATOR_PLATFORMS
from bot.platform import Platform
from bot.texts import words

GROUP: Final = "opengui.platforms"
"""The entry point group in which packages register a `Platform`
(https://packaging.python.org/specifications/entry-points/).
"""

Platforms = tuple[Platform[Any], ...]


@cache
def installed() -> Platforms:
    """Return all available platforms, the built-in ones first. Raises SettingsError for one that cannot be imported, is
    no `Platform`, or has a name that is taken.
    """
    own = (DISCORD, SLACK, TELEGRAM, FEISHU)
    others: dict[str, Platform[Any]] = {}
    for point in entry_points(group=GROUP):
        try:
            found = point.load()
        except (ImportError, AttributeError, ValueError) as error:
            raise SettingsError(words("settings.platform", name=point.name, why=str(error))) from error
        if not isinstance(found, Platform):
            raise SettingsError(words("settings.platform", name=point.name, why=f"{point.value} is no Platform"))
        # Whoever speaks as the console or the command line may do everything.
        if found.name in {*OPERATOR_PLATFORMS, *(one.name for one in own), *others}:
            raise SettingsError(words("settings.platform", name=point.name, why=f"the name {found.name} is taken"))
        others[found.name] = found
    return (*own, *others.values())


def model_of(platforms: Iterable[Platform[Any]]) -> type[Settings]:
    """Return the settings class for a program with these platforms: the service's settings with those of each
    platform.
    """
    return settings_of(tuple(platform.settings for platform in platforms))
