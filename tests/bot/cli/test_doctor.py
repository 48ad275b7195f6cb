"""What the doctor finds, and how each thing is mended."""

from __future__ import annotations

import argparse
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

from bot.chats.installed import installed, model_of
from bot.cli.agent import tools
from bot.cli.doctor import doctor
from bot.cli.phones import devices
from bot.config.settings import Settings
from bot.store.directory import DataDirectory
from devices.adb.connection import Connection
from devices.adb.preparation import Preparation
from devices.adb.server import ServerAddress
from devices.adb.shell import Shell
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.phone import VirtualPhone
from tests.fakes.discord import TOKEN, FakeDiscord
from tests.fixtures.adb import AdbServer
from tests.fixtures.checkout import as_checkout

NOTHING = argparse.Namespace(json=False, mend=False)
Said = pytest.CaptureFixture[str]


@dataclass
class Machine:
    """One phone on a real adb server."""

    phone: VirtualPhone
    adb: AdbServer
    directory: Path

    def settings(self, **more: object) -> Settings:
        given: dict[str, object] = {
            "adb_servers": ((self.adb.host, self.adb.port),),
            "android_serials": (self.phone.address,),
            "data_dir": self.directory / "data",
            "console_port": 0,
            **more,
        }
        return model_of(installed()).model_validate(given)


@pytest.fixture
async def here(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Machine]:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        yield Machine(phone, adb_server, tmp_path)
        await adb_server.disconnect(phone.address)


async def test_all_is_well_with_nothing_configured(here: Machine, capsys: Said) -> None:
    assert await doctor(NOTHING, here.settings()) == 0
    told = capsys.readouterr().out
    assert f"✓ Phone Virtual Phone ({here.phone.address}) is ready." in told
    assert "the offline pilot is used" in told
    assert "Set DISCORD_BOT_TOKEN and its lists" in told
    assert "Set TELEGRAM_BOT_TOKEN and its lists" in told
    assert told.endswith("Everything looks good.\n")


async def test_what_it_made_belongs_to_this_user_alone(here: Machine, capsys: Said) -> None:
    """Seen failing: the directory was made for everybody to read, and the next look complained about that."""
    for _ in range(2):
        assert await doctor(NOTHING, here.settings()) == 0
    assert "✓ Data directory" in capsys.readouterr().out


