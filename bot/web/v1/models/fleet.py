"""The API's models of phones, inputs by hand, configured models and tools."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

from bot.web.v1.models.base import TEXT_LIMIT, Got, Name, Sent
from devices.inputs import Key


class PhoneInfoOut(Got):
    """A phone and its current state."""

    id: str
    name: str
    state: str
    usable: bool
    reason: str
    fix: str
    model: str
    android: str
    size: list[int] | None
    battery: int | None
    app: str
    app_name: str
    virtual: bool
    serial: str
    host: str = Field(description="The host that it is attached to, empty for the service's own machine.")
    lane: str = Field(description="How it is operated: fast, or plain for the reason beside it.")
    lane_reason: str
    pictures: str
    task: str | None = Field(description="The task that works on it, where it may be shown.")


class _Touch(Sent):
    allow: Name = Field(default="", description="`details.allow` of the refusal that asked for an approval.")


class TapAt(_Touch):
    """A tap, in the phone's own pixels."""

    x: int = Field(ge=0, le=20_000)
    y: int = Field(ge=0, le=20_000)


class TypedText(_Touch):
    """Text for the focused field. Text for a password field is not stored."""

    text: str = Field(min_length=1, max_length=TEXT_LIMIT, repr=False)
    clear: bool = False
    submit: bool = False


class PressedKey(_Touch):
    """A key to press on the phone."""

    key: Annotated[Key, Strict(False)]


class OpenedApp(_Touch):
    """An app to open, by its name on the launcher or its package name."""

    name: str = Field(min_length=1, max_length=200)


class TouchedInfo(Got):
    """What an input reached: the app in the foreground, and the label of the control at that place."""

    app: str
    target: str


class ModelInfo(Got):
    """A configured model, and what it is used for."""

    role: str
    name: str


class McpServerInfo(Got):
    """An MCP server listed in `mcp.json`. Only the operator can change that file."""

    name: str = Field(description="Empty where the file itself cannot be used.")
    why: str = Field(description="Why its tools are not there; empty where it answers.")
    tools: list[str] = Field(description="Its tools, as models know them.")
    left_out: int = Field(description="How many more it has than it may offer.")


class ToolInfo(Got):
    """A tool for work that needs no phone."""

    name: str
    about: str
