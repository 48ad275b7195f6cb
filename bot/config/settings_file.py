"""The settings made in the console, stored in a file in the data directory that only this user may read.

The environment, a `.env` file and credentials override it: what they set cannot be changed in the console.
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
"""Name of the file: an object with the settings' names as in the environment, and their values as text."""
ADDRESS: Final = "vlm_base_url"
KEY: Final = "vlm_api_key"
ROLES: Final = ("vlm_fallback", "basic", "reasoning", "embed", "transcribe")
"""Roles that can have an endpoint of their own, besides the model that works the phone."""
ADDRESSES: Final[Mapping[str, str]] = {
    KEY: ADDRESS,
    **{f"{role}_api_key": f"{role}_base_url" for role in ROLES},
}
"""Each key with the address that it is sent to."""
HOW: Final = ("vlm_timeout", "vlm_image_window", "vlm_pictures", "vlm_dialect")
"""How the phone's model is called; remedies mention these settings."""
_BORROWING: Final = ("vlm_fallback", "basic", "reasoning")
"""Roles whose key is sent to the model's address if they have no address of their own."""
FILED: Final = frozenset(
    {*ADDRESSES, *ADDRESSES.values(), "vlm_model", *HOW, *(f"{role}_model" for role in ROLES), "pairing"}
)
"""Settings that the file may contain in every program; chat platforms add their own."""

logger = logging.getLogger(__name__)


class SettingsFile:
    """Reads and replaces the settings file. Both methods block on the disk."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / SETTINGS_NAME

    def read(self) -> dict[str, str]:
        """Return the values as they were typed, by field; empty if there is no file, or if this user may not read it.
        Raises SettingsError.
        """
        try:
            found = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except PermissionError:
            logger.warning("%s belongs to another user and is ignored.", self.path)
            return {}
        except OSError as error:
            raise SettingsError(words("settings.file_unread", file=self.path, reason=error.strerror)) from None
        except (ValueError, RecursionError):
            # Without the original error, which quotes what may be a key.
            raise SettingsError(words("settings.file_damaged", file=self.path)) from None
        if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
            raise SettingsError(words("settings.file_damaged", file=self.path))
        return {name.lower(): value for name, value in found.items()}

    def write(self, values: Mapping[str, str]) -> None:
        """Replace the file, even if there are no values. Raises OSError, in which case the old file is unchanged."""
        written = {name.upper(): value for name, value in sorted(values.items())}
        write_atomically(self.path, (json.dumps(written, ensure_ascii=False, indent=2) + "\n").encode())


def _require_dialect(settings: Settings) -> None:
    from bot.config.endpoints import dialect_of  # noqa: PLC0415 - loads the agent, which few commands need

    dialect_of(settings)


def with_file(
    environment: Settings, values: Mapping[str, str], fields: Collection[str] = FILED
) -> tuple[Settings, dict[str, str]]:
    """Return the environment's settings with the file's values added where the environment sets nothing, and why any of
    these values cannot be used, by name. `fields` are the settings that the file may contain.

    A key is only used with the address that it was saved with.
    """
    settings, used, unusable = environment, dict[str, str](), dict[str, str]()
    for name in sorted(values):
        if name not in fields:
            unusable[name] = words("settings.file_unknown", name=name.upper())
        elif not is_decided(environment, name):
            try:
                tried = changed(environment, {**used, name: values[name]})
                if name == "vlm_dialect":
                    _require_dialect(tried)
            except SettingsError as error:
                unusable[name] = sentence_of(error)
            else:
                settings = tried
                used[name] = values[name]
    for key, address in ADDRESSES.items():
        moved = is_decided(environment, address) and values.get(address, "") != getattr(environment, address)
        if key in used and (moved or address in unusable or not own_address(settings, key)):
            unusable[key] = words("settings.file_key", name=key.upper())
            del used[key]
            settings = changed(environment, used) if used else environment
    return settings, unusable


def own_address(settings: Settings, key: str) -> bool:
    """Return whether this key is sent to an address of its own, such as OpenAI's. If not, it is sent to the model's
    address, and would follow a change of that.
    """
    return key.removesuffix("_api_key") not in _BORROWING or bool(getattr(settings, ADDRESSES[key]))


def is_decided(environment: Settings, name: str) -> bool:
    """Return whether the environment decides this setting. It does if it sets it; or if the setting is an address and
    the environment sets the key that is sent there, so that nobody can redirect the key.
    """
    if name in environment.model_fields_set:
        return True
    keys = [key for key, address in ADDRESSES.items() if address == name]
    if name == ADDRESS:
        keys += [f"{role}_api_key" for role in _BORROWING if not getattr(environment, f"{role}_base_url")]
    return any(getattr(environment, key).get_secret_value() for key in keys)
