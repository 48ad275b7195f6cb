"""Parses and validates the text of settings. There is a type for each form of value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from agent.models.pricing import Price
from bot.domain.limits import NAME, Tier
from bot.domain.locale import zone_named
from devices.errors import NameUnfit
from devices.names import fit_name


def cleaned(value: object) -> object:
    """Strip the whitespace, byte order mark and quotes that `.env` files leave around text. Values of other types are
    returned unchanged.
    """
    if not isinstance(value, str):
        return value
    text = value.strip().strip("\ufeff").strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1].strip()
    return text


def listed(value: object) -> object:
    """Split comma-separated text into its entries; other values are returned unchanged."""
    if not isinstance(value, str):
        return value
    return tuple(entry for entry in (part.strip() for part in value.split(",")) if entry)


def _base(url: str) -> str:
    """Remove what clients append to an endpoint's address, because people paste the full one from a manual."""
    return url.rstrip("/").removesuffix("/chat/completions")


def _object(value: object) -> object:
    """Parse JSON text; other values are returned unchanged. Raises ValueError."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _pairs(value: object) -> object:
    """Parse `left=right` entries. Raises ValueError for an entry without both, and for a repeated left side."""
    entries = listed(value)
    if not isinstance(value, str) or not isinstance(entries, tuple):
        return value
    pairs = [(left.strip(), right.strip()) for left, _, right in (entry.partition("=") for entry in entries)]
    if not all(left and right for left, right in pairs) or len({left for left, _ in pairs}) < len(pairs):
        raise ValueError("entries of the form left=right, separated by commas, were expected")
    return dict(pairs)


def _names(value: Mapping[str, str]) -> Mapping[str, str]:
    """Check that names of phones are valid and unique. Raises ValueError."""
    try:
        named = {phone: fit_name(name) for phone, name in value.items()}
    except NameUnfit as unfit:
        raise ValueError(str(unfit)) from None
    if len({name.casefold() for name in named.values()}) < len(named):
        raise ValueError("two phones have one name")
    return named


def _servers(value: object) -> object:
    """Parse `host:port` entries into pairs; an IPv6 address is in brackets."""
    entries = listed(value)
    if not isinstance(value, str) or not isinstance(entries, tuple):
        return value
    return tuple((host.strip("[]"), port) for host, _, port in (entry.rpartition(":") for entry in entries))


def _proxy(address: SecretStr) -> SecretStr:
    value = address.get_secret_value()
    if value and not re.fullmatch(r"https?://(?:[^\s/@]*@)?[^\s/@]+/?", value):
        raise ValueError("an address such as http://user:password@host:port was expected")
    return address


def _database(address: SecretStr) -> SecretStr:
    value = address.get_secret_value()
    if value and not re.fullmatch(r"postgres(ql)?://[^\s]+", value):
        raise ValueError("an address such as postgresql://user:password@host/database was expected")
    return address


def _zone(name: str) -> str:
    zone_named(name)
    return name


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(listed)]
Host = Annotated[str, Field(pattern=r"^[^\s,/]+$")]
Port = Annotated[int, Field(ge=0, le=65535)]
Servers = Annotated[tuple[tuple[Host, Annotated[int, Field(ge=1, le=65535)]], ...], NoDecode, BeforeValidator(_servers)]
Zone = Annotated[str, AfterValidator(_zone)]
Url = Annotated[str, Field(pattern=r"^(https?://\S+)?$")]
BaseUrl = Annotated[Url, AfterValidator(_base)]
"""The base URL of a model endpoint, such as https://api.openai.com/v1."""

DatabaseUrl = Annotated[SecretStr, AfterValidator(_database)]
ProxyUrl = Annotated[SecretStr, AfterValidator(_proxy)]
"""Secret as a whole, like a database's, because most contain a password."""

Pairs = Annotated[Mapping[str, str], NoDecode, BeforeValidator(_pairs)]
PhoneNames = Annotated[Pairs, AfterValidator(_names)]
Prices = Annotated[Mapping[str, Price], NoDecode, BeforeValidator(_object)]
Tiers = Annotated[Mapping[Annotated[str, Field(pattern=NAME)], Tier], NoDecode, BeforeValidator(_object)]
