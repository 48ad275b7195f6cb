"""The settings that are made in the console, in a file of the data directory that only this user may read.

The environment, a `.env` file and credentials win over it: what they set cannot be changed in the console.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from bot.config.settings import Settings, SettingsError, changed
from bot.texts import words
from devices.atomic_file import write_atomically
from devices.wording import sentence_of

SETTINGS_NAME: Final = "settings.json"
"""The file in the data directory: an object of names, as the environment has them, and their values as text."""
ADDRESS: Final = "vlm_base_url"
KEY: Final = "vlm_api_key"
ROLES: Final = ("vlm_fallback", "basic", "reasoning", "embed", "transcribe")
"""What can have an endpoint of its own beside the model that works the phone."""
ADDRESSES: Final[Mapping[str, str]] = {
    KEY: ADDRESS,
    **{f"{role}_api_key": f"{role}_base_url" for role in ROLES},
}
"""Each key, and the address that it is sent to."""
HOW: Final = ("vlm_timeout", "vlm_image_window", "vlm_pictures", "vlm_dialect")
"""How the model that works the phone is asked, which remedies name."""
_BORROWING: Final = ("vlm_fallback", "basic", "reasoning")
"""Their keys go to the address of the model while they have none of their own."""
FILED: Final = frozenset(
    {*ADDRESSES, *ADDRESSES.values(), "vlm_model", *HOW, *(f"{role}_model" for role in ROLES), "pairing"}
)
"""What the file may say of any program; chat platforms add their own."""

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


def with_file(
    environment: Settings, values: Mapping[str, str], fields: Collection[str] = FILED
) -> tuple[Settings, dict[str, str]]:
    """The settings of the environment with those of the file where it decides nothing, and why each of the file's that
    cannot be used is left out. `fields` are those that it may have.

    A key is used with the address that it was written with, and with no other.
    """
    settings, used, unusable = environment, dict[str, str](), dict[str, str]()
    for name in sorted(values):
        if name not in fields:
            unusable[name] = words("settings.file_unknown", name=name.upper())
        elif not is_decided(environment, name):
            try:
                settings = changed(environment, {**used, name: values[name]})
            except SettingsError as error:
                unusable[name] = sentence_of(error)
            else:
                used[name] = values[name]
    for key, address in ADDRESSES.items():
        moved = is_decided(environment, address) and values.get(address, "") != getattr(environment, address)
        if key in used and (moved or address in unusable or not own_address(settings, key)):
            unusable[key] = words("settings.file_key", name=key.upper())
            del used[key]
            settings = changed(environment, used) if used else environment
    return settings, unusable


def own_address(settings: Settings, key: str) -> bool:
    """Whether this key goes to an address of its own, be it that of OpenAI itself. One that goes to the model's address
    as long as its own is empty would go along when that one changes.
    """
    return key.removesuffix("_api_key") not in _BORROWING or bool(getattr(settings, ADDRESSES[key]))


def is_decided(environment: Settings, name: str) -> bool:
    """Whether the environment decides on this setting: it says what it is, or it has a key that would be sent to this
    address, which then nobody else can change.
    """
    if name in environment.model_fields_set:
        return True
    keys = [key for key, address in ADDRESSES.items() if address == name]
    if name == ADDRESS:
        keys += [f"{role}_api_key" for role in _BORROWING if not getattr(environment, f"{role}_base_url")]
    return any(getattr(environment, key).get_secret_value() for key in keys)
