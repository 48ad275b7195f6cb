"""Where settings come from: the environment, systemd's credentials, and a file."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from dotenv import dotenv_values
from pydantic_settings import EnvSettingsSource

logger = logging.getLogger(__name__)

_OURS: Final = frozenset({"", "auto", "en", "zh"})
_LOCALES: Final = re.compile(r"[A-Za-z]{2,3}([_-][A-Za-z0-9]+)*([.@][\w-]+)*(:[\w.@-]*)*")


class Environment(EnvSettingsSource):
    """Leaves a LANGUAGE alone that is GNU gettext's list of locales, such as "en_US:en": desktops set it for everybody.

    https://www.gnu.org/software/gettext/manual/html_node/The-LANGUAGE-variable.html
    """

    def __call__(self) -> dict[str, Any]:
        """What the environment sets."""
        found = super().__call__()
        value = str(found.get("language", "")).strip()
        if value.lower() not in _OURS and _LOCALES.fullmatch(value):
            del found["language"]
        return found


def readable(env_file: Path | None) -> Path | None:
    """The file, None when this user may not read it: a service has its settings from its unit, and `.env` stays with
    whoever wrote it.
    """
    try:
        if env_file is not None:
            env_file.open("rb").close()
    except PermissionError:
        logger.warning(
            "%s belongs to somebody else and is passed over; the settings of the environment count.", env_file
        )
        return None
    except OSError:
        pass  # there is none
    return env_file


def misspelt(env_file: Path, names: Iterable[str]) -> dict[str, str]:
    """What the file sets that is none of these names but resembles one, each with the nearest.

    What resembles none may be another program's, which reads the same file. Raises UnicodeDecodeError.
    """
    known = sorted(name.upper() for name in names)
    written = [name.upper() for name in dotenv_values(env_file, encoding="utf-8-sig", interpolate=False)]
    near = {name: get_close_matches(name, known, n=1, cutoff=0.75) for name in written if name not in known}
    return {name: found[0] for name, found in near.items() if found}


def credentials(names: Iterable[str]) -> dict[str, str]:
    """What was handed over of these, by name. Raises OSError or UnicodeDecodeError when a file cannot be read."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY", "")
    files = {name: Path(folder) / name for name in names} if folder else {}
    return {name: file.read_text(encoding="utf-8-sig") for name, file in files.items() if file.is_file()}
