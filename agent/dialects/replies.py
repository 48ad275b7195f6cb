"""What all dialects do with an answer: check an action, shorten a summary, tell what was wrong."""

from __future__ import annotations

import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent.dialects.base import BadReply

SUMMARY_WORDS = 10
SUMMARY_CHARACTERS = 80
"""For languages that write no spaces; ten English words are about sixty characters."""

_MAX_REASONS = 3

AnyAction = TypeVar("AnyAction", bound=BaseModel)


def made(model: type[AnyAction], name: str, /, **fields: object) -> AnyAction:
    """The action with these fields. Raises BadReply with the reasons, in words for the model."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        reasons = [
            f"{'.'.join(str(part) for part in found['loc'])}: {found['msg']}"
            for found in error.errors(include_input=False, include_url=False)[:_MAX_REASONS]
        ]
        raise BadReply(f"{name} cannot be done like this: {'; '.join(reasons)}.") from None


def shortened(text: str) -> str:
    """The first line of a text, at most ten words, as a summary for the card."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    words = line.split()
    short = " ".join(words[:SUMMARY_WORDS])[:SUMMARY_CHARACTERS]
    return short if short == " ".join(words) else f"{short.rstrip('.,;:…')}…"


_THINKING = re.compile(r"\s*<(think\w*)>(.*?)(?:</\1>|\Z)", re.DOTALL)


def split_thinking(text: str) -> tuple[str, str]:
    """The block of thoughts that an answer begins with, and the rest. Thoughts that never end leave no rest."""
    found = _THINKING.match(text)
    return (found[2].strip(), text[found.end() :]) if found else ("", text)