async def test_what_others_can_read(here: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    (here.directory / "data").mkdir(mode=0o755)
    assert await doctor(NOTHING, here.settings()) == 0, "the service closes it when it starts"
    assert "chmod 700" in capsys.readouterr().out
    (here.directory / ".env").write_text("LOG_LEVEL=INFO\n")
    (here.directory / ".env").chmod(0o644)
    monkeypatch.chdir(as_checkout(here.directory))
    assert await doctor(NOTHING, here.settings()) == 69
    told = capsys.readouterr().out
    assert "chmod 600 .env" in told
    named = here.directory / "other settings.env"
    named.write_text("")
    named.chmod(0o644)
    settings = here.settings()
    settings._file = named
    assert await doctor(NOTHING, settings) == 69
    assert f"chmod 600 '{named}'" in capsys.readouterr().out
    assert told.endswith("1 to fix.\n")


async def test_a_member_that_cannot_be_used_is_named(here: Machine, capsys: Said) -> None:
    folder = here.directory / "data" / "agents" / "dietician"
    folder.mkdir(parents=True)
    (here.directory / "data").chmod(0o700)
    (folder / "AGENTS.md").write_text("---\nname: dietician\ndescription: Eats.\ntools: [x_ray]\n---\nEat.")
    assert await doctor(NOTHING, here.settings()) == 0
    told = capsys.readouterr().out
    assert f"{folder} is not used:" in told
    assert "x_ray" in told
    await tools(NOTHING, here.settings())
    assert "x_ray" in capsys.readouterr().out


async def test_no_phone(here: Machine, capsys: Said) -> None:
    await here.adb.disconnect(here.phone.address)
    assert await doctor(NOTHING, here.settings(android_serials=("not-there",))) == 69
    assert "✗ No phone connected.\n    → Plug one in with USB debugging on" in capsys.readouterr().out


@asynccontextmanager
async def answering(answers: dict[str, tuple[int, object]]) -> AsyncIterator[tuple[str, list[web.Request]]]:
    """A server that gives these answers by path; its address, and what it was asked."""
    asked: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        status, body = answers.get(request.path, (404, {}))
        return web.json_response(body, status=status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


async def test_a_chat_without_lists_will_not_start(here: Machine, capsys: Said) -> None:
    assert await doctor(NOTHING, here.settings(discord_bot_token="abc", telegram_bot_token="1:x")) == 69
    told = capsys.readouterr().out
    assert "✗ Discord has a token, but will not start." in told
    assert "DISCORD_ALLOWED_GUILD_IDS" in told
    assert "TELEGRAM_ALLOWED_USER_IDS" in told


@pytest.mark.parametrize(
    ("discord", "flags", "telegram", "words"),
    [
        (200, 1 << 19, 200, ("✓ Discord accepts the token; the bot is opengui.", "✓ Telegram accepts", "@opengui_bot")),
        (
            200,
            0,
            200,
            ("· Discord accepts the token of opengui, but", "Message Content Intent", "/42/bot"),
        ),
        (401, 0, 404, ("✗ Discord does not accept the token.", "✗ Telegram does not accept", "TELEGRAM_BOT_TOKEN")),
        (500, 0, 502, ("✗ Discord answered with HTTP status 500.", "✗ Telegram answered with HTTP status 502.")),
    ],
)
async def test_tokens_are_tried(
    here: Machine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Said,
    discord: int,
    flags: int,
    telegram: int,
    words: tuple[str, ...],
) -> None:
    answers: dict[str, tuple[int, object]] = {
        "/api/users/@me": (discord, {"username": "opengui"}),
        "/api/applications/@me": (200, {"id": "42", "flags": flags}),
        "/bot1:secret/getMe": (telegram, {"ok": True, "result": {"username": "opengui_bot"}}),
    }
    async with answering(answers) as (address, asked):
        monkeypatch.setenv("DISCORD_API_BASE", f"{address}/api")
        settings = here.settings(
            discord_bot_token="abc.def",
            discord_allowed_user_ids=("5",),
            telegram_bot_token="1:secret",
            telegram_allowed_user_ids=("5",),
            telegram_base_url=address,
        )
        assert await doctor(NOTHING, settings) == (0 if discord == 200 else 69)
        assert asked[0].headers["Authorization"] == "Bot abc.def"
    told = capsys.readouterr().out
    assert all(each in told for each in words)
    assert "secret" not in told
    assert "abc.def" not in told


async def test_what_the_bot_lacks_in_discords_channels_is_listed(
    here: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    async with FakeDiscord() as fake:
        guild = fake.guild()
        channel = fake.channel(guild)
        fake.deny(channel, "attach_files")
        monkeypatch.setenv("DISCORD_API_BASE", fake.api_base)
        settings = here.settings(
            discord_bot_token=TOKEN,
            discord_allowed_user_ids=("5",),
            discord_allowed_channel_ids=(str(channel.id), "12345"),
        )
        assert await doctor(NOTHING, settings) == 69
    told = capsys.readouterr().out
    assert "· Discord, #general of Home: the bot lacks permissions." in told
    assert "Attach Files: screenshots" in told
    assert "✗ Discord: the bot cannot see channel 12345." in told


@pytest.mark.parametrize("servers", [["Home", "Work"], []])
async def test_the_servers_that_the_bot_is_in_are_listed_with_their_numbers(
    here: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Said, servers: list[str]
) -> None:
    guilds = [{"id": f"10{number}", "name": name} for number, name in enumerate(servers)]
    answers: dict[str, tuple[int, object]] = {
        "/api/users/@me": (200, {"username": "opengui"}),
        "/api/applications/@me": (200, {"id": "77", "flags": 1 << 18}),
        "/api/users/@me/guilds": (200, guilds),
    }
    async with answering(answers) as (address, _):
        monkeypatch.setenv("DISCORD_API_BASE", f"{address}/api")
        settings = here.settings(discord_bot_token="abc.def", discord_client_id="77", discord_allowed_user_ids=("5",))
        assert await doctor(NOTHING, settings) == 0
    told = capsys.readouterr().out
    assert ("Home (100), Work (101)" in told) is bool(servers)
    assert ("client_id=77" in told) is not bool(servers)


async def test_a_chat_that_is_not_reached(here: Machine, capsys: Said) -> None:
    settings = here.settings(
        telegram_bot_token="1:secret", telegram_allowed_user_ids=("5",), telegram_base_url="http://127.0.0.1:1"
    )
    assert await doctor(NOTHING, settings) == 69
    assert "✗ Telegram cannot be reached." in capsys.readouterr().out


SAID_BY_MODEL = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "some-model",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Red"}, "finish_reason": "stop"}],
}


@pytest.mark.parametrize(
    ("status", "listed", "sees", "code", "words"),
    [
        (200, ["some-model"], 200, 0, "✓ some-model accepts pictures."),
        (404, [], 200, 0, "answers; the model is some-model"),
        (200, ["other"], 200, 0, "does not list the model some-model; it has other."),
        (200, [], 400, 0, "some-model accepts no pictures. It operates phones by the list"),
        (200, [], 401, 69, "“no pictures here”\n    → Check VLM_API_KEY (or BASIC_API_KEY, REASONING_API_KEY)"),
        (402, [], 402, 69, "“no pictures here”\n    → Top up the account with its provider"),
        (401, [], 200, 69, "does not accept the key.\n    → Check VLM_API_KEY (or BASIC_API_KEY, REASONING_API_KEY)"),
    ],
)
async def test_the_endpoint_is_asked(
    here: Machine, capsys: Said, status: int, listed: list[str], sees: int, code: int, words: str
) -> None:
    answers: dict[str, tuple[int, object]] = {
        "/v1/models": (status, {"data": [{"id": name} for name in listed]}),
        "/v1/chat/completions": (sees, SAID_BY_MODEL if sees == 200 else {"error": {"message": "no pictures here"}}),
    }
    async with answering(answers) as (address, asked):
        settings = here.settings(vlm_base_url=f"{address}/v1/", vlm_model="some-model", vlm_api_key="the-key")
        assert await doctor(NOTHING, settings) == code
        assert {request.headers["Authorization"] for request in asked} == {"Bearer the-key"}
    told = capsys.readouterr().out
    assert words in told
    assert "the-key" not in told


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"vlm_model": "some-model"}, "127.0.0.1:1 does not answer.\n    → Check that the endpoint runs"),
        ({}, "VLM_MODEL is not set."),
        ({"vlm_model": "some-model", "vlm_dialect": "klingon"}, "VLM_DIALECT"),
    ],
)
async def test_a_model_that_cannot_work(here: Machine, capsys: Said, more: dict[str, str], words: str) -> None:
    assert await doctor(NOTHING, here.settings(vlm_base_url="http://127.0.0.1:1/v1", **more)) == 69
    assert words in capsys.readouterr().out


