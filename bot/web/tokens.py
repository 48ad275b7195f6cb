"""The route with which the operator's command line creates access tokens. A token's secret appears only in
the answer.
"""

from __future__ import annotations

import logging
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.application.access import Refused
from bot.application.phones import phone_named
from bot.application.services import Services
from bot.domain.address import Address
from bot.domain.right import Right
from bot.people.subjects import subject_named
from bot.people.tokens import DAYS, MOST_DAYS, TokenRefused
from bot.texts import say
from bot.web.api import ID_LIMIT, body_of
from bot.web.auth import caller_of
from bot.web.http import RequestRefused, post, refuse
from bot.web.sessions import Way
from bot.web.viewers import person_of

logger = logging.getLogger(__name__)


class TokenWish(BaseModel):
    """The body of a request to create a token. `person` is its owner as PLATFORM:ID; "" makes the token a service
    account.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(max_length=ID_LIMIT)
    rights: frozenset[Right] = Field(min_length=1)
    phones: tuple[Annotated[str, Field(min_length=1, max_length=ID_LIMIT)], ...] = Field(default=(), max_length=100)
    days: int = Field(default=DAYS, ge=1, le=MOST_DAYS)
    person: str = Field(default="", max_length=ID_LIMIT)
    approves_by_mcp: bool = False


class TokenMaking:
    """Handles requests to create tokens. Only the operator may: a person who signed in with a token cannot create
    others.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [post("/api/tokens", self.add)]

    async def add(self, request: Request) -> Response:
        """Create a token; its secret is shown only once."""
        if caller_of(request).way is Way.PERSON:
            return refuse(403, say("refusal.operator"))
        wish = await body_of(request, TokenWish)
        rights = self._services.rights
        owner = None
        if wish.person:
            # Without a platform nearby, a number alone identifies nobody.
            subject = subject_named(wish.person, Address("", "", ""), self._services.namings)
            if subject is None or subject.guild:
                raise RequestRefused(409, say("token.person", name=wish.person[:40]))
            owner = subject.person
        try:
            phones = tuple(phone_named(phone, self._services.phones.list()).id for phone in wish.phones)
            made, secret = await rights.add_token(
                wish.name,
                wish.rights,
                person_of(request),
                owner=owner,
                phones=phones,
                days=wish.days,
                approves_by_mcp=wish.approves_by_mcp,
            )
        except (Refused, TokenRefused) as refused:
            return refuse(409, str(refused))
        logger.info("The token %s was made", made.name)
        return JSONResponse(
            {"name": made.name, "secret": secret, "expires": made.expires}, headers={"Cache-Control": "no-store"}
        )
