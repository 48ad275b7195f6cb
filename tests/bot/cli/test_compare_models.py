"""`opengui compare-models` as it is typed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.cli.main import main
from bot.model_comparison.tasks import suite
from tests.end_to_end.brain import FINISH, call, on, tap
from tests.fakes.model_server import Answer, ModelServer, Recorded


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
def test_the_table_of_a_sample_in_chinese(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert main(["compare-models", "--tasks", "2"]) == 0
    told = capsys.readouterr()
    head, row, advice = told.out.splitlines()
    assert "误报成功" in head
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


def clever_and_lazy() -> Callable[[Recorded], Answer]:
    """Two models at one endpoint: one does what it is told in the first task and in the middle one, one says so."""
    tasks = suite(1)
    switch, note = tasks[0], tasks[len(tasks) // 2]
    more, body = note.text.split('"')[1], "Milk, bread, coffee"
    writing = on(body, "type", text=f"{body}, {more}", clear=True)
    editing = (call("open_app", name="Notes"), tap("Groceries"), writing, tap("Save"))
    switching = (call("open_app", name="Settings"), tap(switch.need.pressed[0]))
    ways = {switch.text: switching, note.text: editing}
    left: list[Callable[[Recorded], Answer]] = []

    def answer(request: Recorded) -> Answer:
        if "Decide how to handle" in request.text:
            return Answer(text=json.dumps({"kind": "simple", "need_plan": False, "answer": ""}))
        if "You check whether a task" in request.text:
            return Answer(text=json.dumps({"proven": True}))
        if "You write captions" in request.text:
            return Answer(text="Working")
        if "Step 1 of at most" in request.text:
            way = next(way for text, way in ways.items() if text in request.text)
            left[:] = [*(way if request.model == "clever" else ()), FINISH, FINISH]  # again when it is not believed
        return left.pop(0)(request)

    return answer


@pytest.mark.slow
async def test_it_says_which_settings_to_use(machine: Path) -> None:
    prices = json.dumps({name: {"input": 1, "output": 4} for name in ("clever", "lazy")})
    async with ModelServer(clever_and_lazy()) as server:
        options = ["--base-url", server.base_url, "--model", "lazy", "--model", "clever", "--tasks", "2"]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot.cli", "compare-models", *options, "--max-cost", "1"),
            cwd=machine,
            env={**os.environ, "PRICES": prices, "GUARD": "rules"},
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await process.communicate()
    assert process.returncode == 0
    head, pilot, lazy, clever, advice = told.decode().splitlines()
    assert head.split()[:5] == ["model", "dialect", "pictures", "tasks", "right"]
    assert [row.split()[:6] for row in (pilot, lazy, clever)] == [
        ["offline", "tools", "1", "2", "1", "0"],
        ["lazy", "tools", "1", "2", "0", "1"],  # a note of which nothing was written is not believed
        ["clever", "tools", "1", "2", "2", "0"],
    ]
    assert 0 < float(clever.split()[-1]) < 1
    assert advice == "Use: VLM_MODEL=clever VLM_DIALECT=tools VLM_IMAGE_WINDOW=1 (2 of 2 tasks right)"
