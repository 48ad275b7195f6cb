"""Run in a copy that lacks a part, whose name is in `WITHOUT`; see `test_parts.py`."""

from __future__ import annotations

import asyncio
import os
import signal
from importlib import import_module
from pathlib import Path

import aiohttp
import pytest

from bot.chats.installed import installed, model_of
from bot.cli.exits import USAGE
from bot.cli.main import main
from bot.config.settings import SettingsError
from bot.wiring.service import serve
from tests.fixtures.adb import AdbServer
from tests.parts.copies import COMMANDS, WITHOUT

PART = os.environ[WITHOUT]
FOLDER = PART.replace(".", "/")


def test_every_module_can_be_imported() -> None:
    assert not Path(FOLDER).exists()
    for package in ("devices", "agent", "bot"):
        for file in sorted(path for path in Path(package).rglob("*.py") if path.name != "__main__.py"):
            import_module(".".join(file.with_suffix("").parts).removesuffix(".__init__"))


def test_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    told = capsys.readouterr().out
    assert "tasks" in told
    assert not any(f"\n    {command} " in told for command in COMMANDS[PART])


@pytest.mark.parametrize("command", COMMANDS[PART])
def test_a_command_of_the_part_is_answered_with_what_is_missing(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=str(USAGE)):
        main([command])
    *_, line = capsys.readouterr().err.splitlines()
    assert f"`opengui {command}`" in line
    assert FOLDER in line or "bot/model_comparison" in line


async def test_a_service_starts(adb_server: AdbServer, tmp_path: Path) -> None:
    """Without a virtual phone, which would take seconds; where they are missing it is the start that asks for one."""
    settings = model_of(installed())(
        adb_servers=((adb_server.host, adb_server.port),),
        data_dir=tmp_path / "data",
        console_port=0,
        virtual_phones="auto" if PART == "devices.virtual_phone" else 0,
    )
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    service = asyncio.create_task(serve(settings, installed(), announce=address.set_result))
    done, _ = await asyncio.wait({service, address}, return_when=asyncio.FIRST_COMPLETED)
    assert address in done, service.exception()
    async with aiohttp.ClientSession() as session, session.get(await address) as page:
        assert page.status == 200
    os.kill(os.getpid(), signal.SIGTERM)
    await service


@pytest.mark.skipif(PART != "bot.fleet", reason="only the fleet has a setting that asks for it")
async def test_a_setting_that_asks_for_the_part_is_refused(tmp_path: Path) -> None:
    settings = model_of(())(data_dir=tmp_path / "data", console_port=0, fleet_url="nats://127.0.0.1:4222")
    with pytest.raises(SettingsError, match="FLEET_URL is set, and this installation lacks bot/fleet"):
        await serve(settings, (), announce=print)