async def test_a_service_without_a_console(here: Machine, capsys: Said) -> None:
    with DataDirectory(here.directory / "data"):
        assert await doctor(NOTHING, here.settings()) == 69
    assert "is in use by another process" in capsys.readouterr().out


async def test_devices_for_a_person(here: Machine, capsys: Said) -> None:
    assert await devices(argparse.Namespace(json=False), here.settings()) == 0
    told = capsys.readouterr().out
    assert told.split() == ["Virtual", "Phone", "ready", here.phone.address]
    assert await devices(argparse.Namespace(json=False), here.settings(android_serials=("not-there",))) == 0
    assert "No phone connected." in capsys.readouterr().out


async def test_adb_is_told(here: Machine, capsys: Said) -> None:
    assert await doctor(NOTHING, here.settings(adb_servers=((here.adb.host, here.adb.port), ("127.0.0.2", 1)))) == 69
    told = capsys.readouterr().out
    assert "✓ adb 3" in told
    assert f"✓ The adb server at {here.adb.host}:{here.adb.port} answers (version 41)." in told
    assert "✗ The adb server at 127.0.0.2:1 cannot be reached." in told


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no_touch", "does not accept touches: adb is not allowed to touch the screen. On a Xiaomi phone"),
        ("storage_full", "has only 0 MB of free storage.\n    → Delete something"),
    ],
)
async def test_a_phone_that_does_not_work_as_it_should(here: Machine, capsys: Said, fault: str, words: str) -> None:
    here.phone.faults.set(**{fault: True})
    assert await doctor(NOTHING, here.settings()) == 69
    assert words in capsys.readouterr().out


