"""Checks the settings that admins changed: those in the settings file, which the environment overrides, and those
changed by command, which override the environment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from bot.config.record import record_url
from bot.config.settings import Settings, SettingsError
from bot.config.settings_file import SettingsFile, with_file
from bot.domain.finding import Finding
from bot.platform import Platform, filed_by
from bot.runtime.settings import overlaid
from bot.store.errors import StoreError
from bot.store.setting_changes import Change, changes_at, changes_in
from bot.store.sqlite.database import DATABASE_NAME
from bot.texts import say
from devices.wording import said, sentence_of


async def in_force(settings: Settings, platforms: Iterable[Platform[Any]] = ()) -> tuple[Settings, list[Finding]]:
    """Return the settings that a service with this data directory uses, and findings about the changes that admins
    made. Changes that cannot be read are left out, and a finding says so.
    """
    found: list[Finding] = []
    try:
        filed = await asyncio.to_thread(SettingsFile(settings.data_dir).read)
        settings, left_out = with_file(settings, filed, filed_by(platforms))
        found = of_file(left_out)
    except SettingsError as error:
        found = [Finding("files", "bad", said(sentence_of(error)), say("check.changed.file_fix"))]
    try:
        url = record_url(settings)
        changes = await (changes_at(url) if url else changes_in(settings.data_dir / DATABASE_NAME))
    except (StoreError, SettingsError) as error:
        return settings, [*found, Finding("files", "note", say("check.changed.unread", why=said(sentence_of(error))))]
    settings, unusable = overlaid(settings, changes)
    return settings, [*found, *told(changes, unusable)]


def of_file(left_out: Mapping[str, str]) -> list[Finding]:
    """Return the findings for entries of the settings file that are not used. `left_out` maps each to the reason."""
    return [Finding("files", "bad", said(why), say("check.changed.file_fix")) for why in left_out.values()]


def told(changes: Mapping[str, Change], unusable: Mapping[str, str]) -> list[Finding]:
    """Return the findings for settings changed by command: which are in use, and which cannot be used (`unusable`, with
    the reason).
    """
    used = ", ".join(f"{name}={change.value}" for name, change in changes.items() if name not in unusable)
    found = [Finding("service", "note", say("check.changed.used", changes=used))] if used else []
    for name, why in unusable.items():
        text = say("check.changed.unusable", name=name, why=said(why))
        found.append(Finding("service", "bad", text, say("check.changed.unusable_fix", name=name)))
    return found
