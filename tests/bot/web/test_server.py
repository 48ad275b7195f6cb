from __future__ import annotations

import json
import logging
import os
import socket
import stat
from pathlib import Path

import aiohttp
import pytest

from bot.web import handover
from bot.web.exposure import ConsoleError, ConsolePortInUse, Exposure
from tests.bot.web.world import World, open_world


@pytest.mark.slow
async def test_the_note_for_the_command_line_is_private_and_goes_with_the_service(tmp_path: Path) -> None:
    """Failed for the mode when the note was written with `Path.write_text`."""
    async with open_world(tmp_path) as world:
        path = tmp_path / handover.FILE
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        note = handover.read(tmp_path)
        assert note is not None
        assert (note.url, note.token, note.pid) == (world.url, world.token, os.getpid())
        assert world.token not in repr(note)
    assert not path.exists()
    assert handover.read(tmp_path) is None


@pytest.mark.slow
async def test_another_services_note_is_left_alone(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        other = handover.Handover(url=world.url, token="other", pid=1)
        handover.write(tmp_path, other)
    assert handover.read(tmp_path) == other


def test_a_damaged_note_is_no_note(tmp_path: Path) -> None:
    (tmp_path / handover.FILE).write_text("{")
    assert handover.read(tmp_path) is None


@pytest.mark.slow
async def test_a_port_in_use_is_told_by_its_setting(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            console = world.another(Exposure("127.0.0.1"), port)
            with pytest.raises(ConsolePortInUse, match="CONSOLE_PORT"):
                await console.start()
        await console.stop()


async def test_a_directory_that_cannot_be_written_is_told(world: World) -> None:
    console = world.another(Exposure("127.0.0.1"), data_dir=world.directory / "missing")
    with pytest.raises(ConsoleError, match="DATA_DIR"):
        await console.start()


@pytest.mark.slow
async def test_stopping_ends_open_streams(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        headers = {"Authorization": f"Bearer {world.token}"}
        async with aiohttp.ClientSession(world.url, headers=headers) as client, client.get("/api/events") as stream:
            await stream.content.readline()
            await world.console.stop()
            await stream.content.read()
        await world.console.stop()


@pytest.mark.slow
async def test_the_token_is_in_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Failed with aiohttp's access log switched on."""
    with caplog.at_level(logging.DEBUG):
        async with open_world(tmp_path) as world, aiohttp.ClientSession() as client:
            async with client.get(world.entry) as response:
                assert response.status == 200
            assert world.token not in caplog.text
            assert world.token not in repr(world.console)


async def test_the_page_needs_nothing_from_elsewhere(client: aiohttp.ClientSession) -> None:
    async with client.get("/") as response:
        page = await response.text()
        assert response.content_type == "text/html"
    assert "https://" not in page
    assert "http://" not in page
    assert "<style" not in page
    assert " on" + "click=" not in page
    for name, kind in (("app.js", "text/javascript"), ("base.css", "text/css"), ("icon.svg", "image/svg+xml")):
        async with client.get(f"/page/{name}") as response:
            assert response.status == 200
            assert response.content_type == kind
    for path in ("/page/../server.py", "/page/%2e%2e/server.py", "/page/__init__.py", "/page/"):
        async with client.get(path) as response:
            assert response.status == 404


def test_the_scripts_never_make_markup_from_data() -> None:
    folder = Path(__file__).parents[3] / "bot" / "web" / "page"
    scripts = sorted(folder.glob("*.js"))
    assert scripts
    for script in scripts:
        text = script.read_text("utf-8")
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert forbidden not in text, f"{script.name} uses {forbidden}"


def test_the_note_is_plain_json(tmp_path: Path) -> None:
    handover.write(tmp_path, handover.Handover(url="http://127.0.0.1:1", token="t", pid=7))
    assert json.loads((tmp_path / handover.FILE).read_text()) == {"url": "http://127.0.0.1:1", "token": "t", "pid": 7}


async def test_what_a_browser_has_already_is_not_sent_again(world: World) -> None:
    async with aiohttp.ClientSession(world.url) as client:
        marks = []
        for path in ("/", "/page/app.js"):
            async with client.get(path) as response:
                marks.append(response.headers["ETag"])
                assert response.charset == "utf-8"
            async with client.get(path, headers={"If-None-Match": marks[-1]}) as response:
                assert (response.status, await response.read()) == (304, b"")
            async with client.get(path, headers={"If-None-Match": '"older"'}) as response:
                assert response.status == 200
        assert len(set(marks)) == 2
