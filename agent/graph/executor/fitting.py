"""Checks whether a step of a recorded skill fits the current screen: which element it touches there, whether it is
already done, and whether an action of a model is the same step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.graph.executor.foreign_words import is_foreign
from agent.recorded_skills.anchors import (
    Found,
    Likeness,
    checked_now,
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


class Fitting:
    """Compares recorded steps with one screen, using the names that recorded words have on it."""

    def __init__(
        self,
        values: Mapping[str, str],
        seen: Observation,
        *,
        foreign: bool = False,
        known: Mapping[str, str] | None = None,
    ) -> None:
        """`values` are the parameters' values in this run. `foreign` means that the phone is set to another language
        than the recording, and `known` are the translations that earlier runs learned, by casefolded recorded word.
        """
        self._known = known or {}
        self._foreign = foreign
        self._values = values
        self._seen = seen
        self.scrolled = False
        """Whether the page was scrolled for the next step: its landmarks may be out of sight."""
        self.renamed: dict[str, str] = {}
        """What recorded words are called now, by the folded word: what a model has touched in this run in their place,
        or has said when it was asked for the names of another language.
        """

    def is_set(self, step: RecordedAction) -> bool:
        """Whether the switch that the step would turn already has the resulting state."""
        if step.kind != "tap" or step.anchor is None or step.anchor.checked is None:
            return False
        found = self.fitting(step)
        if found is None:
            return False
        now = checked_now(found, self._seen)
        return now is not None and now is not step.anchor.checked

    def is_unset(self, step: RecordedAction) -> bool:
        """Whether the screen shows the switch that the step turns, still in the state before."""
        if step.kind != "tap" or step.anchor is None or step.anchor.checked is None:
            return False
        found = self._find(step.anchor)
        return found is not None and checked_now(found, self._seen) is step.anchor.checked

    def fit(self, step: RecordedAction, *, strictly: bool = False) -> Found | bool | None:
        """Return the element that the step touches on this screen, True if it touches none and fits, None if it does
        not fit. With `strictly`, opening an app or address never fits, nor does a step without a target on a screen
        that cannot be compared.
        """
        if step.kind not in FIELDS or step.is_left_to_model:
            return None
        if step.kind in {"open_app", "open_url"}:
            return None if strictly else True
        if step.anchor is not None:
            return self.fitting(step)
        if step.kind == "type" or step.package != self._seen.package:
            return None
        if any(not words_at(place, self._seen, self._values) for place in step.reads):
            return None
        like = self.likeness(step.landmarks)
        return (
            True if like in {Likeness.SAME, Likeness.TRANSLATED} or (like is Likeness.UNTOLD and not strictly) else None
        )

    def fitting(self, step: RecordedAction) -> Found | None:
        """Return the element that the step touches; None if it is missing or disabled, or if this is not the recorded
        screen. After scrolling for it, the screen may differ if the element has its recorded name. The step must have
        an anchor.
        """
        assert step.anchor is not None
        if step.package != self._seen.package:
            return None
        found = self._find(step.anchor)
        if found is None or not found.element.enabled:
            return None
        like = self.likeness(step.landmarks)
        if found.renamed:
            translated = like is Likeness.TRANSLATED and step.activity == self._seen.activity
            return found if like is Likeness.SAME or translated else None
        return found if like is not Likeness.OTHER or self.scrolled else None

    def has(self, anchor: Anchor) -> bool:
        """Whether this screen has an element that the anchor may mean, even if it is one of several similar ones."""
        words = folded(self._name_of(anchor.words))
        shown = {folded(e.label) for e in self._seen.elements or ()}
        return self._find(anchor) is not None or folded(filled(anchor.words, self._values)) in shown or words in shown

    def _find(self, anchor: Anchor) -> Found | None:
        """Find the anchor's element by its recorded words, otherwise by their current names."""
        found = find(anchor, self._seen, self._values)
        if found is not None and not found.renamed:
            return found
        words, beside = self._name_of(anchor.words), self._name_of(anchor.beside)
        named = find(anchor.model_copy(update={"words": words, "beside": beside}), self._seen, self._values)
        return found if named is None or named.renamed else named

    def _name_of(self, words: str) -> str:
        """Return the current name of recorded words, with the values of this run."""
        now = filled(words, self._values)
        names = self.names
        return names.get(folded(now)) or names.get(folded(uncounted(now)), now)

    @property
    def names(self) -> dict[str, str]:
        """The known translations of recorded words, by casefolded recorded word. Those learned in this run take
        precedence.
        """
        return {**self._known, **self.renamed}

    def taken(self, step: RecordedAction, free: list[RecordedAction]) -> bool:
        """Whether one of a model's actions in `free` is this step. If so, that action and those before it are removed
        from `free`, and the name of the touched element is learned.
        """
        same = next((each for each in free if self._is_alike(step, each)), None)
        if same is None:
            return False
        free[:] = free[free.index(same) + 1 :]
        if step.anchor is not None and same.anchor is not None and step.anchor.words and same.anchor.words:
            words = filled(step.anchor.words, self._values)
            if folded(words) != folded(same.anchor.words):
                self.renamed[folded(words)] = same.anchor.words
        return True

    def likeness(self, marks: Sequence[Landmark]) -> Likeness:
        """Return how similar this screen is to the recorded one with these landmarks, compared by their
        current names.
        """
        return likeness(marks, self._seen, self._values, self.names)

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
            words = {folded(filled(step.anchor.words, self._values)), folded(self._name_of(step.anchor.words))}
            if folded(done.anchor.words) in words - {""}:
                return True
        ours = {folded(self._name_of(mark.words)) for mark in step.landmarks}
        theirs = {folded(mark.words) for mark in done.landmarks}
        if not ours & theirs and (self._foreign or is_foreign(ours, theirs)):
            return step.activity == done.activity and _is_same_kind(step, done)
        return not ours or not theirs or 2 * len(ours & theirs) >= min(len(ours), len(theirs))

    def shows(self, text: str) -> bool:
        """Whether a field on the screen already has this text."""
        wanted = folded(text)
        return bool(wanted) and any(e.editable and folded(e.text) == wanted for e in self._seen.elements or ())

    def text(self, step: RecordedAction, name: str) -> str:
        """Return the text of the recorded action's field `name`, with the values of this run."""
        return filled(str(step.action.get(name, "")), self._values)


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
