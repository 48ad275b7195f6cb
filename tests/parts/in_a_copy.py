"""Run in a copy that lacks parts, whose names are in `WITHOUT`; see `test_parts.py`."""

from __future__ import annotations

import asyncio
import os
import signal
from importlib import import_module
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent.model_roles import ModelSettings, build_models
from agent.models.base import Message, ModelRequest, Purpose
from agent.models.endpoint import EndpointSettings
from agent.models.errors import ModelKeyRejected
from agent.ports.workshop import Lack
from bot.chats.installed import installed, model_of
from bot.cli.exits import USAGE
from bot.cli.main import main
from bot.config.settings import Settings, SettingsError
from bot.views.tools import ServerAway
from bot.wiring.service import serve
from bot.wiring.team import tools_here
from tests.fixtures.adb import AdbServer
from tests.parts.copies import COMMANDS, PARTS, WITHOUT

MISSING = os.environ[WITHOUT].split(",")
MISSING += [each for part in MISSING for each in PARTS[part]]
LACKING = sorted({command for part in MISSING for command in COMMANDS[part]})


def test_every_module_can_be_imported() -> None:
    assert not any(Path(part.replace(".", "/")).exists() for part in MISSING)
    for package in ("devices", "agent", "bot"):
        for file in sorted(path for path in Path(package).rglob("*.py") if path.name != "__main__.py"):
            import_module(".".join(file.with_suffix("").parts).removesuffix(".__init__"))


def test_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    told = capsys.readouterr().out
    assert "tasks" in told
    assert not any(f"\n    {command} " in told for command in LACKING)


@pytest.mark.parametrize("command", LACKING)
def test_a_command_of_the_part_is_answered_with_what_is_missing(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=str(USAGE)):
        main([command])
    *_, line = capsys.readouterr().err.splitlines()
    assert f"`opengui {command}`" in line
    assert any(part.replace(".", "/") in line for part in MISSING if command in COMMANDS[part])


async def test_a_service_starts(adb_server: AdbServer, tmp_path: Path) -> None:
    """Without a virtual phone, which would take seconds; where they are missing it is the start that asks for one."""
    settings = model_of(installed())(
        adb_servers=((adb_server.host, adb_server.port),),
        data_dir=tmp_path / "data",
        console_port=0,
        virtual_phones="auto" if "devices.virtual_phone" in MISSING else 0,
    )
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    service = asyncio.create_task(serve(settings, installed(), announce=address.set_result))
    waiting: set[asyncio.Future[Any]] = {service, address}
    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert address in done, service.exception()
    async with aiohttp.ClientSession() as session, session.get(await address) as page:
        assert page.status == 200
    os.kill(os.getpid(), signal.SIGTERM)
    await service


def only_without(part: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(part not in MISSING, reason=f"of {part}")


@only_without("bot.fleet")
async def test_a_setting_that_asks_for_the_part_is_refused(tmp_path: Path) -> None:
    settings = model_of(())(data_dir=tmp_path / "data", console_port=0, fleet_url="nats://127.0.0.1:4222")
    with pytest.raises(SettingsError, match="FLEET_URL is set, and this installation lacks bot/fleet"):
        await serve(settings, (), announce=print)


@only_without("agent.offline")
async def test_a_task_without_a_model_is_told_what_is_missing() -> None:
    model = build_models(ModelSettings(EndpointSettings(""))).vision
    with pytest.raises(ModelKeyRejected, match="lacks the offline pilot"):
        await model.complete(ModelRequest(Purpose.PLAN, (Message("user", ("Open the settings",)),)))


@only_without("bot.workshop")
async def test_its_tools_are_lacking(tmp_path: Path) -> None:
    lacks = {tool.name: tool.lack for tool in (await tools_here(Settings(data_dir=tmp_path))).tools}
    assert lacks["shell"] is Lack.ABSENT


@only_without("bot.mcp_servers")
async def test_the_file_that_names_servers_is_said_to_be_of_no_use(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text("{}", encoding="utf-8")
    (away,) = (await tools_here(Settings(data_dir=tmp_path, workshop="off"))).away
    assert away == ServerAway("", "this installation lacks bot/mcp_servers")
