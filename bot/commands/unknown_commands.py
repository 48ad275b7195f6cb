"""Handles unknown commands: offers the most similar one as a button that runs it with the same text."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from bot.application.access import verdict
from bot.application.services import Services
from bot.cards.buttons import ButtonAction, button
from bot.commands.backlog import attached
from bot.commands.free_text import Talk
from bot.commands.parser import UnknownCommand, parse
from bot.commands.request import Request
from bot.commands.spec import BY_NAME
from bot.domain.outgoing import Message, Reply
from bot.store.chats import Offer
from bot.tasks.files import keep

_WITH_CODES: Final = frozenset({"answer", "pair"})
"""Commands whose text may contain codes. Such a text is never stored, not even until a press."""


async def offer_nearest(request: Request, unknown: UnknownCommand, services: Services) -> Reply:
    """Reply that there is no such command. If the person may use the most similar one, the reply has a button that runs
    it, with the message's text and files; not for a message that came late, nor for a command whose text may be a
    secret code, such as one for signing in. Raises BadFiles if a file cannot be kept for the button.
    """
    told = Message(body=str(unknown), private=True)
    near = BY_NAME.get(unknown.near)
    if near is None or near.name in _WITH_CODES or request.stale:
        return Reply(told)
    if not verdict(request, services.policy, near.right).allowed:
        return Reply(told)
    offer = Offer(
        id=secrets.token_hex(8),
        person=request.person,
        place=request.place,
        event=request.event,
        message=request.message,
        text=f"{near.name} {unknown.rest}".strip(),
        files=await keep(services.frames, request.files),
        made=services.clock(),
    )
    await services.store.offers.add(offer)
    meant = button(ButtonAction.TRY, offer.id, f"{request.prefix or request.lead}{offer.text}", style="primary")
    return Reply(replace(told, buttons=((meant,),)))


@asynccontextmanager
async def meant_by_press(request: Request, offer: str, talk: Talk, services: Services) -> AsyncIterator[Request]:
    """Yield the request that the button runs for the person who typed the unknown command. It can be run once; if the
    block raises, the button can be pressed again.

    Raises Refused or ParseError.
    """
    async with talk.taken(request, offer) as typed:
        files = await attached(typed.files, services)
        yield replace(request, event=typed.event, call=parse(typed.text), message=typed.message, files=files)
