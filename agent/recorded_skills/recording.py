"""Records the actions of a run, and makes a recorded skill from them: decides which steps are kept, and which values
become parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.effect_facts import Answered, Effect, NothingChanged
from agent.guards.binding import words_of
from agent.recorded_skills.anchors import anchor_of, control_of, is_chosen_of_many, landmarks_of, place_of_words
from agent.recorded_skills.skill_file import (
    FIELDS,
    MOST_PARAMETERS,
    PARAMETER,
    VALUE_LIMIT,
    Parameter,
    RecordedSkill,
    Source,
    texts_of,
)
from agent.recorded_skills.step_record import Anchor, Landmark, RecordedAction, filled, parameters_in
from agent.wording import Spoken
from devices.geometry import Point
from devices.phone import Element, Observation

MOST_READ: Final = 5
"""How many labels one note or result may consist of to be read again by code. A longer one is a text that a model has
to write.
"""
SIDEWAYS: Final = re.compile("Horizontal|Pager|SeekBar|Gallery")
"""Class names of lists that scroll sideways or hold a value."""
MOST_SLANT: Final = 3
"""A scroll must go at least this many times farther up or down than sideways."""


def recorded(
    action: Mapping[str, Any],
    observation: Observation | None,
    target: Element | None,
    *,
    touches: bool,
    seconds: float = 0.0,
    looks_up: bool = False,
) -> RecordedAction:
    """Return an action in its recorded form.

    `observation` is the screen it was done on, with secrets covered, and `target` the touched element. `touches` says
    whether the action touches the screen, `seconds` is how long the action and the wait for its effect took, and
    `looks_up` says whether it is a tool that only looks something up.
    """
    plain = {key: value for key, value in action.items() if key not in {"target", "readings"}}
    if observation is None:
        return RecordedAction(action=plain, touches=touches, looks_up=looks_up)
    if target is None and plain["kind"] == "type":
        target = next((e for e in observation.elements or () if e.focused and e.editable), None)
    if target is not None:
        target = control_of(target, observation)
    marks = landmarks_of(observation, target)
    return RecordedAction(
        action=plain,
        package=observation.package,
        activity=observation.activity,
        anchor=None if target is None else anchor_of(target, observation),
        touches=touches,
        landmarks=marks,
        chosen=target is not None and is_chosen_of_many(target, observation),
        dialog=_is_dialog(observation),
        looks_up=looks_up,
        seconds=round(seconds, 2),
    )


def recorded_words(action: Mapping[str, Any], text: str, observation: Observation) -> RecordedAction:
    """Return a note or the end of the work in recorded form, with the places of its words on the screen if all of them
    are labels. `text` are these words.
    """
    made = recorded(action, observation, None, touches=False)
    lines = [line for each in text.splitlines() if (line := " ".join(each.split()))]
    said = [
        [e for e in observation.elements or () if words_of(e) == line and not e.editable] for line in lines[:MOST_READ]
    ]
    places = [place_of_words(found[0], observation) if len(found) == 1 else None for found in said]
    told = tuple(place for place in places if place is not None)
    if len(told) < len(lines):
        return made.model_copy(update={"touches": True})
    return made.model_copy(update={"reads": told})


def as_scroll(start: Point, end: Point, observation: Observation) -> str | None:
    """Return the direction of the scroll that a swipe performed ("down" or "up"); None for any other swipe.

    A finger that moves up or down inside the largest list scrolls it. A sideways one may swipe a row away, and any
    other may open or set something.
    """
    lists = [e for e in observation.elements or () if e.scrollable]
    largest = max(lists, key=lambda e: e.bounds.clipped(observation.size).area, default=None)
    across, down = abs(end.x - start.x), end.y - start.y
    if largest is None or not (largest.bounds.holds(start) and largest.bounds.holds(end)):
        return None
    if SIDEWAYS.search(largest.class_name) or abs(down) < MOST_SLANT * across or not down:
        return None
    return "down" if down < 0 else "up"


def _is_dialog(observation: Observation) -> bool:
    elements = [e for e in observation.elements or () if words_of(e) or e.clickable]
    return bool(elements) and any("alertTitle" in e.resource_id or "parentPanel" in e.resource_id for e in elements)


COVERED: Final = "•"
_LEFT_OUT: Final = frozenset({"wait", "wait_for", "ask_user"})
"""Actions that a replay handles in its own way: it waits as needed, and a person's answers are parameters."""
_WORD: Final = re.compile(r"[a-z0-9]+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OF_DEVELOPERS: Final = frozenset(
    {"bar", "box", "btn", "compose", "container", "edit", "edittext", "editor", "et", "field", "id", "input"}
    | {"layout", "text", "textview", "tv", "txt", "view"}
)
"""Words in ids of views that only say what kind of view it is."""
_SHORTEST: Final = 2
"""The minimum characters of a value; a shorter one occurs in too many places by chance."""


