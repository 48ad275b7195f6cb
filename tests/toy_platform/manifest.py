"""The toy platform as a platform."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, SecretStr
from pydantic_settings import NoDecode

from bot.checks.chats import accepted, refused
from bot.config.forms import listed
from bot.config.settings import Settings
from bot.domain.chat import ChatError, Connected
from bot.domain.finding import Finding
from bot.people.subjects import Naming
from bot.platform import Asked, ChatContext, ListFields, Platform
from tests.toy_platform.chat import Connection, ToyChat

Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(listed)]


class ToySettings(Settings):
    toy_token: SecretStr = SecretStr("")
    toy_server: str = ""
    toy_people: Names = ()
    toy_admins: Names = ()


def _connect(settings: ToySettings, context: ChatContext) -> Connected:
    return ToyChat(settings.toy_token.get_secret_value(), settings.toy_server, context.intake)


async def _check(settings: ToySettings) -> list[Finding]:
    try:
        connection = await Connection.to(settings.toy_server)
    except ChatError:
        return [refused(TOY.title, TOY.token, 0)]
    try:
        found = await connection.ask("login", token=settings.toy_token.get_secret_value(), stay=False)
    except ChatError:
        return [refused(TOY.title, TOY.token, 401)]
    finally:
        await connection.close()
    return [accepted(TOY.title, found["bot"])]


TOY: Final = Platform(
    name="toy",
    title="Toybox",
    settings=ToySettings,
    token="toy_token",
    lists=ListFields(users="toy_people", admins="toy_admins"),
    connect=_connect,
    check=_check,
    asked=(
        Asked("toy_token", lambda: "Token of the toy", secret=True),
        Asked("toy_server", lambda: "Its server"),
        Asked("toy_people", lambda: "Who may play"),
    ),
    about=lambda: "The token is written on the box.",
    naming=Naming(person=re.compile("[a-z]{1,20}")),
    secrets=(r"toy-session-\d+",),
)
