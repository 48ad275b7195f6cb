"""What Discord's manifest makes of what is set."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.chats.discord.manifest import DISCORD, DiscordSettings


def token_of(user: str) -> str:
    return base64.urlsafe_b64encode(user.encode()).decode().rstrip("=") + ".GabcdE.secret"


@pytest.mark.parametrize(
    ("token", "client", "invited"),
    [
        (token_of("112233445566778899"), "", "client_id=112233445566778899&"),
        (token_of("1"), "", "client_id=1&"),
        (token_of("112233445566778899"), "42", "client_id=42&"),
        (token_of("no number"), "", ""),
        ("é.b.c", "", ""),
        ("abc", "", ""),
    ],
)
def test_the_bot_is_invited_by_what_its_token_begins_with(
    tmp_path: Path, token: str, client: str, invited: str
) -> None:
    settings = DiscordSettings(data_dir=tmp_path, discord_bot_token=SecretStr(token), discord_client_id=client)
    told = DISCORD.closing(settings)
    assert invited in told
    assert bool(told) == bool(invited)
    assert "secret" not in told
