"""`opengui compare-models` as it is typed."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from bot.cli.main import main


def test_no_endpoint_and_no_price_are_usage(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare-models", "--model", "gpt-5"]) == 64
    assert "no endpoint" in capsys.readouterr().err
    assert main(["compare-models", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--max-cost", "1"]) == 64
    assert "PRICES" in capsys.readouterr().err
    assert not (machine / "data").exists()
    with pytest.raises(SystemExit) as ended:
        main(["compare-models", "--max-cost", "nothing"])
    assert ended.value.code == 64


@pytest.mark.slow
async def test_ctrl_c_ends_with_what_was_done_by_then(machine: Path) -> None:
    command = [sys.executable, "-m", "bot.cli", "compare-models", "--json"]
    process = await asyncio.create_subprocess_exec(*command, cwd=machine, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    lines = [json.loads(await process.stdout.readline())]
    process.send_signal(signal.SIGINT)
    lines += [json.loads(line) for line in (await process.communicate())[0].splitlines()]
    assert process.returncode == 130
    kinds = [line["type"] for line in lines]
    assert kinds[-2:] == ["total", "advice"]
    assert lines[-2]["tasks"] == kinds.count("task") < 60


@pytest.mark.slow
@pytest.mark.parametrize(("locale", "heading"), [("C.UTF-8", "false successes"), ("zh_CN.UTF-8", "误报成功")])
def test_the_table_of_a_sample(
    machine: Path, locale: str, heading: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    assert main(["compare-models", "--tasks", "2"]) == 0
    told = capsys.readouterr()
    head, row, advice = told.out.splitlines()
    assert heading in head
    assert row.split()[:4] == ["offline", "tools", "1", "2"]
    assert "--model" in advice
    assert told.err == ""
    assert not (machine / "data").exists()


@pytest.mark.slow
def test_models_that_do_not_answer_are_told(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare-models", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--tasks", "1"]) == 69
    told = capsys.readouterr()
    assert "m, tools, 1 gave no answer" in told.out
    assert "Only the offline pilot" not in told.out
    assert not (machine / "data").exists()
