"""The API's models of skills, and of drafts of recorded ones."""

from __future__ import annotations

from pydantic import Field

from bot.web.v1.models.base import NAME_LIMIT, Arguments, Got, Listed, Sent


class ParameterInfo(Got):
    """A parameter of a recorded skill."""

    name: str
    example: str = Field(description="What it was when the skill was recorded.")
    about: str


class RecordingInfo(Got):
    """The task that a recorded skill was made from, and what that task took."""

    text: str = Field(
        description="The task in words, with its parameters in braces. Everyone who may give tasks sees a saved skill."
    )
    task: str = Field(description="The task that it was recorded from; empty where that is not known.")
    steps: int


class SkillFiguresInfo(Got):
    """Statistics of a recorded skill's runs, and what they saved compared with the recorded task."""

    runs: int
    succeeded: int
    seconds: float
    tokens: int
    money: float | None = Field(description="Null where no price was known.")
    proven: bool = Field(description="Whether it has worked with other arguments than those it was made of.")
    again: str = Field(description="The task to save a new version from, since a model often had to help; else empty.")
    step: int = Field(description="Where it had to help, counted from 1; 0 for nowhere.")


class SkillInfo(Got):
    """A skill: a saved way of doing something, which a task follows if it names the skill."""

    name: str
    description: str
    apps: list[str] = Field(description="The packages of the apps that it is for; empty for any.")
    version: int | None = Field(description="Of the recording; null for a skill in words alone.")
    parameters: list[ParameterInfo]
    may_change: bool = Field(description="Whether whoever asks may rename and delete it.")
    recording: RecordingInfo | None = Field(description="Null for a skill in words alone.")
    figures: SkillFiguresInfo | None = Field(description="Null for a skill in words alone, and before the first run.")
    told: str = Field(default="", description="What there is to say of it when it was saved or changed.")


class RefusedSkill(Got):
    """A folder that is not a valid skill, and the reason."""

    folder: str
    why: str


class RefusedSkills(Listed[RefusedSkill]):
    """The folders that are not valid skills, and their location."""

    root: str


class SkillName(Sent):
    """The new name of a skill."""

    name: str = Field(min_length=1, max_length=NAME_LIMIT)


class SkillVersion(Sent):
    """A former version of a skill, to be restored."""

    version: str = Field(min_length=1, max_length=NAME_LIMIT)


class SkillRemoved(Got):
    """The answer to deleting a skill: what still uses it."""

    planned: list[str] = Field(description="The schedules that are still planned with it.")


class NewDraft(Sent):
    """A task that is to become a skill."""

    task: str = Field(min_length=1, max_length=NAME_LIMIT)
    name: str = Field(min_length=1, max_length=NAME_LIMIT)
    parameters: Arguments | None = Field(
        default=None, description="Parameters with their values as they stand in the task; left out, they are proposed."
    )


class DraftInfo(Got):
    """A draft of a skill made from a task. POST /skills/drafts/{id}/save saves exactly this."""

    id: str
    name: str
    text: str = Field(description="The task in words, with its parameters in braces.")
    parameters: list[ParameterInfo]
    steps: int
    by_model: int = Field(description="How many of its steps a model does each time.")
    always: list[str] = Field(description="Texts that are typed each time, whatever its arguments are.")
    told: str = Field(description="All that in words, for a person to confirm.")
