"""Translations of the phone's texts into Chinese."""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Mapping
from datetime import datetime
from functools import cache

WEEKDAYS = "一二三四五六日"


@cache
def chinese() -> Mapping[str, str]:
    """Return the Chinese translations by English text. Placeholders are the same in both."""
    return tomllib.loads((importlib.resources.files("devices.virtual_phone") / "chinese.toml").read_text("utf-8"))


def translate(text: str, locale: str) -> str:
    """Return the text in the language of a locale such as `zh-CN`; English if there is no translation."""
    return chinese().get(text, text) if locale.startswith("zh") else text


def date_text(day: datetime, locale: str) -> str:
    """Return the date as `Saturday, 21 November`, or in Chinese as Android writes it."""
    if locale.startswith("zh"):
        return f"{day.month}月{day.day}日 星期{WEEKDAYS[day.weekday()]}"
    return day.strftime("%A, %d %B")
