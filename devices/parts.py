"""Parts that a program may come without: one folder each, which the rest loads here, by its name."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load_part(module: str) -> Any:  # noqa: ANN401 - a module, whose border the caller knows
    """The module through which a part is reached, None where the folder of the part is not there.

    Raises ImportError where it is there and something that it imports is not.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if f"{module}.".startswith(f"{missing.name}."):
            return None
        raise
