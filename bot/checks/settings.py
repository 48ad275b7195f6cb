"""Lists the settings for display, with secrets reduced to whether they are set, and checks those that admins changed:
in the settings file, which the environment overrides, and by command.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import SecretStr

from bot.config.settings import Settings, SettingsError, record_url
from bot.config.settings_file import SettingsFile, with_file
from bot.domain.finding import Finding
from bot.platform import Platform, filed_by
from bot.runtime.settings import overlaid
from bot.store.errors import StoreError
from bot.store.setting_changes import Change, changes_at, changes_in
from bot.store.sqlite.database import DATABASE_NAME
from bot.texts import say
from devices.wording import said, sentence_of

Kind = Literal["value", "secret", "entries", "address", "unset"]
_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?(?P<host>[^/?#\s]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """One setting in the form in which it may be displayed."""

    name: str
    kind: Kind
    text: str
    """The value; "" for a secret, only the host of an address, and the number of entries of a list."""
    default: bool
    """Whether the setting was not set, so that this is its default."""


def shown(settings: Settings) -> tuple[Shown, ...]:
    """Return every setting in the form for display, in the order of the settings class."""
    return tuple(
        _shown(name.upper(), getattr(settings, name), default=name not in settings.model_fields_set)
        for name in type(settings).model_fields
    )


def _shown(name: str, value: object, *, default: bool) -> Shown:
    if isinstance(value, SecretStr):
        return Shown(name, "secret" if value.get_secret_value() else "unset", "", default)
    if value is None or value == "":
        return Shown(name, "unset", "", default)
    if isinstance(value, tuple | list | Mapping):
        return Shown(name, "entries" if value else "unset", str(len(value)) if value else "", default)
    if isinstance(value, bool):
        return Shown(name, "value", str(value).lower(), default)
    if (address := _HOST.match(str(value))) is not None:
        # The path or user of an address can be a key.
        return Shown(name, "address", address["host"], default)
    return Shown(name, "value", str(value), default)


async def in_force(settings: Settings, platforms: Iterable[Platform[Any]] = ()) -> tuple[Settings, list[Finding]]:
    """Return the settings that a service with this data directory uses, and findings about the changes that admins
    made. Changes that cannot be read are left out, and a finding says so.
    """
    found: list[Finding] = []
    try:
        filed = await asyncio.to_thread(SettingsFile(settings.data_dir).read)
        settings, left_out = with_file(settings, filed, filed_by(platforms))
        found = findings_of_file(left_out)
    except SettingsError as error:
        found = [Finding("files", "bad", said(sentence_of(error)), say("check.changed.file_fix"))]
    try:
        url = record_url(settings)
        changes = await (changes_at(url) if url else changes_in(settings.data_dir / DATABASE_NAME))
    except (StoreError, SettingsError) as error:
        return settings, [*found, Finding("files", "note", say("check.changed.unread", why=said(sentence_of(error))))]
    settings, unusable = overlaid(settings, changes)
    return settings, [*found, *findings_of_changes(changes, unusable)]


def findings_of_file(left_out: Mapping[str, str]) -> list[Finding]:
    """Return the findings for entries of the settings file that are not used. `left_out` maps each to the reason."""
    return [Finding("files", "bad", said(why), say("check.changed.file_fix")) for why in left_out.values()]


def findings_of_changes(changes: Mapping[str, Change], unusable: Mapping[str, str]) -> list[Finding]:
    """Return the findings for settings changed by command: which are in use, and which cannot be used (`unusable`, with
    the reason).
    """
    used = ", ".join(f"{name}={change.value}" for name, change in changes.items() if name not in unusable)
    found = [Finding("service", "note", say("check.changed.used", changes=used))] if used else []
    for name, why in unusable.items():
        text = say("check.changed.unusable", name=name, why=said(why))
        found.append(Finding("service", "bad", text, say("check.changed.unusable_fix", name=name)))
    return found
