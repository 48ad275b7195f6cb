"""Asks a model, once per run, to translate a recording's words into the phone's language.

The answer only changes which words are searched for. An element must still be found by them as strictly as by the
recorded words.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from pydantic import BaseModel, Field

from agent.models.base import Message, Model, ModelRequest, Purpose, Usage
from agent.models.errors import ModelError
from agent.models.json_answers import ask
from agent.models.tokens import hung_up
from agent.prompts import prompt
from agent.recorded_skills.anchors import folded

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 30.0
"""Seconds that a run waits for the names; afterwards, a model does the steps that do not fit."""
MOST_WORDS: Final = 120
"""The maximum words sent from the recording, and from the screen; a page has fewer."""
OWN_SHARE: Final = 0.5
"""The share of a screen's labels in the recording's script from which it counts as the same language: names and brands
are in Latin letters everywhere.
"""


class Name(BaseModel):
    """What one recorded word is called now."""

    recorded: str
    now: str


class Names(BaseModel):
    """What recorded words are called now."""

    names: list[Name] = Field(default_factory=list, max_length=MOST_WORDS)


def is_foreign(recorded: Iterable[str], shown: Iterable[str]) -> bool:
    """Whether the screen's words (`shown`) are in another script than the recorded ones, such as Chinese instead of
    Latin. Languages that share a script are only distinguished by the phone's settings (`is_other_language`).
    """
    own = Counter(script for words in recorded for script in _scripts(words))
    labels = [scripts for words in shown if (scripts := _scripts(words))]
    if not own or not labels:
        return False
    main = own.most_common(1)[0][0]
    return sum(main in scripts for scripts in labels) < OWN_SHARE * len(labels)


def is_other_language(recorded: str, now: str) -> bool:
    """Whether two locales, such as "en-US" and "es_ES", have different languages. An empty locale counts as the same
    language as any other.
    """
    ours, theirs = (re.split("[-_]", locale, maxsplit=1)[0].casefold() for locale in (recorded, now))
    return bool(ours and theirs) and ours != theirs


async def names_by(
    model: Model, recorded: Collection[str], shown: Collection[str], *, conversation: str, task: str
) -> tuple[dict[str, str], Usage]:
    """Ask the model for the current names of recorded words.

    `shown` are the words of the screen. Returns the names by casefolded recorded word, and the tokens used; no names if
    the model fails or does not answer in time.
    """
    facts = {"recorded": [*recorded][:MOST_WORDS], "screen": [*shown][:MOST_WORDS]}
    request = ModelRequest(
        Purpose.SUMMARIZE,
        (Message("system", (prompt("names"),)), Message("user", (json.dumps(facts, ensure_ascii=False),))),
        schema=Names,
        conversation=conversation,
        task=task,
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            answer, usage = await ask(model, request, Names)
    except (ModelError, TimeoutError) as error:
        logger.info("no names of another language: %s", repr(error))
        return {}, error.usage if isinstance(error, ModelError) else hung_up(request, model.name)
    asked = {folded(words) for words in recorded}
    return {
        folded(each.recorded): " ".join(each.now.split())
        for each in answer.names
        if folded(each.recorded) in asked and each.now.strip() and folded(each.now) != folded(each.recorded)
    }, usage


def _scripts(words: str) -> set[str]:
    """Return the scripts of its letters, such as LATIN and CJK."""
    return {unicodedata.name(sign, "").partition(" ")[0] for sign in words if sign.isalpha()}
