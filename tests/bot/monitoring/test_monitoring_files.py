"""The alert rules and the board that the documents give away ask for what /metrics says, in Prometheus' own words."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.monitoring.dependencies import Dependencies
from bot.monitoring.heartbeat import Pulse, ServiceManager
from bot.monitoring.metrics import Metrics
from devices.pool import AdbPhones
from tests.fixtures.databases import open_store

ROOT = Path(__file__).parents[3]
FILES = ROOT / "docs" / "monitoring"


def promtool() -> str:
    """Prometheus' own tool, which reads its rules; CI has it (`.ci/run`)."""
    found = shutil.which("promtool")
    if found is None:
        assert "CI" not in os.environ, "CI must have promtool"
        pytest.skip("needs promtool (apt install prometheus)")
    return found


class TaskService:
    def seconds_since_round(self) -> float:
        return 0.0


async def no_status() -> str:
    return ""


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((FILES / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def queries_of_the_board() -> Iterator[str]:
    for panel in json.loads((FILES / "dashboard.json").read_text(encoding="utf-8"))["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.mark.slow
def test_the_rules_fire_when_they_should_and_only_then() -> None:
    """Each of them, on made-up series: once where all is well, once where nothing is."""
    for arguments in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        told = subprocess.run(
            [promtool(), *arguments], cwd=FILES, capture_output=True, text=True, timeout=60, check=False
        )
        assert told.returncode == 0, told.stdout + told.stderr


@pytest.mark.slow
def test_prometheus_understands_every_query_of_the_board(tmp_path: Path) -> None:
    made = [{"record": f"board:{number}", "expr": query} for number, query in enumerate(queries_of_the_board())]
    (tmp_path / "board.yml").write_text(json.dumps({"groups": [{"name": "board", "rules": made}]}), encoding="utf-8")
    told = subprocess.run(
        [promtool(), "check", "rules", tmp_path / "board.yml"], capture_output=True, text=True, timeout=60, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr


async def test_they_ask_for_numbers_that_there_are(tmp_path: Path) -> None:
    store = await open_store(tmp_path)
    pulse = Pulse(lambda: 0.0, ServiceManager(), no_status)
    metrics = Metrics(store.figures, AdbPhones(), pulse, lambda: 0.0, Dependencies({}), lambda: None)
    told = (await metrics.text()).decode()
    await store.close()
    known = set(re.findall(r"^# TYPE (\S+)", told, re.MULTILINE)) | {"up"}
    asked = " ".join([*(rule["expr"] for rule in rules()), *queries_of_the_board()])
    names = {re.sub("_(bucket|sum|count)$", "", name) for name in re.findall(r"\b(?:opengui|process)_\w+", asked)}
    assert names
    assert names <= known


def test_the_documents_say_what_each_alert_means() -> None:
    told = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(Opengui\w+)`", told, re.MULTILINE) == [rule["alert"] for rule in rules()]
