"""What is typed wrongly, what is set wrongly, and commands that need no phone."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.main import main
from bot.store.directory import DataDirectory
from bot.store.sqlite.database import DATABASE_NAME
from tests.fixtures.adb import AdbServer

MAIN_NODES = {"intent_analyzer", "plan_generator", "plan_supervisor", "executor", "member", "summarizer"}
MEMBER_NODES = {"member_model", "member_tools", "member_question"}
EXECUTOR_NODES = {
    *("executor_entry", "screenshot", "vision_model", "action_summary", "parse_action", "execute_action"),
    *("call_user", "check_loop", "executor_exit", "sum_up_past"),
}

Said = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ([], "COMMAND"),
        (["dance"], "dance"),
        (["do"], "TASK"),
        (["do", "x", "--devise", "y"], "--devise"),
        (["do", "x", "--answer"], "--answer"),
        (["do", "open", "settings"], "settings"),
        (["tasks", "--limit", "none"], "a number of at least 1"),
        (["tasks", "--limit", "-3"], "a number of at least 1"),
    ],
)
def test_wrong_words_are_usage(words: list[str], about: str, capsys: Said) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 64
    told = capsys.readouterr()
    assert told.out == ""
    assert about in told.err
    assert "usage:" in told.err


@pytest.mark.parametrize("task", ["", "   ", "\n\t"])
def test_an_empty_task_is_usage(task: str, machine: Path, capsys: Said) -> None:
    assert main(["do", "--json", task]) == 64
    told = capsys.readouterr()
    assert told.out == ""
    assert "What should the phone do? For example: opengui do" in told.err
    assert not (machine / "data").exists()


@pytest.mark.parametrize("command", [["run"], ["do", "x"], ["tasks"], ["devices"], ["doctor"]])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DISCORD_ALLOWED_USER_IDS", "12345,alice"),
        ("TELEGRAM_ALLOWED_CHAT_IDS", "-100;200"),
        ("ADB_SERVERS", "localhost"),
    ],
)
def test_a_list_that_does_not_parse_names_its_setting(
    command: list[str], name: str, value: str, machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.setenv(name, value)
    assert main(command) == 64
    told = capsys.readouterr().err
    assert name in told
    assert value not in told
    assert "Traceback" not in told
    assert not (machine / "data").exists()


@pytest.mark.parametrize("command", [["run"], ["do", "x"]])
def test_a_dialect_that_does_not_exist_stops_the_start(
    command: list[str], machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    """Seen failing as a traceback, after the database had been made."""
    monkeypatch.setenv("VLM_DIALECT", "klingon")
    assert main(command) == 64
    told = capsys.readouterr().err
    assert "VLM_DIALECT" in told
    assert "ui-tars" in told
    assert not (machine / "data").exists()


def test_a_file_of_settings_is_read_and_the_environment_wins(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    (machine / ".env").write_text("MAX_STEPS=many\nLOG_LEVEL=shout\n")
    monkeypatch.setenv("LOG_LEVEL", "info")
    assert main(["tasks"]) == 64
    told = capsys.readouterr().err
    assert "MAX_STEPS" in told
    assert "LOG_LEVEL" not in told


def test_the_graphs_with_their_nodes(capsys: Said) -> None:
    assert main(["graph"]) == 0
    _, first, member, second = re.split(r"^%% \w+ graph$", capsys.readouterr().out, flags=re.MULTILINE)
    for text, nodes in ((first, MAIN_NODES), (member, MEMBER_NODES), (second, EXECUTOR_NODES)):
        assert "graph TD;" in text
        assert set(re.findall(r"^\s(\w+)\(\w+\)$", text, re.MULTILINE)) == nodes
    assert re.search(r"intent_analyzer -.*-> __end__", first)
    assert re.search(r"plan_supervisor -.*-> plan_supervisor", first)
    assert re.search(r"parse_action -.*-> executor_exit", second)
    assert re.search(r"call_user -.*-> execute_action", second)


def test_no_tasks_yet(capsys: Said) -> None:
    assert main(["tasks"]) == 0
    assert capsys.readouterr().out == "No tasks yet.\n"
    assert main(["tasks", "--json"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", [["run"], ["do", "x"], ["tasks"], ["devices"]])
def test_a_directory_that_somebody_else_uses(command: list[str], machine: Path, capsys: Said) -> None:
    """Seen failing for `devices`: it started virtual phones a second time, on the files of those that ran."""
    with DataDirectory(machine / "data"):
        assert main(command) == 69
    told = capsys.readouterr().err
    assert "is in use by another process (pid" in told
    assert "just starting" in told


@pytest.mark.parametrize("command", [["run"], ["do", "x"], ["tasks"]])
def test_a_damaged_database_is_left_as_it_is(command: list[str], machine: Path, capsys: Said) -> None:
    (machine / "data").mkdir(mode=0o700)
    path = machine / "data" / DATABASE_NAME
    path.write_bytes(b"not a database, but somebody's work " * 100)
    before = path.read_bytes()
    assert main(command) == 69
    told = capsys.readouterr().err
    assert f"{path} is damaged" in told
    assert "move it away" in told
    assert "Traceback" not in told
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", [["run"], ["do", "x"], ["tasks"], ["usage"]])
def test_data_of_before_the_first_release_is_refused_in_one_sentence(
    command: list[str], machine: Path, capsys: Said
) -> None:
    (machine / "data").mkdir(mode=0o700)
    path = machine / "data" / DATABASE_NAME
    with closing(sqlite3.connect(path)) as made:
        made.executescript("PRAGMA user_version = 59; CREATE TABLE tasks (id INTEGER PRIMARY KEY);")
    before = path.read_bytes()
    assert main(command) == 69
    told = capsys.readouterr().err
    assert f"The database {path} was made by a version before 0.1.0 or by another program" in told
    assert "later version" not in told
    assert "Traceback" not in told
    assert path.read_bytes() == before


def test_a_directory_that_is_a_file(machine: Path, capsys: Said) -> None:
    (machine / "data").write_text("mine")
    assert main(["tasks"]) == 69
    assert "cannot be used" in capsys.readouterr().err
    assert (machine / "data").read_text() == "mine"


def test_without_a_phone_it_is_blocked(adb_server: AdbServer, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    """It is kept as a task that ended: who asked may give it again."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(adb_server.port))
    monkeypatch.setenv("ANDROID_SERIALS", "not-there")
    assert main(["do", "--json", "open settings"]) == 3
    told = capsys.readouterr()
    task, final = (json.loads(line) for line in told.out.splitlines())
    assert task["type"] == "task"
    assert (final["type"], final["outcome"], final["steps"]) == ("final", "blocked", 0)
    assert "No phone is connected" in final["summary"]
    assert main(["tasks", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "blocked"
