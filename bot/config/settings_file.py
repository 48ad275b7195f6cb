"""The settings that are made in the console, in a file of the data directory that only this user may read.

The environment, a `.env` file and credentials win over it: what they set cannot be changed in the console.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot.config.settings import Settings, SettingsError, changed
from bot.texts import words
from devices.atomic_file import write_atomically
from devices.wording import sentence_of

SETTINGS_NAME: Final = "settings.json"
"""The file in the data directory: an object of names, as the environment has them, and their values as text."""
NEVER: Final = frozenset({"data_dir"})
"""What no settings file can say: where it is itself."""

logger = logging.getLogger(__name__)


class SettingsFile:
    """Reads and replaces the file. Both block on the disk."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / SETTINGS_NAME

    def read(self) -> dict[str, str]:
        """Field → its value as it was typed; nothing while there is no file. Raises SettingsError."""
        try:
            found = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except PermissionError:
            logger.warning("%s belongs to somebody else and is passed over.", self.path)
            return {}
        except OSError as error:
            raise SettingsError(words("settings.file_unread", file=self.path, reason=error.strerror)) from None
        except (ValueError, RecursionError):
            # Without the error itself: it quotes what may be a key.
            raise SettingsError(words("settings.file_damaged", file=self.path)) from None
        if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
            raise SettingsError(words("settings.file_damaged", file=self.path))
        return {name.lower(): value for name, value in found.items()}

    def write(self, values: Mapping[str, str]) -> None:
        """Replace it, with an empty object at the least. Raises OSError; the old file is then as it was."""
        written = {name.upper(): value for name, value in sorted(values.items())}
        write_atomically(self.path, (json.dumps(written, ensure_ascii=False, indent=2) + "\n").encode())


def with_file(environment: Settings, values: Mapping[str, str]) -> tuple[Settings, dict[str, str]]:
    """The settings of the environment with those of the file where it sets nothing, and why each of the file's that
    cannot be used is left out.
    """
    settings, used, unusable = environment, dict[str, str](), dict[str, str]()
    for name in sorted(values):
        if name in NEVER or name not in type(environment).model_fields:
            unusable[name] = words("settings.file_unknown", name=name.upper())
        elif name not in environment.model_fields_set:
            try:
                settings = changed(environment, {**used, name: values[name]})
            except SettingsError as error:
                unusable[name] = sentence_of(error)
            else:
                used[name] = values[name]
    return settings, unusable
