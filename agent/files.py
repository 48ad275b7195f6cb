"""Files that came with a task and go to the phone before the work begins."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from agent.wording import Spoken


class GivenFile(BaseModel):
    """`content` is a reference to stored bytes (see agent.ports.frames), `name` what it is to be called there."""

    model_config = ConfigDict(frozen=True)

    name: str
    content: str


class FileLost(Spoken):
    """A file that came with the task is no longer kept."""

    def __init__(self, name: str) -> None:
        super().__init__("file.lost", name=name)
