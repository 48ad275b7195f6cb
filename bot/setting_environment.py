"""The environment as a source of settings, where one name means something else to the rest of the system."""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic_settings import EnvSettingsSource

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
