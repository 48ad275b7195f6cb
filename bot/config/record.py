"""Decides where the record (the service's stored data) is kept: in SQLite files in the data directory, or in
PostgreSQL.
"""

from __future__ import annotations

from bot.config.extras import lack_of
from bot.config.settings import Settings, SettingsError
from bot.texts import words
from devices.extras import Extra, is_installed


def record_url(settings: Settings) -> str:
    """Return the address of the PostgreSQL database, "" for SQLite. Raises SettingsError if the extra for PostgreSQL is
    not installed.
    """
    url = settings.database_url.get_secret_value()
    if url and not is_installed(Extra.POSTGRESQL):
        raise SettingsError(words("extra.setting", setting="DATABASE_URL", why=lack_of(Extra.POSTGRESQL)))
    return url
