"""Somebody has a token: what it opens, what it does not, and what taking it back does."""

from __future__ import annotations

import zipfile
from pathlib import Path

import aiohttp
import pytest

from tests.bot.web.world import open_world
from tests.end_to_end.service import place_with
from tests.fixtures.adb import AdbServer

pytestmark = pytest.mark.slow

DISCORD = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.abcdefghijklmnopqrstuvwxyz0123456789AB"
TELEGRAM = f"123456:{'t' * 35}"
KEY = "sk-abcdefghijklmnopqrstuvwxyz"


async def test_a_console_token_ends_with_its_service(tmp_path: Path) -> None:
    """A new one at every start: whoever has read an old one in a terminal or a journal has nothing."""
    async with open_world(tmp_path) as old:
        was = old.token
    async with open_world(tmp_path) as new, aiohttp.ClientSession() as session:
        assert new.token != was
        for headers in ({"Authorization": f"Bearer {was}"}, {"Cookie": f"opengui={was}"}):
            async with session.get(f"{new.url}/api/state", headers=headers) as answer:
                assert answer.status == 401
        async with session.get(f"{new.url}/api/state", headers={"Authorization": f"Bearer {new.token}"}) as answer:
            assert answer.status == 200


async def test_no_token_is_kept_in_the_data_or_in_a_backup(adb_server: AdbServer, tmp_path: Path) -> None:
    """Data and backups may be looked at by whoever mends a disk; a token is in the environment and `.env` only."""
    async with place_with(adb_server, tmp_path) as place:
        nowhere = "http://127.0.0.1:9"
        place.settings |= {
            "DISCORD_BOT_TOKEN": DISCORD,
            "DISCORD_API_BASE": nowhere,
            "DISCORD_ALLOWED_USER_IDS": "42",
            "TELEGRAM_BOT_TOKEN": TELEGRAM,
            "TELEGRAM_BASE_URL": nowhere,
            "TELEGRAM_ALLOWED_USER_IDS": "42",
            "VLM_API_KEY": KEY,
            "VLM_BASE_URL": f"{nowhere}/v1",
            "VLM_MODEL": "m",
        }
        async with place.service(LOG_LEVEL="DEBUG") as service:
            code, _, err = await place.opengui("do", "open settings")
            assert code != 0
            log = service.log + err
        code, out, err = await place.opengui("backup", "kept.zip", "--frames")
        assert code == 0, out + err
        kept = _bytes_below(place.data) + _bytes_in(tmp_path / "kept.zip")
    for token in (DISCORD, TELEGRAM, KEY):
        assert token not in log
        assert token.encode() not in kept


def _bytes_below(directory: Path) -> bytes:
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert files
    return b"".join(path.read_bytes() for path in files)


def _bytes_in(archive: Path) -> bytes:
    with zipfile.ZipFile(archive) as opened:
        return b"".join(opened.read(name) for name in opened.namelist())
