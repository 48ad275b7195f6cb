"""An inbound webhook: a URL that other programs call to start a task."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from bot.domain.trigger import MOST_PER_HOUR, PER_HOUR

NAME: Final = r"[a-z0-9][a-z0-9-]{0,39}"
MOST_VALUES: Final = 20


class Hook(BaseModel):
    """An inbound webhook: its name and secret, and which values of a call's JSON are passed to the task."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(pattern=f"^{NAME}$")
    """The last part of its address."""
    secret: str = Field(repr=False)
    """`whsec_` and a key in base64: callers send it, or sign with it."""
    values: tuple[str, ...] = ()
    """The names in the JSON of a call whose values are passed to the task; () for all, up to `MOST_VALUES`."""
    per_hour: int = Field(default=PER_HOUR, ge=1, le=MOST_PER_HOUR)
