"""The prompts, one file for each role and dialect."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template


def prompt(name: str, **values: object) -> str:
    """The prompt in `name`.md with its `$placeholders` filled in. Raises KeyError for one that has no value."""
    return Template(_text(name)).substitute({key: str(value) for key, value in values.items()}).strip()


@cache
def _text(name: str) -> str:
    return resources.files("agent.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
