"""The routes about people and tokens for the console and the command line: give and revoke rights, pair, and create,
list and revoke tokens. Programs with a token have no such routes, so that none can let others in.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.application.access import Caller, Refused
from bot.application.people import PeopleCommands
from bot.application.phones import phone_named
from bot.application.services import Services
from bot.commands.accounts import paired_words, token_words, waiting_words
from bot.commands.people import allowed_words, denied_words
from bot.domain.address import Address
from bot.domain.right import Right
from bot.people.subjects import subject_named
from bot.people.tokens import DAYS, MOST_DAYS, TokenRefused
from bot.texts import say
from bot.web.api import ID_LIMIT, Body, body_of
from bot.web.auth import caller_of
from bot.web.http import RequestRefused, get, post, refuse
from bot.web.sessions import Way
from bot.web.viewers import person_of, place_of

logger = logging.getLogger(__name__)


class Wish(Body):
    """The body of a request to give somebody a right, or to take all their rights; for one phone, or for all phones
    ("").
    """

    who: str = Field(min_length=1, max_length=ID_LIMIT)
    right: str = Field(default="", max_length=ID_LIMIT)
    phone: str = Field(default="", max_length=ID_LIMIT)


class Code(Body):
    """The pairing code of a person who waits to be let in."""

    code: str = Field(min_length=1, max_length=ID_LIMIT)


class TokenWish(Body):
    """The body of a request to create a token. `person` is its owner as PLATFORM:ID; "" makes the token a service
    account.
    """

    name: str = Field(max_length=ID_LIMIT)
    rights: frozenset[Right] = Field(min_length=1)
    phones: tuple[Annotated[str, Field(min_length=1, max_length=ID_LIMIT)], ...] = Field(default=(), max_length=100)
    days: int = Field(default=DAYS, ge=1, le=MOST_DAYS)
    person: str = Field(default="", max_length=ID_LIMIT)
    approves_by_mcp: bool = False


_Does = Callable[[Request, PeopleCommands], Awaitable[str]]


class PeopleChanges:
    """Handles the requests about people and tokens. Each change is answered with a sentence for a person."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [
            post("/api/console/people", partial(self._run, self._allow)),
            post("/api/console/people/deny", partial(self._run, self._deny)),
            get("/api/console/pairing", partial(self._run, self._waiting)),
            post("/api/console/pairing", partial(self._run, self._let_in)),
            get("/api/console/tokens", partial(self._run, self._tokens)),
            post("/api/console/tokens/{name}/revoke", partial(self._run, self._revoke)),
            post("/api/tokens", self._make_token),
        ]

    async def _run(self, does: _Does, request: Request) -> Response:
        commands = PeopleCommands(Caller(person_of(request), place_of(request), ""), self._services)
        try:
            return JSONResponse({"text": await does(request, commands)})
        except Refused as refused:
            return refuse(409, str(refused))

    async def _allow(self, request: Request, commands: PeopleCommands) -> str:
        wish = await body_of(request, Wish)
        return allowed_words(await commands.allow(wish.who, wish.right, wish.phone))

    async def _deny(self, request: Request, commands: PeopleCommands) -> str:
        wish = await body_of(request, Wish)
        return denied_words(await commands.deny(wish.who, wish.phone))

    async def _waiting(self, _: Request, commands: PeopleCommands) -> str:
        return waiting_words(await commands.pairing())

    async def _let_in(self, request: Request, commands: PeopleCommands) -> str:
        return paired_words(await commands.let_in((await body_of(request, Code)).code))

    async def _tokens(self, _: Request, __: PeopleCommands) -> str:
        return f"{say('token.heading')}\n{token_words(self._services)}"

    async def _revoke(self, request: Request, commands: PeopleCommands) -> str:
        return say("token.revoked", name=(await commands.revoke_token(request.path_params["name"])).name)

    async def _make_token(self, request: Request) -> Response:
        """Create a token; its secret is shown only once. Only the operator may: a person who signed in with a token
        cannot create others.
        """
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
