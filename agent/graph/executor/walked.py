"""How far a recording was followed, by what the steps of the run have kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agent.graph.executor.fitting import Fitting
from agent.graph.executor.state import PastData, status_of
from agent.recorded_skills.skill_file import RecordedSkill
from agent.recorded_skills.step_record import RecordedAction
from agent.scene import StepFate

MOST_BACKS: Final = 3
"""Pages that are gone back in an app that was just opened."""


@dataclass
class Way:
    """How far the recording was followed, by what the steps of the run have kept."""

    step: int = 0
    """The next recorded one."""
    tried: bool = False
    """Whether it was sent or refused before, and did not simply succeed."""
    unsure: bool = False
    """Whether nobody knows if that has arrived."""
    waits: int = 0
    backs: int = 0
    scrolls: list[PastData] = field(default_factory=list)
    model: list[RecordedAction] = field(default_factory=list)
    """What the model has done since the last recorded step."""
    asked: int = 0
    """Steps of the model since then."""
    names_asked: bool = False
    """Whether a model was asked in this run what recorded words are called."""
    other_version: bool = False
    """Whether another version of the recording was followed before: then its steps say nothing of this one."""


def walked(skill: RecordedSkill, past: Sequence[PastData], fitting: Fitting) -> Way:
    """How far the steps of this run have come in the recording; what words are called now is kept in `fitting`."""
    way, names_asked, other_version = Way(), False, False
    for each in past:
        memo = each["memo"]
        if "names" in memo:
            fitting.renamed = {**memo["names"], **fitting.renamed}
            names_asked = True
        number = memo.get("followed")
        if number is None:
            way.waits, way.scrolls = 0, []
            way.asked += 1
            if status_of(each) is StepFate.DONE and each["failure"] is None:
                way.model += [RecordedAction.model_validate(data) for data in each.get("recorded_actions", [])]
            continue
        other_version |= memo.get("version") != skill.version
        match memo.get("how"):
            case "wait":
                way.waits += 1
            case "back":
                way.backs += 1
            case "reopen":
                way.backs = MOST_BACKS
            case "scroll":
                way.scrolls.append(each)
            case "end":  # it was not taken as proven
                way = Way(step=number, tried=True)
            case _:
                free = list(way.model)
                for step in skill.steps[way.step : number]:
                    fitting.taken(step, free)
                done = status_of(each) is StepFate.DONE and each["failure"] is None
                why = each["failure"]
                unsure = status_of(each) is StepFate.INTERRUPTED or (why is not None and why["uncertain"])
                way = Way(step=number + 1) if done else Way(step=number, tried=True, unsure=unsure)
    return replace(way, names_asked=names_asked, other_version=other_version)
