"""The prompts for models, one file for each role and dialect."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from string import Template
from typing import Final

_BLOCK_MARK: Final = re.compile(
    r"<(?=\s*/?\s*(?:document|documents|results|notes|files|read|memory|instructions|skills?)\b)", re.IGNORECASE
)


def prompt(name: str, **values: object) -> str:
    """Return the text of the prompt file `name`.md with its `$placeholders` filled in. Raises KeyError if one has no
    value.
    """
    return Template(_text(name)).substitute({key: str(value) for key, value in values.items()}).strip()


def unmarked(text: str) -> str:
    """Return a text by others with its block marks replaced, so that it cannot close the prompt block that it is put
    in.
    """
    return _BLOCK_MARK.sub("‹", text)


@cache
def _text(name: str) -> str:
    return resources.files("agent.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
