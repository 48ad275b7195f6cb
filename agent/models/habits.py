"""What an endpoint turned out to refuse, and how to do without it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agent.models.base import ModelRequest
from agent.models.formats import AnswerFormat
from agent.models.trouble import Trouble

OPTIONAL = ("stream_options", "prompt_cache_key", "strict")
"""Parameters that some endpoints refuse and that an answer does not depend on."""
NO_STREAM = re.compile(r"\bstream(?:ing)?\b[^.]{0,40}\b(?:not|un)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Habits:
    """What an endpoint turned out to take."""

    dropped: frozenset[str] = frozenset()
    answer_format: AnswerFormat = AnswerFormat.JSON_SCHEMA


def adapted(habits: Habits, trouble: Trouble, request: ModelRequest) -> Habits:
    """The habits after a refusal; the same ones when it is not about anything that can be left out."""
    if trouble.status not in {400, 404, 415, 422, 501}:
        return habits
    words = f"{trouble.param} {trouble.code} {trouble.reason}"
    if request.schema is not None and habits.answer_format.is_refused_by(words):
        return replace(habits, answer_format=habits.answer_format.simpler)
    for name in OPTIONAL:
        if re.search(rf"\b{name}\b", words) and name not in habits.dropped:
            return replace(habits, dropped=habits.dropped | {name})
    if "stream" not in habits.dropped and (trouble.param == "stream" or NO_STREAM.search(trouble.reason)):
        return replace(habits, dropped=habits.dropped | {"stream", "stream_options"})
    return habits
