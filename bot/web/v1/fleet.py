"""The routes and models of phones (their state, their screen, and input by hand), of the configured models, and of the
tools.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field, Strict

from agent import actions as act
from bot.application.phones import look, open_phones, phone_named
from bot.cards.picture import draw_screen
from bot.domain.right import Right
from bot.store.audit import AuditKind
from bot.tasks.manual_input import ManualAction
from bot.tasks.remote_control import PhoneInUse
from bot.views.tasks import phone_json
from bot.views.tools import server_data
from bot.web.pictures import HEADERS
from bot.web.v1.asking import Caller, Id, whole
from bot.web.v1.calls import Calls
from bot.web.v1.models import TEXT_LIMIT, Got, Listed, Name, Sent
from devices.inputs import Key
from devices.phone import PhoneInfo


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


router = APIRouter(tags=["phones"])


async def _info(calls: Calls, phone: PhoneInfo) -> PhoneInfoOut:
    found = phone_json(phone, ())
    user = await calls.services.task_service.working_on(phone.id)
    kept = {name: value for name, value in found.items() if name in PhoneInfoOut.model_fields}
    return PhoneInfoOut(**kept, task=user.id if user is not None and calls.may_see(user) else None)


def _phone(calls: Calls, named: str) -> PhoneInfo:
    """Return the phone if this token may use it. Raises Unknown otherwise, as for a missing one."""
    calls.require(Right.USE)
    return phone_named(named, open_phones(calls.asking(), calls.services))


@router.get("/phones")
async def list_phones(calls: Caller) -> Listed[PhoneInfoOut]:
    """List the phones that this token may use."""
    calls.require(Right.USE)
    return whole([await _info(calls, phone) for phone in open_phones(calls.asking(), calls.services)])


@router.get("/phones/{phone}")
async def get_phone(phone: Id, calls: Caller) -> PhoneInfoOut:
    """Return a phone."""
    return await _info(calls, _phone(calls, phone))


@router.get(
    "/phones/{phone}/screen",
    response_class=Response,
    responses={200: {"content": {"image/jpeg": {}}, "description": "What it shows now."}},
)
async def screen(phone: Id, calls: Caller) -> Response:
    """Return the current screen as a JPEG. Refused if the screen is secure, while the phone works on a task that the
    caller may not see, and while somebody else operates it.
    """
    found = _phone(calls, phone)
    _, image = await look(calls.asking(), found, calls.services)
    data = await asyncio.to_thread(draw_screen, image)
    return Response(data, headers=HEADERS | {"Cache-Control": "no-store"}, media_type="image/jpeg")


async def _touched(calls: Calls, named: str, action: ManualAction, allow: str) -> TouchedInfo:
    phone = _phone(calls, named)
    calls.require(Right.OPERATE, phone.id)
    if allow:
        calls.require(Right.APPROVE, phone.id)
    held = calls.services.remote_control.session_on(phone.id)
    if held is not None:
        raise PhoneInUse(held.name, held.person)
    met = await calls.services.manual_input.touch(phone.id, action, calls.event, allowed=allow)
    detail = f"{phone.id} {action.kind} {met.target or met.app}".strip()
    await calls.services.store.audit.note(AuditKind.OPERATED, calls.person, detail=detail)
    return TouchedInfo(app=met.app, target=met.target)


@router.post("/phones/{phone}/tap")
async def tap(phone: Id, wish: TapAt, calls: Caller) -> TouchedInfo:
    """Tap the screen once. Requires the right to operate and, with `allow`, the right to approve. Refused while a task
    works on the phone or a person operates it.
    """
    return await _touched(calls, phone, act.Tap(target=act.PointTarget(x=wish.x, y=wish.y)), wish.allow)


@router.post("/phones/{phone}/type")
async def type_text(phone: Id, wish: TypedText, calls: Caller) -> TouchedInfo:
    """Type into the focused field."""
    return await _touched(calls, phone, act.Type(text=wish.text, clear=wish.clear, submit=wish.submit), wish.allow)


@router.post("/phones/{phone}/key")
async def press_key(phone: Id, wish: PressedKey, calls: Caller) -> TouchedInfo:
    """Press a key."""
    return await _touched(calls, phone, act.PressKey(key=wish.key), wish.allow)


@router.post("/phones/{phone}/app")
async def open_app(phone: Id, wish: OpenedApp, calls: Caller) -> TouchedInfo:
    """Bring an app to the foreground."""
    return await _touched(calls, phone, act.OpenApp(name=wish.name), wish.allow)


@router.get("/models", tags=["records"])
async def list_models(calls: Caller) -> Listed[ModelInfo]:
    """List the configured models with their roles."""
    calls.require(Right.USE)
    return whole([ModelInfo(role=role, name=name) for role, name in calls.models])


@router.get("/mcp-servers", tags=["records"])
async def list_mcp_servers(calls: Caller) -> Listed[McpServerInfo]:
    """List the MCP servers whose tools are used, and why some are not available; for admins."""
    calls.require(Right.ADMIN)
    return whole([McpServerInfo(**one) for one in server_data(calls.services.tools())])


@router.get("/tools", tags=["records"])
async def list_tools(calls: Caller) -> Listed[ToolInfo]:
    """List the tools that work without a phone, including those of MCP servers that answer now."""
    calls.require(Right.USE)
    found = {tool.kind: " ".join((tool.model.__doc__ or "").split()) for tool in calls.services.offered_tools()}
    return whole([ToolInfo(name=name, about=about) for name, about in found.items()])
