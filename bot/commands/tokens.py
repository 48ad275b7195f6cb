"""The command `tokens`: shows who uses the service through an access token, and revokes tokens."""

from __future__ import annotations

from datetime import datetime, tzinfo

from bot.application.access import Refused
from bot.application.people import PeopleCommands
from bot.application.services import Services
from bot.commands.request import Request, aside
from bot.domain.outgoing import Reply
from bot.domain.right import API_PLATFORM, Token
from bot.people.subjects import Subject
from bot.texts import listed, say


async def tokens(request: Request, services: Services) -> Reply:
    """Show all access tokens, or revoke one. They cannot be created here, because chats store their messages."""
    words = request.call.rest.split()
    match [word.lower() for word in words[:1]]:
        case []:
            return aside(token_words(services), heading=say("token.heading"))
        case ["revoke"] if len(words) == 2:
            revoked = await PeopleCommands(request, services).revoke_token(words[1])
            return aside(say("token.revoked", name=revoked.name))
    raise Refused(say("token.usage", prefix=request.prefix))


def token_words(services: Services) -> str:
    """Return a text with all access tokens, one per line."""
    now = services.clock()
    lines = [_line(token, now, services.zone) for token in services.rights.tokens.listed()]
    return "\n".join(lines) or say("token.none")


def _line(token: Token, now: float, zone: tzinfo) -> str:
    used = say("token.unused") if token.used is None else say("token.used", time=moment(token.used, zone))
    told = {
        "name": token.name,
        "rights": listed(sorted(token.rights)),
        "until": moment(token.expires, zone),
        "used": used,
    }
    line = say("token.line" if now < token.expires else "token.expired", **told)
    if token.owner.platform != API_PLATFORM:
        line = say("token.of", line=line, who=Subject.of_person(token.owner))
    if token.phones:
        line = say("token.phones", line=line, phones=listed(token.phones))
    return say("token.mcp", line=line) if token.approves_by_mcp else line


def moment(at: float, zone: tzinfo) -> str:
    """Format a time (Unix seconds) as lists show it, in the time zone `zone`."""
    return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M")