class NotSavable(Spoken):
    """No skill can be made from the run; its sentence says why."""


def parameters_given(values: Mapping[str, str]) -> tuple[Parameter, ...]:
    """Return the parameters that a person named, with their values in the task as examples. Raises NotSavable for an
    invalid name or value, and for too many.
    """
    if len(values) > MOST_PARAMETERS:
        raise NotSavable("skill.many_parameters", most=MOST_PARAMETERS)
    for name, value in values.items():
        if PARAMETER.fullmatch(name) is None:
            raise NotSavable("skill.bad_name", name=name)
        if not value or len(value) > VALUE_LIMIT:
            raise NotSavable("skill.bad_value", name=name, most=VALUE_LIMIT)
    return tuple(Parameter(name=name, example=value) for name, value in values.items())


@dataclass(frozen=True, slots=True)
class DoneStep:
    """One step of a finished run, as far as it is needed for making a skill: its recorded actions and its effects."""

    actions: tuple[RecordedAction, ...]
    effect: tuple[Effect, ...]
    followed: int | None = None
    """The number of the step of an earlier recording that was repeated; None if a model decided. Detours on the way to
    it (a wait, a page back) have the same number.
    """


def steps_of(done: Sequence[DoneStep]) -> tuple[tuple[RecordedAction, ...], RecordedAction]:
    """Return the steps to replay and the last action of the run, which ends it. Raises NotSavable."""
    if not done:
        raise NotSavable("skill.no_steps")
    ends = [action for step in done for action in step.actions if action.kind == "finish"]
    if not ends or ends[-1].action.get("status") != "success":
        raise NotSavable("skill.no_end")
    kept: list[RecordedAction] = []
    looked_up = False
    last = {step.followed: number for number, step in enumerate(done)}
    for number, step in enumerate(done):
        if step.followed is not None and last[step.followed] != number:
            continue
        in_vain = any(isinstance(fact, NothingChanged) for fact in step.effect)
        for action in step.actions:
            looked_up |= action.looks_up
            if action.kind in _LEFT_OUT or action.kind == "finish" or action.looks_up:
                continue
            if in_vain and action.kind in {"scroll", "swipe"}:
                continue
            kept.append(_bare(action).model_copy(update={"after_lookup": looked_up}))
    kept = [each for number, each in enumerate(kept) if not _only_moves(each, kept[number + 1 :])]
    if not any(step.kind != "note" for step in kept) and not ends[-1].reads:
        raise NotSavable("skill.nothing_done")
    if any(COVERED in str(value) for step in kept for value in step.action.values()):
        raise NotSavable("skill.secret")
    return tuple(kept), ends[-1]


def _bare(action: RecordedAction) -> RecordedAction:
    """Return the action with only what is needed to replay it."""
    fields = FIELDS.get(action.kind)
    if fields is None:
        return action.model_copy(update={"action": {"kind": action.kind}, "touches": True})
    kept = {key: value for key, value in action.action.items() if key == "kind" or key in fields}
    return action.model_copy(update={"action": kept})


def _only_moves(action: RecordedAction, later: Sequence[RecordedAction]) -> bool:
    """Whether it only scrolled to what was touched next, which a replay does on its own."""
    following = next((each for each in later if each.kind != "scroll"), None)
    return action.kind == "scroll" and following is not None and following.anchor is not None


def proposed(task: str, steps: Sequence[RecordedAction], effects: Iterable[Effect]) -> tuple[Parameter, ...]:
    """Return the parameters that code finds: typed texts and list choices that are in the person's words (`task`, and
    answers in `effects`).
    """
    said = "\n".join([task, *(fact.text for fact in effects if isinstance(fact, Answered))]).casefold()
    found: dict[str, Parameter] = {}
    for step in steps:
        for value, near in _values(step):
            known = any(p.example == value for p in found.values())
            if len(value) >= _SHORTEST and value.casefold() in said and not known:
                name = _name(near, found.keys())
                found[name] = Parameter(name=name, example=value)
    return tuple(found.values())[:MOST_PARAMETERS]


