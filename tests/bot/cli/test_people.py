"""pair, usage and schedules on the command line: beside a running service, and without one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.cli.main import main
from bot.domain.address import Person
from bot.domain.schedule import Plan, Rule, RuleKind
from bot.domain.task_request import Origin, TaskDraft, TaskRequest
from bot.people.access import Policy
from bot.people.pairing import Pairing
from bot.people.rights import Rights
from bot.store.directory import DataDirectory
from bot.store.store import Store
from bot.web.people import PeopleChanges
from tests.bot.web.world import open_world
from tests.bot.world import ANNA, CHANNEL

Said = pytest.CaptureFixture[str]
EVE = Person("discord", "7", "Eve")


async def _filled(directory: Path) -> None:
    """One task and one schedule."""
    store = await Store.open(directory)
    try:
        wish = TaskRequest("water the plants", ANNA, Origin(CHANNEL.address, "1"))
        await store.write(lambda transaction: store.tasks.add(transaction, wish, now=1e9))
        rule = Rule(RuleKind.EVERY, "3600", "UTC")
        plan = Plan(ANNA, CHANNEL, "2", rule, "every 1h", TaskDraft("water the plants"))
        await store.schedules.add(plan, now=1e9, due=4e9)
    finally:
        await store.close()


def test_what_is_kept_is_read_without_a_service(machine: Path, capsys: Said) -> None:
    assert main(["schedules"]) == 0
    assert main(["usage"]) == 0
    assert capsys.readouterr().out == "Nothing is scheduled.\nNo tasks in that period.\n"
    with DataDirectory(machine / "data"):
        asyncio.run(_filled(machine / "data"))
    assert main(["schedules"]) == 0
    assert "2096-10-02 07:06 (UTC)" in (told := capsys.readouterr().out)
    assert "every 1h" in told
    assert "Anna: water the plants" in told
    assert main(["schedules", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rule"] == "every 1h"
    assert main(["usage", "--by", "person", "--days", "366"]) == 0
    assert "No tasks" in capsys.readouterr().out, "a task of 2001 is older than that"


def test_nobody_waits_where_no_service_runs(machine: Path, capsys: Said) -> None:
    assert main(["pair"]) == 69
    assert "No service is running" in capsys.readouterr().err
    assert not (machine / "data").exists()


@pytest.mark.slow
async def test_a_running_service_is_asked(machine: Path, capsys: Said) -> None:
    directory = machine / "data"
    directory.mkdir()
    pairing = Pairing()
    code = pairing.code_for(EVE)
    store: Any = None
    rights = Rights(Policy(), store, pairing)
    services: Any = SimpleNamespace(rights=rights, policy=Policy(), store=store)
    async with open_world(directory, beside=PeopleChanges(services).routes()):
        assert await asyncio.to_thread(main, ["pair"]) == 0
        assert f"{EVE.platform}:{EVE.id}" in capsys.readouterr().out
        pairing.approve(code, ANNA)
        assert await asyncio.to_thread(main, ["pair", code]) == 64, "it is nobody's any more"
        assert capsys.readouterr().out == ""
        assert await asyncio.to_thread(main, ["schedules"]) == 0
        assert await asyncio.to_thread(main, ["usage", "--json"]) == 0
        assert "Nothing is scheduled." in capsys.readouterr().out
