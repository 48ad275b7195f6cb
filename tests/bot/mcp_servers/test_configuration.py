"""What mcp.json may say, and what is refused of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.mcp_servers.configuration import MOST_BYTES, read_mcp_file
from bot.mcp_servers.named import findings


def write(path: Path, data: object) -> Path:
    file = path / "mcp.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    file.chmod(0o600)
    return file


def test_no_file_is_no_servers(tmp_path: Path) -> None:
    assert read_mcp_file(tmp_path / "mcp.json") is None


def test_the_usual_form_is_read(tmp_path: Path) -> None:
    notes = {"type": "stdio", "command": "npx", "args": ["-y", "notes"], "env": {"KEY": "1"}, "autoApprove": ["add"]}
    home = {
        "url": "http://home.lan:8123/mcp",
        "headers": {"Authorization": "Bearer x"},
        "tools": {"on": {"ask": False}},
    }
    found = read_mcp_file(
        write(tmp_path, {"mcpServers": {"notes": notes, "home": home, "off": {**home, "disabled": True}}})
    )
    assert found is not None
    assert set(found.servers) == {"notes", "home"}
    assert found.servers["notes"].args == ("-y", "notes")
    assert not found.servers["home"].tools["on"].ask
    assert not found.refused
    assert "Bearer" not in repr(found)


@pytest.mark.parametrize(
    "data", ["", "{", "[]", "{}", '{"mcpServers": []}', "[" * 100_000, "x" * (MOST_BYTES + 1)], ids=range(7)
)
def test_what_is_no_such_file_is_refused_as_a_whole(tmp_path: Path, data: str) -> None:
    found = read_mcp_file(write(tmp_path, data))
    assert found is not None
    assert not found.servers
    assert found.refused[""]


def test_one_bad_entry_leaves_the_others(tmp_path: Path) -> None:
    bad = {
        "both": {"command": "a", "url": "http://b"},
        "none": {},
        "ftp": {"url": "ftp://b"},
        "in it": {"command": "a"},
        "user": {"url": "http://a:b@c/"},
        "secret": {"command": "x", "env": {"KEY": {"hidden": "s3cret"}}},
    }
    found = read_mcp_file(write(tmp_path, {"mcpServers": {**bad, "good": {"command": "x"}, "GOOD": {"command": "y"}}}))
    assert found is not None
    assert set(found.servers) == {"good"}
    assert set(found.refused) == {*bad, "GOOD"}
    assert "s3cret" not in str(found.refused)


def test_a_file_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    """Seen failing without the look at its mode: the server of the file was named."""
    file = write(tmp_path, {"mcpServers": {"x": {"command": "x"}}})
    file.chmod(0o666)
    found = read_mcp_file(file)
    assert found is not None
    assert not found.servers


@pytest.mark.slow
async def test_the_doctor_tells_of_each_server(tmp_path: Path) -> None:
    good = {"command": sys.executable, "args": [str(Path(__file__).parent / "good_server.py")]}
    servers = {"notes": good, "gone": {"command": "/nonexistent/server"}, "bad name": good}
    file = tmp_path / "mcp.json"
    settings = Settings.model_construct(data_dir=tmp_path)
    assert await findings(settings) == []
    file.write_text(json.dumps({"mcpServers": servers}))
    file.chmod(0o600)
    told = {finding.verdict: finding.text for finding in await findings(settings)}
    assert told["good"] == "The MCP server notes answers. Tools: 1."
    assert "gone is unavailable: its command is not installed." in told["note"]
    assert "bad name" in told["bad"]