def _values(step: RecordedAction) -> list[tuple[str, str]]:
    """Return the values of a step that may differ the next time, with a likely name for each."""
    anchor = step.anchor
    if step.kind == "type":
        field = "" if anchor is None else anchor.id.rsplit("/", 1)[-1] or anchor.words
        return [(str(step.action["text"]).strip(), field or "text")]
    if step.kind == "open_url":
        return [(str(step.action["url"]), "address")]
    if anchor is not None and step.chosen:
        return [(each, "choice") for each in (anchor.words, anchor.beside) if each]
    return []


def _name(near: str, taken: Iterable[str]) -> str:
    """Return what people would call it, without developers' words for kinds of fields, as in `compose_message_text`, as
    long as any word is left.
    """
    words = _WORD.findall(_CAMEL.sub(" ", near).casefold())
    told = [word for word in words if word not in _OF_DEVELOPERS] or words[-1:]
    base = "_".join(told)[:30].strip("_")
    base = base if PARAMETER.fullmatch(base) else "value"
    names = set(taken)
    return base if base not in names else next(name for n in range(2, 99) if (name := f"{base}_{n}") not in names)


def with_parameters(
    task: str,
    steps: Sequence[RecordedAction],
    end: RecordedAction,
    parameters: Sequence[Parameter],
    source: Source,
    version: int = 1,
) -> RecordedSkill:
    """Return the skill, with the parameters in place of their values in task, steps and end.

    `source` describes the recorded run. Raises NotSavable for an invalid or repeated name, for a value that two
    parameters have, and for one that is in no step.
    """
    braces = parameters_in([task, *(str(value) for step in steps for value in step.action.values())])
    names, examples = [each.name for each in parameters], [each.example.casefold() for each in parameters]
    for each in parameters:
        if each.name in braces or names.count(each.name) > 1 or PARAMETER.fullmatch(each.name) is None:
            raise NotSavable("skill.bad_name", name=each.name)
        if examples.count(each.example.casefold()) > 1:
            raise NotSavable("skill.same_value", value=each.example)
    # The longest first, because a value may be part of another one.
    places = sorted(((each.example, f"{{{each.name}}}") for each in parameters), key=lambda place: -len(place[0]))
    put = _Put(places)
    said = task.casefold()
    made = [_left_to_model(put.step(step), said, parameters) for step in steps]
    used = parameters_in(text for step in made for text in texts_of(step))
    for each in parameters:
        if each.name not in used:
            raise NotSavable("skill.unused", name=each.name, value=each.example)
    return RecordedSkill(
        version=version,
        task=put.text(task),
        parameters=tuple(parameters),
        steps=tuple(made),
        end=put.step(end.model_copy(update={"action": {"kind": "finish", "status": "success"}})),
        source=source,
    )


def _left_to_model(step: RecordedAction, said: str, parameters: Sequence[Parameter]) -> RecordedAction:
    """Leave a text to a model if it has numbers, or follows a lookup, and no person said it: it was read somewhere and
    will differ the next time.
    """
    text = str(step.action.get("text", "")) if step.kind == "type" else ""
    known = filled(text, {each.name: "" for each in parameters})
    read = step.after_lookup or any(sign.isdigit() for sign in known)
    if not read or known.strip().casefold() in said:
        return step
    return step.model_copy(update={"action": {"kind": "type"}, "touches": True, "anchor": None})


class _Put:
    def __init__(self, places: Sequence[tuple[str, str]]) -> None:
        self._names = {value.casefold(): name for value, name in places}
        parts = "|".join(re.escape(value) for value, _ in places)
        # Whole words only, in scripts that separate words: "tea" is not part of "steak".
        self._pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{parts})(?![A-Za-z0-9])", re.IGNORECASE) if parts else None

    def text(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._names[found[0].casefold()], text)

    def step(self, step: RecordedAction) -> RecordedAction:
        action: dict[str, Any] = {
            key: self.text(value)
            if isinstance(value, str) and key not in {"kind", "key", "direction", "status"}
            else value
            for key, value in step.action.items()
        }
        return step.model_copy(
            update={
                "action": action,
                "anchor": None if step.anchor is None else self.anchor(step.anchor),
                "landmarks": tuple(self.mark(mark) for mark in step.landmarks),
                "reads": tuple(self.anchor(anchor) for anchor in step.reads),
            }
        )

    def anchor(self, anchor: Anchor) -> Anchor:
        return anchor.model_copy(update={"words": self.text(anchor.words), "beside": self.text(anchor.beside)})

    def mark(self, mark: Landmark) -> Landmark:
        return mark.model_copy(update={"words": self.text(mark.words)})
