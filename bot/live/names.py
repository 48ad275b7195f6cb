"""Which settings can be changed while the service runs, and what one of them would make of all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from bot.endpoints import dialect_of
from bot.people.tiers import QUOTAS
from bot.settings import Settings, changed
from bot.texts import say

FIELDS: Final[Mapping[str, str]] = {
    "model": "vlm_model",
    "basic_model": "basic_model",
    "reasoning_model": "reasoning_model",
    "dialect": "vlm_dialect",
    "image_window": "vlm_image_window",
    "deep_thinking": "deep_thinking",
    "max_steps": "max_steps",
    "max_minutes": "max_minutes",
    "max_tokens": "max_tokens",
    "max_cost": "max_cost",
    "default_tier": "default_tier",
}
"""What can be typed → the setting. No secret and no address is among them, so that none can be set or shown."""
_TIER: Final = re.compile(rf"tier\.(?P<tier>[a-z][a-z0-9_-]*)\.(?P<quota>{'|'.join(QUOTAS)})")
NOTHING: Final = "none"
"""Typed for a quota that is not limited."""


class UnknownSetting(Exception):
    """Nothing of this name can be changed while the service runs."""


def known(name: str) -> str:
    """The name as it is kept: `VLM_MODEL` and `Model` are `model`. Raises UnknownSetting."""
    plain = name.strip().lower()
    for short, field in FIELDS.items():
        if plain in {short, field}:
            return short
    if _TIER.fullmatch(plain):
        return plain
    raise UnknownSetting(name)


def names_of(settings: Settings) -> tuple[str, ...]:
    """Everything that can be changed, the quotas of the known tiers among it."""
    tiers = (f"tier.{tier}.{quota}" for tier in settings.tiers for quota in QUOTAS)
    return (*FIELDS, *tiers)


def value_of(settings: Settings, name: str) -> str:
    """The value as it can be typed."""
    if found := _TIER.fullmatch(name):
        tier = settings.tiers.get(found["tier"])
        value = None if tier is None else getattr(tier, found["quota"])
    else:
        value = getattr(settings, FIELDS[name])
    if isinstance(value, bool):
        return say(f"set.value.{'yes' if value else 'no'}")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return say("set.value.none") if value in {None, ""} else str(value)


def is_set(base: Settings, name: str) -> bool:
    """Whether the environment says anything about it."""
    if found := _TIER.fullmatch(name):
        return found["tier"] in base.tiers and getattr(base.tiers[found["tier"]], found["quota"]) is not None
    return FIELDS[name] in base.model_fields_set


def composed(base: Settings, values: Mapping[str, str]) -> Settings:
    """The settings of the environment with these in their place, checked as the environment's are.

    Raises SettingsError, with the sentences that a start with them would end with.
    """
    tiers: dict[str, Any] = {name: tier.model_dump(exclude_none=True) for name, tier in base.tiers.items()}
    fields: dict[str, Any] = {}
    for name, text in values.items():
        if found := _TIER.fullmatch(name):
            tiers.setdefault(found["tier"], {})[found["quota"]] = _number(text)
        else:
            fields[FIELDS[name]] = text
    if any(name not in FIELDS for name in values):
        fields["tiers"] = tiers
    settings = changed(base, fields)
    dialect_of(settings)
    return settings


def _number(text: str) -> object:
    """As it would stand in TIERS: a number, null for no limit; what is neither stays and is complained about."""
    if text.lower() == NOTHING:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float) else text
