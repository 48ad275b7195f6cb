"""The optional parts of the program, loaded by name, and the optional extras: sets of libraries that only one part
needs and that may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final


def load_part(module: str) -> Any:  # noqa: ANN401 - a module, whose border the caller knows
    """Import the module of an optional part and return it; None if the part's folder is missing.

    Raises ImportError if the folder exists but something that it imports does not.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if f"{module}.".startswith(f"{missing.name}."):
            return None
        raise


class Extra(StrEnum):
    """An optional extra, by its name in pyproject.toml. The text catalogue says under `extra.brings` what each adds."""

    COMPUTING = "computing"
    FEISHU = "feishu"
    FLEET = "fleet"
    MCP = "mcp"
    OTEL = "otel"
    POSTGRESQL = "postgresql"
    QR = "qr"
    SLACK = "slack"
    VIRTUAL_PHONE = "virtual-phone"
    WEB = "web"


MODULES: Final[Mapping[Extra, tuple[str, ...]]] = {
    Extra.COMPUTING: ("pydantic_monty",),
    Extra.FEISHU: ("google.protobuf",),
    Extra.FLEET: ("nats", "nkeys"),
    Extra.MCP: ("mcp",),
    Extra.OTEL: ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    Extra.POSTGRESQL: ("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres"),
    Extra.QR: ("segno",),
    Extra.SLACK: ("slack_sdk",),
    Extra.VIRTUAL_PHONE: ("fontpkg", "fonticon_mdi7", "noto_cjk_sans_jp_regular"),
    Extra.WEB: ("ddgs", "lxml_html_clean", "pypdf", "trafilatura"),
}
"""The modules that each extra installs. They are searched for, not imported."""


def is_installed(extra: Extra) -> bool:
    """Return whether all modules of the extra are installed."""
    return all(map(_is_there, MODULES[extra]))


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package that it is in is missing
        return False
