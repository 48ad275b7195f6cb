"""The id of a run, which is the work of one task on one phone, and the ways in which a task can end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

_WRITTEN: Final = re.compile(r"(?P<task>.+)-(?P<n>\d+)")
"""The text form of a run id, such as 7-1."""


@dataclass(frozen=True, slots=True)
class RunId:
    """The id of the `n`th run of a task, counted from 1. So far, every task has exactly one run.

    Wherever ids are stored or leave the program (tables, checkpoints, folders on the phone, JSON), `str` writes the id
    and `parse` reads it. Elsewhere its fields are used.
    """

    task: str
    n: int = 1

    def __str__(self) -> str:
        return f"{self.task}-{self.n}"

    @classmethod
    def parse(cls, written: str) -> RunId:
        """Read an id written by `str`. Raises ValueError if the text is not the id of a run."""
        found = _WRITTEN.fullmatch(written)
        if found is None:
            raise ValueError(f"{written!r} is not the id of a run: it has to be a task and a number, such as 7-1")
        return cls(found["task"], int(found["n"]))

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: type, _handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.no_info_after_validator_function(cls.parse, core_schema.str_schema())
        return core_schema.json_or_python_schema(
            written,
            core_schema.union_schema([core_schema.is_instance_schema(cls), written]),
            serialization=core_schema.to_string_ser_schema(when_used="json"),
        )


class Outcome(StrEnum):
    """The outcome of a task or sub-task."""

    SUCCEEDED = "succeeded"
    ANSWERED = "answered"
    """The task was answered in words, without any action, tool or team member."""
    UNVERIFIED = "unverified"
    DECLINED = "declined"
    """A person denied a necessary part of the task, so that part was not done."""
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"


class NeedsModel(BaseModel, frozen=True, extra="forbid"):
    """Why a task is blocked: it requires a model, and none is configured.

    `choices` are similar instructions that work without a model, the closest first; each would be a new task.
    """

    choices: tuple[str, ...] = ()