async def test_what_a_phone_says_of_itself(here: Machine, capsys: Said) -> None:
    here.phone.state.battery, here.phone.state.charging = 8, False
    assert await doctor(NOTHING, here.settings()) == 0
    told = capsys.readouterr().out
    assert "· Phone Virtual Phone: low battery. The battery is at 8 %.\n    → Charge the phone." in told
    assert "battery 8 %" in told
    assert "GB free" in told
    here.phone.windows.lock("1234")
    assert await doctor(NOTHING, here.settings()) == 0
    assert "· Phone Virtual Phone: locked." in capsys.readouterr().out


async def test_an_unauthorized_phone(here: Machine, capsys: Said) -> None:
    await here.adb.disconnect(here.phone.address)
    await here.phone.set_link(LinkState.UNAUTHORIZED)
    assert await doctor(NOTHING, here.settings()) == 69
    assert (
        "unauthorized. The phone does not trust this computer yet.\n    → Unlock the phone" in capsys.readouterr().out
    )


@pytest.mark.parametrize("remembered", [True, False])
async def test_what_a_crashed_run_left_is_told_and_mended(here: Machine, capsys: Said, remembered: bool) -> None:
    before = here.phone.state.settings["secure"]["default_input_method"]
    phone = Preparation(Shell(Connection(ServerAddress(here.adb.host, here.adb.port), here.phone.address)))
    await phone.prepare(None)
    if not remembered:
        left = here.phone.state.settings["global"]
        for key in [key for key in left if key.startswith("opengui")]:
            del left[key]
    assert await doctor(NOTHING, here.settings()) == 69
    told = capsys.readouterr().out
    assert "✗ A run that crashed left the bot's keyboard on Virtual Phone.\n    → opengui doctor --mend" in told
    assert await doctor(argparse.Namespace(json=False, mend=True), here.settings()) == 0
    assert "✓ Virtual Phone has its own keyboard and settings again." in capsys.readouterr().out
    assert here.phone.state.settings["secure"]["default_input_method"] == before


async def test_the_consoles_port_is_taken(here: Machine, capsys: Said) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        assert await doctor(NOTHING, here.settings(console_port=other.getsockname()[1])) == 69
    assert "✗ The web console cannot listen at 127.0.0.1:" in capsys.readouterr().out


async def test_for_programs(here: Machine, capsys: Said) -> None:
    assert await doctor(argparse.Namespace(json=True, mend=False), here.settings()) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["area"] for row in rows} == {"computer", "files", "service", "adb", "phone", "model", "chat"}
    assert all(set(row) == {"area", "verdict", "text", "fix", "cause"} for row in rows)
