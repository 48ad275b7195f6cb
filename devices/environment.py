"""What a program that is started gets of the environment: none of the keys and tokens of the service that are there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

PLAIN: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""The variables of the service that hold nothing of its own. All others, tokens and keys among them, stay behind."""


def child_environment(names: Iterable[str] = (), more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a program: what is plain, what has one of these `names` here, and `more`."""
    return {name: os.environ[name] for name in (*PLAIN, *names) if name in os.environ} | dict(more or {})
