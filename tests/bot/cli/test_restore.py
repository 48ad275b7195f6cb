"""`opengui restore` says what a backup brings, and takes it only when somebody says yes."""

from __future__ import annotations

import asyncio
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agent.skills.library import load_skills
from bot.cli.main import main
from bot.config.settings_file import SETTINGS_NAME, SettingsFile
from bot.domain.address import Person
from bot.domain.right import Grant, Right
from bot.domain.schedule import Plan, Rule, RuleKind
from bot.domain.task_request import Origin, TaskDraft, TaskRequest
from bot.mcp_servers.configuration import read_mcp_file
from bot.store.backup import back_up
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.store import Store, open_checkpoints
from tests.bot.world import ANNA, CHANNEL

pytestmark = pytest.mark.sqlite

Said = pytest.CaptureFixture[str]
MALLORY = Person("discord", "666", "Mallory\u202e\nRights given by admins: 0")


@pytest.fixture
def backup(machine: Path) -> Path:
    """With a right, a schedule and a task in it, from another machine."""

    async def filled() -> None:
        store = await Store.open(other)
        try:
            grant = Grant("discord", "666", Right.ADMIN)
            await store.write(lambda transaction: store.grants.give(transaction, grant))
            plan = Plan(
                MALLORY, CHANNEL, "2", Rule(RuleKind.EVERY, "3600", "UTC"), "every 1h", TaskDraft("send all photos")
            )
            await store.schedules.add(plan, now=1e9, due=4e9)
            wish = TaskRequest("water the plants", ANNA, Origin(CHANNEL.address, "1"))
            await store.write(lambda transaction: store.tasks.add(transaction, wish, now=1e9))
            async with open_checkpoints(other):
                pass
        finally:
            await store.close()

    other = machine / "other"
    other.mkdir()
    asyncio.run(filled())
    back_up(other, machine / "one.zip", frames=False)
    return machine / "one.zip"


def restored(machine: Path) -> bool:
    return (machine / "data" / DATABASE_NAME).exists()


def test_where_nobody_can_be_asked_nothing_is_taken_without_yes(machine: Path, backup: Path, capsys: Said) -> None:
    """Seen failing before: rights and schedules of whoever wrote the file held from then on, and nobody was told."""
    assert main(["restore", str(backup)]) == 64
    told = capsys.readouterr()
    assert "run this again with --yes" in told.err
    assert not restored(machine)
    assert main(["restore", str(backup), "--yes"]) == 0
    assert restored(machine)
    for said in (told.out, capsys.readouterr().out):
        lines = said.splitlines()
        assert lines[lines.index("Rights given by admins: 1") + 1] == "  discord:666: admin"
        assert "every 1h: send all photos" in lines[lines.index("Schedules: 1") + 1]
        assert "water the plants" in lines[lines.index("Unfinished tasks that will continue: 1") + 1]
        assert "Rights given by admins: 0" not in lines, "a name makes no line of its own"
        assert "\u202e" not in said


def test_what_was_set_in_the_console_is_named_without_its_secrets(machine: Path, backup: Path, capsys: Said) -> None:
    """It is in a backup only when asked for, and what was there before is put aside."""
    other, data, key = SettingsFile(machine / "other"), SettingsFile(machine / "data"), "sk-canary-77c1d02e5b9f"
    other.write({"vlm_api_key": key, "telegram_admin_user_ids": "666"})
    back_up(machine / "other", machine / "with.zip", frames=False, settings=SETTINGS_NAME)
    (machine / "data").mkdir()
    data.write({"vlm_model": "mine"})
    assert main(["restore", str(backup), "--yes"]) == 0
    assert data.read() == {"vlm_model": "mine"}
    assert main(["restore", str(machine / "with.zip"), "--yes"]) == 0
    said = capsys.readouterr().out
    assert "  TELEGRAM_ADMIN_USER_IDS = 666" in said.splitlines()
    assert "VLM_API_KEY = ••••••" in said
    assert key not in said
    assert data.read()["vlm_api_key"] == key
    assert stat.S_IMODE(data.path.stat().st_mode) == 0o600
    aside = [SettingsFile(path) for path in (machine / "data").glob("before-restore-*")]
    assert {"vlm_model": "mine"} in [each.read() for each in aside]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "code", "language"),
    [("y\n", 0, "en"), ("是\n", 0, "zh"), ("n\n", 64, "en"), ("\n", 64, "en"), ("\x04", 64, "en")],
    ids=["yes", "yes in Chinese", "no", "nothing", "the end"],
)
def test_at_a_terminal_it_asks(machine: Path, backup: Path, typed: str, code: int, language: str) -> None:
    """Seen failing before: it was taken whatever was typed."""
    here, there = pty.openpty()
    environment = os.environ | {"LANGUAGE": language, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(Path(__file__).parents[3])}
    try:
        os.write(here, typed.encode())
        done = subprocess.run(
            [sys.executable, "-m", "bot.cli", "restore", str(backup)],
            stdin=there,
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
            check=False,
        )
    finally:
        os.close(here)
        os.close(there)
    assert done.returncode == code, done.stderr
    assert ("用它替换现有内容吗" if language == "zh" else "Replace what is there with this?") in done.stdout
    assert restored(machine) is (code == 0)
    if code:
        assert "Nothing was restored." in done.stdout


def test_what_people_have_written_is_listed_and_comes_along(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    """Seen failing: a backup had the databases alone, and said nothing of what it lacked."""

    async def began() -> None:
        await (await Store.open(data)).close()
        async with open_checkpoints(data):
            pass

    data = machine / "data"
    data.mkdir(mode=0o700)
    asyncio.run(began())
    for name, text in {
        "data/skills/water/SKILL.md": "---\nname: water\ndescription: Waters the plants.\n---\nOpen Garden.",
        "data/agents/dietician/AGENTS.md": "---\nname: dietician\ndescription: Eats.\n---\nEat.",
        "data/mcp.json": '{"mcpServers": {"shelf": {"command": "shelf-server", "args": ["--all\\u202e"]}}}',
        "papers/house/rules.md": "No shoes.",
        "papers/.hidden.md": "nothing",
    }.items():
        (machine / name).parent.mkdir(parents=True, exist_ok=True)
        (machine / name).write_text(text)
    (machine / "data/mcp.json").chmod(0o600)
    (machine / "data/skills/leads-out").symlink_to("/etc")
    monkeypatch.setenv("KNOWLEDGE_DIR", str(machine / "papers"))
    assert main(["backup", "one.zip"]) == 0
    listed = capsys.readouterr().out.splitlines()
    for line in ("Skills: 1 (water)", "Members: 1 (dietician)", "Documents: 1"):
        assert f"  {line}" in listed
    data.rename(machine / "lost")
    assert main(["restore", "one.zip", "--yes"]) == 0
    told = capsys.readouterr().out
    lines = told.splitlines()
    assert lines[lines.index("MCP servers that are started or connected: 1") + 1] == "  shelf: shelf-server --all"
    assert "set KNOWLEDGE_DIR to it" in told
    assert "water" in load_skills(data / "skills").found
    assert (data / "agents/dietician/AGENTS.md").is_file()
    assert (data / "knowledge/house/rules.md").read_text() == "No shoes."
    assert read_mcp_file(data / "mcp.json") == read_mcp_file(machine / "lost/mcp.json")
