"""In which language the command line speaks: the setting's, else that of whoever sits at the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot.texts import LANGUAGES, language_of

AUTO: Final = "auto"
_NONE: Final = ("C", "POSIX")
"""Locales of no language (locale(7)); they may have a codeset behind a dot."""
_TOLD_BY: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Where the locale of messages stands, the first one that is set (setlocale(3))."""

_SETTING: Final = re.compile(r"^LANGUAGE=[\"']?(\w+)", re.MULTILINE)


def terminal_locale(environment: Mapping[str, str]) -> str:
    """The locale for messages, such as "zh_CN.UTF-8"; "" when it has no language.

    LANGUAGE goes first unless there is no locale at all, as GNU gettext has it: a list, the best language first.
    """
    locale = next((environment[name] for name in _TOLD_BY if environment.get(name)), "")
    if locale.partition(".")[0] in {"", *_NONE}:
        return ""
    first = environment.get("LANGUAGE", "").partition(":")[0]
    return locale if first in {"", AUTO} else first


def terminal_language(setting: str, environment: Mapping[str, str]) -> str:
    """A language of the catalogue. `setting` is one of them, or anything else to follow the terminal."""
    return setting if setting in LANGUAGES else language_of(AUTO, terminal_locale(environment).partition(".")[0])


def wished(environment: Mapping[str, str], env_file: Path = Path(".env")) -> str:
    """LANGUAGE as the settings will have it; looked up before they are read, since they can be wrong."""
    if (value := environment.get("LANGUAGE", "").strip()) in {AUTO, *LANGUAGES}:
        return value
    try:
        found = _SETTING.findall(env_file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return ""
    return str(found[-1]) if found else ""
