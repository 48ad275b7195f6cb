"""Writes the hints for a model that must do a step of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agent.recorded_skills.skill_file import RecordedSkill
from agent.recorded_skills.step_record import RecordedAction, filled
from agent.scene import Scene

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


class Hints:
    """Describes the steps of one recording in words, with the values of this run."""

    def __init__(self, skill: RecordedSkill, values: Mapping[str, str]) -> None:
        self._skill = skill
        self._steps = skill.steps
        self._values = values

    def hint(self, number: int, *, unsure: bool) -> str:
        """Return the hint for the step with this index, or for the end after the last one. `unsure` means that the step
        may have been sent before.
        """
        if number >= len(self._steps):
            words = ", ".join(repr(filled(mark.words, self._values)) for mark in self._skill.end.landmarks[:4])
            return _AT_END.format(marks=f", which showed {words}" if words else "")
        following = self._steps[number + 1 : number + 1 + TOLD_AHEAD]
        rest = "; ".join(self._told(step, fully=False) for step in following) or "nothing, then the task is done"
        hint = _HINT.format(number=number + 1, all=len(self._steps), what=self._told(self._steps[number]), rest=rest)
        return hint + _SENT * unsure

    def for_pilot(self, number: int, scene: Scene, *, asked: int) -> Scene:
        """Return the scene for the offline pilot: the step with this index as the goal, and what was done about it in
        the last `asked` steps.
        """
        step = self._steps[min(number, len(self._steps) - 1)]
        words = filled(step.anchor.words, self._values) if step.anchor is not None else ""
        match step.kind:
            case "type":
                goal = f'type "{self._text(step, "text")}"' + (f' into "{words}"' if words else "")
            case "open_app":
                goal = f"open {self._text(step, 'name')}"
            case _:
                goal = f'tap "{words}"'
        own = scene.past[len(scene.past) - asked :]
        return replace(scene, task=goal, goal=goal, past=own, steering_notes=())

    def _text(self, step: RecordedAction, name: str) -> str:
        return filled(str(step.action.get(name, "")), self._values)

    def _told(self, step: RecordedAction, *, fully: bool = True) -> str:
        """Return a recorded step in words for a model; `fully` adds what is needed to find its place."""
        parts = [step.kind.replace("_", " ")]
        parts += [repr(self._text(step, key)) for key in ("text", "name", "url", "reason", "key") if key in step.action]
        if (anchor := step.anchor) is not None:
            words, beside = (filled(each, self._values) for each in (anchor.words, anchor.beside))
            parts.append(f"on the {anchor.role} {words!r}" if words else f"on the {anchor.role}")
            parts += [f"beside {beside!r}"] if beside else []
            parts += [f"with the id {anchor.id}"] if anchor.id and (fully or not words) else []
            parts += [f"which stood at {anchor.at[0]:.0%} across and {anchor.at[1]:.0%} down"] if fully else []
        parts += [f"in {step.package}"] if fully else []
        return " ".join(parts)
