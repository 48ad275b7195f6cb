"""Loads optional parts of the program, each in a folder of its own, by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any


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
