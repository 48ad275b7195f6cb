"""The environment variables passed to programs that the service starts, without its keys and tokens."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

PLAIN: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Harmless variables that are passed on. All others, including tokens and keys, are withheld."""


def child_environment(names: Iterable[str] = (), more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment variables for a child process: the harmless ones (`PLAIN`), those in `names`, and
    `more`.
    """
    return {name: os.environ[name] for name in (*PLAIN, *names) if name in os.environ} | dict(more or {})
