"""Applies a step of a recorded skill to the current screen: whether it fits there, also in another language, and what a
model is told that must do it instead.

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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel, Field

from agent.models.base import Model, ModelRequest, Purpose, Usage, prompted
from agent.models.errors import ModelError
from agent.models.json_answers import ask
from agent.models.tokens import hung_up
from agent.prompts import prompt
from agent.recorded_skills.anchors import (
    Found,
    Likeness,
    checked,
    find,
    folded,
    likeness,
    names_one,
    uncounted,
    words_at,
)
from agent.recorded_skills.skill_file import FIELDS
from agent.recorded_skills.step_record import Anchor, Landmark, RecordedAction, filled
from devices.phone import Observation

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
        prompted(prompt("names"), json.dumps(facts, ensure_ascii=False)),
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


@dataclass
class StepMatcher:
    """Compares recorded steps with one screen, using the names that recorded words have on it."""

    values: Mapping[str, str]
    """The parameters' values in this run."""
    seen: Observation
    foreign: bool
    """Whether the phone is set to another language than the recording."""
    known: Mapping[str, str]
    """The translations that earlier runs learned, by casefolded recorded word."""
    scrolled: bool = False
    """Whether the page was scrolled for the next step: its landmarks may be out of sight."""
    learned_names: dict[str, str] = field(default_factory=dict)
    """What recorded words are called now, by the folded word: what a model has touched in this run in their place, or
    has said when it was asked for the names of another language.
    """

    def is_set(self, step: RecordedAction) -> bool:
        """Whether the switch that the step would turn already has the resulting state."""
        if step.kind != "tap" or step.anchor is None or step.anchor.checked is None:
            return False
        found = self.find_target(step)
        if found is None:
            return False
        now = checked(found.element, self.seen)
        return now is not None and now is not step.anchor.checked

    def is_unset(self, step: RecordedAction) -> bool:
        """Whether the screen shows the switch that the step turns, still in the state before."""
        if step.kind != "tap" or step.anchor is None or step.anchor.checked is None:
            return False
        found = self._find(step.anchor)
        return found is not None and checked(found.element, self.seen) is step.anchor.checked

    def match_step(self, step: RecordedAction, *, strictly: bool = False) -> Found | bool | None:
        """Return the element that the step touches on this screen, True if it touches none and fits, None if it does
        not fit. With `strictly`, opening an app or address never fits, nor does a step without a target on a screen
        that cannot be compared.
        """
        if step.kind not in FIELDS or step.is_left_to_model:
            return None
        if step.kind in {"open_app", "open_url"}:
            return None if strictly else True
        if step.anchor is not None:
            return self.find_target(step)
        if step.kind == "type" or step.package != self.seen.package:
            return None
        if any(not words_at(place, self.seen, self.values) for place in step.reads):
            return None
        like = self.likeness(step.landmarks)
        return (
            True if like in {Likeness.SAME, Likeness.TRANSLATED} or (like is Likeness.UNTOLD and not strictly) else None
        )

    def find_target(self, step: RecordedAction) -> Found | None:
        """Return the element that the step touches; None if it is missing or disabled, or if this is not the recorded
        screen. After scrolling for it, the screen may differ if the element has its recorded name. The step must have
        an anchor.
        """
        assert step.anchor is not None
        if step.package != self.seen.package:
            return None
        found = self._find(step.anchor)
        if found is None or not found.element.enabled:
            return None
        like = self.likeness(step.landmarks)
        if found.renamed:
            translated = like is Likeness.TRANSLATED and step.activity == self.seen.activity
            return found if like is Likeness.SAME or translated else None
        return found if like is not Likeness.OTHER or self.scrolled else None

    def has(self, anchor: Anchor) -> bool:
        """Whether this screen has an element that the anchor may mean, even if it is one of several similar ones."""
        words = folded(self._name_of(anchor.words))
        shown = {folded(e.label) for e in self.seen.elements or ()}
        return self._find(anchor) is not None or folded(filled(anchor.words, self.values)) in shown or words in shown

    def _find(self, anchor: Anchor) -> Found | None:
        """Find the anchor's element by its recorded words, otherwise by their current names."""
        found = find(anchor, self.seen, self.values)
        if found is not None and not found.renamed:
            return found
        words, beside = self._name_of(anchor.words), self._name_of(anchor.beside)
        named = find(anchor.model_copy(update={"words": words, "beside": beside}), self.seen, self.values)
        return found if named is None or named.renamed else named

    def _name_of(self, words: str) -> str:
        """Return the current name of recorded words, with the values of this run."""
        now = filled(words, self.values)
        names = self.names
        return names.get(folded(now)) or names.get(folded(uncounted(now)), now)

    @property
    def names(self) -> dict[str, str]:
        """The known translations of recorded words, by casefolded recorded word. Those learned in this run take
        precedence.
        """
        return {**self.known, **self.learned_names}

    def taken(self, step: RecordedAction, free: list[RecordedAction]) -> bool:
        """Whether one of a model's actions in `free` is this step. If so, that action and those before it are removed
        from `free`, and the name of the touched element is learned.
        """
        same = next((each for each in free if self._is_alike(step, each)), None)
        if same is None:
            return False
        free[:] = free[free.index(same) + 1 :]
        if step.anchor is not None and same.anchor is not None and step.anchor.words and same.anchor.words:
            words = filled(step.anchor.words, self.values)
            if folded(words) != folded(same.anchor.words):
                self.learned_names[folded(words)] = same.anchor.words
        return True

    def likeness(self, marks: Sequence[Landmark]) -> Likeness:
        """Return how similar this screen is to the recorded one with these landmarks, compared by their
        current names.
        """
        return likeness(marks, self.seen, self.values, self.names)

    def _is_alike(self, step: RecordedAction, done: RecordedAction) -> bool:
        """Whether a model's action equals the step: same kind, screen and text."""
        if step.kind != done.kind or done.dialog is not step.dialog:
            return False
        if step.kind == "type" and "text" in step.action:
            return folded(self.text(step, "text")) == folded(str(done.action.get("text", "")))
        if step.kind in {"open_app", "open_url"} or step.kind not in FIELDS:
            return True
        if step.package != done.package:
            return False
        if step.anchor is not None and done.anchor is not None:
            if names_one(step.anchor.id) and done.anchor.id == step.anchor.id:
                return True
            words = {folded(filled(step.anchor.words, self.values)), folded(self._name_of(step.anchor.words))}
            if folded(done.anchor.words) in words - {""}:
                return True
        ours = {folded(self._name_of(mark.words)) for mark in step.landmarks}
        theirs = {folded(mark.words) for mark in done.landmarks}
        if not ours & theirs and (self.foreign or is_foreign(ours, theirs)):
            return step.activity == done.activity and _is_same_kind(step, done)
        return not ours or not theirs or 2 * len(ours & theirs) >= min(len(ours), len(theirs))

    def shows(self, text: str) -> bool:
        """Whether a field on the screen already has this text."""
        wanted = folded(text)
        return bool(wanted) and any(e.editable and folded(e.text) == wanted for e in self.seen.elements or ())

    def text(self, step: RecordedAction, name: str) -> str:
        """Return the text of the recorded action's field `name`, with the values of this run."""
        return filled(str(step.action.get(name, "")), self.values)


def _is_same_kind(step: RecordedAction, done: RecordedAction) -> bool:
    """Whether both touched the same kind of control in the same kind of place, which is all to go by without words."""
    ours, theirs = step.anchor, done.anchor
    if ours is None or theirs is None:
        return False
    return (ours.role, ours.listed, ours.editable, ours.checked is None, step.chosen) == (
        theirs.role,
        theirs.listed,
        theirs.editable,
        theirs.checked is None,
        done.chosen,
    )
