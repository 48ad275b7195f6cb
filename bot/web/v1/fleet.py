"""The routes of phones (their state, their screen, and input by hand), of the configured models, and of the tools."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from agent import actions as act
from bot.application.phones import look, open_phones, phone_named
from bot.cards.picture import draw_screen
from bot.commands.phones import user_of
from bot.domain.right import Right
from bot.store.audit import AuditKind
from bot.tasks.hands import HeldByOther
from bot.tasks.operating import ByHand
from bot.views.tasks import phone_json
from bot.views.tools import server_data
from bot.web.pictures import HEADERS
from bot.web.v1.asking import Caller, Id, page
from bot.web.v1.calls import Calls
from bot.web.v1.models.base import Listed
from bot.web.v1.models.fleet import (
    McpServerInfo,
    ModelInfo,
    OpenedApp,
    PhoneInfoOut,
    PressedKey,
    TapAt,
    ToolInfo,
    TouchedInfo,
    TypedText,
)
from devices.phone import PhoneInfo

router = APIRouter(tags=["phones"])


async def _info(calls: Calls, phone: PhoneInfo) -> PhoneInfoOut:
    found = phone_json(phone, ())
    user = await user_of(phone, calls.services)
    seen = user is not None and calls.may_see(user)
    kept = {name: value for name, value in found.items() if name in PhoneInfoOut.model_fields}
    return PhoneInfoOut(**kept, task=user.id if user is not None and seen else None)


def _phone(calls: Calls, named: str) -> PhoneInfo:
    """Return the phone if this token may use it. Raises Unknown otherwise, as for a missing one."""
    calls.require(Right.USE)
    return phone_named(named, open_phones(calls.asking(), calls.services))


@router.get("/phones")
async def list_phones(calls: Caller) -> Listed[PhoneInfoOut]:
    """List the phones that this token may use."""
    calls.require(Right.USE)
    infos = [await _info(calls, phone) for phone in open_phones(calls.asking(), calls.services)]
    return page(infos, max(1, len(infos)), None)


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


async def _touched(calls: Calls, named: str, action: ByHand, allow: str) -> TouchedInfo:
    phone = _phone(calls, named)
    calls.require(Right.OPERATE, phone.id)
    if allow:
        calls.require(Right.APPROVE, phone.id)
    held = calls.services.hands.holder(phone.id)
    if held is not None:
        raise HeldByOther(held.name, held.person)
    met = await calls.services.operating.touch(phone.id, action, calls.event, allowed=allow)
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
    infos = [ModelInfo(role=role, name=name) for role, name in calls.models]
    return page(infos, max(1, len(infos)), None)


@router.get("/mcp-servers", tags=["records"])
async def list_mcp_servers(calls: Caller) -> Listed[McpServerInfo]:
    """List the MCP servers whose tools are used, and why some are not available; for admins."""
    calls.require(Right.ADMIN)
    infos = [McpServerInfo(**one) for one in server_data(calls.services.tools())]
    return page(infos, max(1, len(infos)), None)


@router.get("/tools", tags=["records"])
async def list_tools(calls: Caller) -> Listed[ToolInfo]:
    """List the tools that work without a phone, including those of MCP servers that answer now."""
    calls.require(Right.USE)
    found = {tool.kind: " ".join((tool.model.__doc__ or "").split()) for tool in calls.services.offered_tools()}
    infos = [ToolInfo(name=name, about=about) for name, about in found.items()]
    return page(infos, max(1, len(infos)), None)
