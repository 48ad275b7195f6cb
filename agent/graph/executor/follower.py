"""Decides at one step of a run what a recorded skill does next: which of its actions fits the screen, and how to get
there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agent.effect_facts import NothingChanged, effects_of
from agent.graph.executor.fitting import StepMatcher, is_foreign, is_other_language
from agent.graph.executor.state import PastData, status_of
from agent.guards.binding import words_of
from agent.models.base import ModelReply, ToolCall
from agent.observing import ScreenView
from agent.recorded_skills.anchors import Found, Likeness, folded, likeness, uncounted, words_at
from agent.recorded_skills.skill_file import FIELDS, RecordedSkill
from agent.recorded_skills.step_record import RecordedAction, filled, parameters_in
from agent.scene import Scene, StepStatus
from agent.wording import sentence
from devices.phone import Element

RECORDED: Final = "recorded"
"""The finish reason of a reply that a recording gave instead of a model."""
PATIENCE: Final = 3.0
"""The next screen is waited for this many times longer than it took in the recording."""
LEAST_WAIT_S, MOST_WAIT_S = 3.0, 30.0
MOST_SCROLLS: Final = 8
"""How many scrolls in one direction are tried before a model is asked where something is."""
AHEAD: Final = 6
"""How many recorded steps are checked after a model acted, because the model may have done several at once."""
_DETOURS: Final = frozenset({"wait", "back", "reopen", "scroll"})
"""What is done while the next recorded step does not fit yet."""
MOST_BACKS: Final = 3
"""How often Back may be pressed in an app that was just opened, to leave the page on which it was left."""

TOLD_AHEAD: Final = 3
"""How many further recorded steps a hint mentions."""
_HINT: Final = (
    "A recorded skill is followed here. Its step {number} of {all} could not be done by itself: {what}. Do on this "
    "screen what leads there, and no more: close what lies over it, wait, or find it under another name. The recording "
    "goes on by itself as soon as it fits. What you have done in this run counts: if that was this step, do not repeat "
    "it, but do what comes next. After it come: {rest}."
)
_SENT: Final = (
    " It was sent before, and it is not known whether it arrived: see first whether it has happened, and go on with "
    "what comes next if so. Never do it a second time where you cannot tell."
)
_AT_END: Final = (
    "A recorded skill was followed to its end, but the last screen is not as it was then{marks}. If something lies "
    "over it, such as a dialog, close that and do no more. Otherwise see whether the task is done; finish then, or do "
    "what is missing."
)


@dataclass
class ReplayPosition:
    """How far the run has come in the recording, derived from its past steps."""

    step: int = 0
    """The index of the next recorded step."""
    tried: bool = False
    """Whether that step was already sent or refused, without simply succeeding."""
    unsure: bool = False
    """Whether it is unknown if the phone got that step."""
    waits: int = 0
    backs: int = 0
    scrolls: list[PastData] = field(default_factory=list)
    model: list[RecordedAction] = field(default_factory=list)
    """The actions of the model since the last recorded step."""
    asked: int = 0
    """How many steps the model has taken since the last recorded step."""
    names_asked: bool = False
    """Whether this run has already asked a model to translate the recorded words."""
    other_version: bool = False
    """Whether the run followed another version of the recording before, whose step numbers do not apply to this one."""


def replay_position(skill: RecordedSkill, past: Sequence[PastData], matcher: StepMatcher) -> ReplayPosition:
    """Return how far this run has come in the recording. The names that the run learned are stored in `matcher`."""
    position, names_asked, other_version = ReplayPosition(), False, False
    for each in past:
        memo = each["memo"]
        if "names" in memo:
            matcher.learned_names = {**memo["names"], **matcher.learned_names}
            names_asked = True
        number = memo.get("followed")
        if number is None:
            position.waits, position.scrolls = 0, []
            position.asked += 1
            if status_of(each) is StepStatus.DONE and each["failure"] is None:
                position.model += [RecordedAction.model_validate(data) for data in each.get("recorded_actions", [])]
            continue
        other_version |= memo.get("version") != skill.version
        match memo.get("how"):
            case "wait":
                position.waits += 1
            case "back":
                position.backs += 1
            case "reopen":
                position.backs = MOST_BACKS
            case "scroll":
                position.scrolls.append(each)
            case "end":  # it was not taken as proven
                position = ReplayPosition(step=number, tried=True)
            case _:
                free = list(position.model)
                for step in skill.steps[position.step : number]:
                    matcher.taken(step, free)
                why = each["failure"]
                if status_of(each) is StepStatus.DONE and why is None:
                    position = ReplayPosition(step=number + 1)
                else:
                    unsure = status_of(each) is StepStatus.INTERRUPTED or (why is not None and why["uncertain"])
                    position = ReplayPosition(step=number, tried=True, unsure=unsure)
    return replace(position, names_asked=names_asked, other_version=other_version)


class Follower:
    """Follows one recording at one step of a run, on one screen."""

    def __init__(
        self,
        skill: RecordedSkill,
        arguments: Mapping[str, str],
        past: Sequence[PastData],
        view: ScreenView,
        *,
        locale: str = "",
        known: Mapping[str, str] | None = None,
    ) -> None:
        """`arguments` are the skill's parameter values, `past` the run's steps and `view` the current screen. `locale`
        is the phone's language, and `known` are the translations of recorded words that earlier runs learned for it.
        """
        self._skill = skill
        self._values = dict(arguments)
        self._steps = skill.steps
        self._view = view
        self._seen = view.observation
        self._known = known or {}
        self._other_language = is_other_language(skill.locale, locale)
        self._matcher = StepMatcher(self._values, self._seen, self._other_language, self._known)
        self._position = replay_position(skill, past, self._matcher)
        self._matcher.scrolled = bool(self._position.scrolls)
        self._next_step = self._position.step
        """The first step that nobody has done, as far as is known: what a model is told of."""

    @property
    def step_number(self) -> int:
        """The number of the next recorded step, from 1."""
        return min(self._next_step + 1, len(self._steps))

    @property
    def step_count(self) -> int:
        """The number of steps in the recording."""
        return len(self._steps)

    def reply(self) -> ModelReply | None:
        """Return the recording's next action for this screen as a model reply; None if a model must be asked."""
        position, seen = self._position, self._seen
        if self._position.other_version or seen.elements is None or not seen.complete:
            return None
        step = self._unset(position.step)
        if not position.tried:
            if step == len(self._steps):
                return self._end() or (None if position.waits else self._wait_for_end())
            # The model's last action may leave the page unchanged, like putting an item in a cart: once is enough.
            recorded = self._steps[step]
            if (
                not self._matcher.taken(recorded, list(position.model))
                and (found := self._matcher.match_step(recorded)) is not None
            ):
                return self._do(step, found)
        if (later := self._later(step)) is not None:
            return later
        if position.tried or position.asked or not self._followable(step):
            return None
        return self._scroll(step) or (self._back(step) if position.waits else self._wait(step))

    def needs_names(self, reply: ModelReply | None) -> bool:
        """Whether the recorded words should be translated now, because the recording does not fit in the phone's
        language. `reply` is what the recording would do without translations.
        """
        position = self._position
        if position.names_asked or position.other_version:
            return False
        if reply is not None and reply.memo.get("how") not in _DETOURS:
            return False
        # With a name from an earlier run, it may be further down or not there yet: check that first.
        return self._is_foreign and (reply is None or not self._is_named)

    @property
    def _is_named(self) -> bool:
        """Whether everything by which the next step is found has a name in this language."""
        step = self._step
        said = [step.anchor.words] if step.anchor is not None else [mark.words for mark in step.landmarks]
        return {folded(filled(words, self._values)) for words in said if words} <= self._matcher.names.keys()

    @property
    def _is_foreign(self) -> bool:
        """Whether this page of the recorded app is in another language than the recording."""
        step = self._step
        if step.package != self._seen.package:
            return False
        as_recorded = likeness(step.landmarks, self._seen, self._values)
        by_settings = self._other_language and as_recorded is not Likeness.SAME
        return by_settings or is_foreign(self.words, self.shown)

    def learn(self, names: Mapping[str, str]) -> None:
        """Store translations of recorded words. Names of elements that a model touched in this run take precedence."""
        self._position.names_asked = True
        self._matcher.learned_names = {**names, **self._matcher.learned_names}

    @property
    def learned(self) -> dict[str, str]:
        """The translations that later runs may use, by casefolded recorded word; empty if nothing says that the phone
        has another language than the recording.

        Parameter values are only included if they were chosen from an app's own list; others are the person's words.
        """
        if not (self._other_language or self._position.names_asked or self._known):
            return {}
        steps = (*self._steps, self._skill.end)
        chosen = {step.anchor.words for step in steps if step.anchor is not None and step.chosen}
        said = [words for words in _words_in(steps) if words in chosen or not parameters_in([words])]
        able = [filled(words, self._values) for words in said]
        kept = {folded(words) for each in able for words in (each, uncounted(each))}
        return {words: now for words, now in self._matcher.names.items() if words in kept}

    @property
    def words(self) -> list[str]:
        """The recorded words that the remaining steps search for, with the values of this run."""
        said = _words_in((*self._steps[self._next_step :], self._skill.end))
        return list(dict.fromkeys(uncounted(filled(words, self._values)) for words in said if words))

    @property
    def shown(self) -> list[str]:
        """The words of this screen; empty if models may not read them."""
        if self._view.screen.covered:
            return []
        return list(dict.fromkeys(words for e in self._seen.elements or () if (words := words_of(e))))

    @property
    def is_over(self) -> bool:
        """Whether all recorded steps are done."""
        return self._next_step >= len(self._steps)

    @property
    def _step(self) -> RecordedAction:
        """The next recorded step; the end after the last one."""
        return self._skill.end if self.is_over else self._steps[self._next_step]

    @property
    def needs_no_picture(self) -> bool:
        """Whether a model can do this step with only the element list, which saves the picture, half of a call's cost.

        Everything touchable must have words, nothing must be read, and it must be the first try of a step that was
        certainly not done yet.
        """
        seen, position = self._seen, self._position
        if position.asked or position.unsure or seen.secure or not seen.complete or not seen.elements:
            return False
        step = self._step
        fields = FIELDS.get(step.kind)
        if step.reads or fields is None or (fields and step.action.keys() == {"kind"}):
            return False
        able = [e for e in seen.elements if e.clickable or e.checkable or e.editable]
        said = [e for e in seen.elements if e.label]
        return not self._view.screen.is_cut and all(
            e.label or any(e.bounds.holds(other.bounds.centre) for other in said) for e in able
        )

    def hint(self) -> str:
        """Return the hint for a model that must do this step: what the recording would do."""
        number = self._next_step
        if self.is_over:
            words = ", ".join(repr(filled(mark.words, self._values)) for mark in self._skill.end.landmarks[:4])
            return _AT_END.format(marks=f", which showed {words}" if words else "")
        following = self._steps[number + 1 : number + 1 + TOLD_AHEAD]
        rest = "; ".join(self._told(step, fully=False) for step in following) or "nothing, then the task is done"
        hint = _HINT.format(number=number + 1, all=len(self._steps), what=self._told(self._steps[number]), rest=rest)
        return hint + _SENT * self._position.unsure

    def for_pilot(self, scene: Scene) -> Scene:
        """Return the scene for the offline pilot, which follows literal instructions: this one step as the goal, and
        what was done about it.
        """
        step = self._steps[self.step_number - 1]
        words = filled(step.anchor.words, self._values) if step.anchor is not None else ""
        match step.kind:
            case "type":
                goal = f'type "{self._matcher.text(step, "text")}"' + (f' into "{words}"' if words else "")
            case "open_app":
                goal = f"open {self._matcher.text(step, 'name')}"
            case _:
                goal = f'tap "{words}"'
        own = scene.past[len(scene.past) - self._position.asked :]
        return replace(scene, task=goal, goal=goal, past=own, steering_notes=())

    def _told(self, step: RecordedAction, *, fully: bool = True) -> str:
        """Return a recorded step in words for a model; `fully` adds what is needed to find its place."""
        text = self._matcher.text
        parts = [step.kind.replace("_", " ")]
        parts += [repr(text(step, key)) for key in ("text", "name", "url", "reason", "key") if key in step.action]
        if (anchor := step.anchor) is not None:
            words, beside = (filled(each, self._values) for each in (anchor.words, anchor.beside))
            parts.append(f"on the {anchor.role} {words!r}" if words else f"on the {anchor.role}")
            parts += [f"beside {beside!r}"] if beside else []
            parts += [f"with the id {anchor.id}"] if anchor.id and (fully or not words) else []
            parts += [f"which stood at {anchor.at[0]:.0%} across and {anchor.at[1]:.0%} down"] if fully else []
        parts += [f"in {step.package}"] if fully else []
        return " ".join(parts)

    def _unset(self, step: int) -> int:
        """Return the first step from here whose effect is not already there, as with a switch that is set."""
        while step < len(self._steps) and self._matcher.is_set(self._steps[step]):
            step += 1
        return step

    def _followable(self, step: int) -> bool:
        action = self._steps[step]
        return (action.kind in FIELDS and action.action.keys() > {"kind"}) or action.anchor is not None

    def _later(self, step: int) -> ModelReply | None:
        """Return a later step that fits, if those before it are done or not needed here."""
        position = self._position
        free = list(position.model)
        for number in range(step, min(step + AHEAD, len(self._steps))):
            arrived = number == position.step and position.unsure and self._has_left(self._steps[number])
            if not arrived and not self._is_done(self._steps[number], free):
                return None
            following = self._next_step = number + 1
            if following == len(self._steps):
                return self._end(strictly=True)
            if (found := self._matcher.match_step(self._steps[following], strictly=True)) is not None:
                return self._do(following, found)
        return None

    def _has_left(self, step: RecordedAction) -> bool:
        """Whether the step's target is gone from this screen. If it was sent before a crash and the next page is shown,
        it has arrived.
        """
        return step.anchor is not None and not self._matcher.has(step.anchor)

    def _is_done(self, step: RecordedAction, free: list[RecordedAction]) -> bool:
        """Whether the model did the same or it is not needed; each of the model's actions counts for one step."""
        if step.dialog and step.kind == "tap":
            return True
        if self._matcher.is_set(step):
            return True
        if step.kind == "type" and self._matcher.shows(self._matcher.text(step, "text")):
            return True
        return self._matcher.taken(step, free)

    def _do(self, number: int, found: Found | bool) -> ModelReply:
        step = self._steps[number]
        fields = {
            key: filled(value, self._values) if isinstance(value, str) else value for key, value in step.action.items()
        }
        fields.pop("kind")
        if step.reads or step.kind == "note":
            fields["text"] = "\n".join(words_at(place, self._seen, self._values) for place in step.reads)
        if isinstance(found, Found):
            if step.touches or not found.element.focused:  # otherwise it was typed into the focused field, as now
                fields |= self._target(found.element)
            if step.kind == "type" and self._holds_other(found.element, step):
                fields["clear"] = True
        return self._answer(step.kind, number, "done", fields)

    def _holds_other(self, element: Element, step: RecordedAction) -> bool:
        """Whether the field has another text than when recorded, to which nothing must be added."""
        assert step.anchor is not None
        return bool(element.text) and folded(element.text) not in {folded(element.hint), folded(step.anchor.words)}

    def _target(self, element: Element) -> dict[str, Any]:
        for number, target in enumerate(self._view.targets):
            if target is element:
                return {"element": number}
        place = element.bounds.clipped(self._seen.size).centre.mapped(self._seen.size, self._view.screen.space)
        return {"x": place.x, "y": place.y}

    def _end(self, *, strictly: bool = False) -> ModelReply | None:
        """Return the end if the last screen is as recorded. It is `proven` if there are words to compare or, in another
        language, ids. In another language without known names, a model verifies it at once, as it would have to anyway.
        """
        end, position = self._skill.end, self._position
        if end.touches or end.package != self._seen.package:
            return None
        like = self._matcher.likeness(end.landmarks)
        untold = like is Likeness.OTHER and position.names_asked and position.waits > 0 and self._is_foreign
        if (like is Likeness.OTHER and not untold) or (strictly and like in {Likeness.UNTOLD, Likeness.OTHER}):
            return None
        by_ids = like is Likeness.TRANSLATED and not strictly and end.activity == self._seen.activity
        data = [words_at(place, self._seen, self._values) for place in end.reads]
        if not all(data) or any(self._matcher.is_unset(step) for step in self._steps):
            return None
        summary = sentence("ended.followed", task=self._skill.asked(self._values))
        fields = {"status": "success", "summary": summary, **({"data": "\n".join(data)} if data else {})}
        return self._answer(
            "finish", len(self._steps), "end", fields, proven=(like is Likeness.SAME or by_ids) and not position.unsure
        )

    def _wait_for_end(self) -> ModelReply:
        marks = [filled(mark.words, self._values) for mark in self._skill.end.landmarks]
        shown = {folded(e.label) for e in self._seen.elements or ()}
        missing = next((mark for mark in marks if folded(mark) not in shown), "")
        return self._waiting(len(self._steps), missing)

    def _wait(self, number: int) -> ModelReply:
        anchor = self._steps[number].anchor
        return self._waiting(number, "" if anchor is None else filled(anchor.words, self._values))

    def _waiting(self, number: int, text: str) -> ModelReply:
        took = self._steps[number - 1].seconds if number else 0.0
        seconds = min(MOST_WAIT_S, max(LEAST_WAIT_S, PATIENCE * took))
        there = any(folded(text) == folded(e.label) for e in self._seen.elements or ())
        what = {"what": "text", "text": text} if text and not there else {"what": "change"}
        return self._answer("wait_for", number, "wait", {"seconds": seconds, **what})

    def _back(self, number: int) -> ModelReply | None:
        """Go back one page if the opened app shows the page on which it was left; if that leaves the app, open it
        again.
        """
        if not number or self._steps[number - 1].kind != "open_app" or self._position.backs >= MOST_BACKS:
            return None
        if self._steps[number].package == self._seen.package:
            return self._answer("key", number, "back", {"key": "back"})
        if not self._position.backs:
            return None
        opened = self._steps[number - 1].action
        return self._answer("open_app", number, "reopen", {"name": filled(str(opened["name"]), self._values)})

    def _scroll(self, number: int) -> ModelReply | None:
        """Scroll one page if the next anchor was in a list: down to the end, then up to the beginning."""
        step, position = self._steps[number], self._position
        if step.anchor is None or not step.anchor.listed or step.package != self._seen.package:
            return None
        like = self._matcher.likeness(step.landmarks)
        if like is Likeness.OTHER and not position.scrolls:
            return None
        lists = [e for e in self._seen.elements or () if e.scrollable]
        if not lists:
            return None
        stops = [n for n, each in enumerate(position.scrolls) if _changed_nothing(each)]
        if len(stops) > 1 or len(position.scrolls) >= 2 * MOST_SCROLLS:
            return None
        down = not stops and len(position.scrolls) < MOST_SCROLLS
        largest = max(lists, key=lambda e: e.bounds.area)
        fields = {"direction": "down" if down else "up", **self._target(largest)}
        return self._answer("scroll", number, "scroll", fields)

    def _answer(
        self, kind: str, number: int, how: str, fields: Mapping[str, Any], *, proven: bool = False
    ) -> ModelReply:
        memo = {"followed": number, "how": how, "version": self._skill.version, "proven": proven}
        return ModelReply("", (call(kind, fields),), model=RECORDED, finish_reason=RECORDED, memo=memo)


def _words_in(steps: Sequence[RecordedAction]) -> list[str]:
    """Return all words by which these steps find their places and screens."""
    anchors = [each for step in steps for each in (step.anchor, *step.reads) if each is not None]
    said = [words for each in anchors for words in (each.words, each.beside)]
    return said + [mark.words for step in steps for mark in step.landmarks]


def _changed_nothing(past: PastData) -> bool:
    return any(isinstance(fact, NothingChanged) for fact in effects_of(past["effects"]))


def call(kind: str, fields: Mapping[str, Any]) -> ToolCall:
    """Return a tool call that code made instead of a model."""
    return ToolCall(RECORDED, kind, json.dumps(dict(fields), ensure_ascii=False))
