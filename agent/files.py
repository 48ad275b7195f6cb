"""Files that came with a task and are copied to the phone before the work begins."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from agent.wording import Spoken


class GivenFile(BaseModel):
    """A file that came with a task. `content` is a reference to the stored bytes (agent.ports.frames), and `name` is
    the file's name on the phone.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    content: str


class FileLost(Spoken):
    """A file that came with the task is no longer stored."""

    def __init__(self, name: str) -> None:
        super().__init__("file.lost", name=name)
