"""Where the record is kept: in SQLite's files in the data directory, or in PostgreSQL."""

from __future__ import annotations

from bot.config.extras import lack_of
from bot.config.settings import Settings, SettingsError
from bot.texts import words
from devices.extras import Extra, is_installed


def record_url(settings: Settings) -> str:
    """The address of the database, "" for SQLite. Raises SettingsError where the extra is missing that it needs."""
    url = settings.database_url.get_secret_value()
    if url and not is_installed(Extra.POSTGRESQL):
        raise SettingsError(words("extra.setting", setting="DATABASE_URL", why=lack_of(Extra.POSTGRESQL)))
    return url
