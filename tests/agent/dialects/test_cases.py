"""Every case of the table `cases.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent.actions import action_from
from agent.dialects.base import BadReply
from agent.dialects.select import NAMES, dialect_for
from agent.models.base import ModelReply, ToolCall
from devices.geometry import Size

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["says"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    dialect = dialect_for(case["dialect"], "")
    calls = tuple(ToolCall(f"c{n}", name, raw) for n, (name, raw) in enumerate(case.get("calls", ())))
    reply = ModelReply(case.get("reply", ""), calls)
    space = Size(*case.get("size", (1000, 2000)))

    if "refused" in case:
        with pytest.raises(BadReply) as refusal:
            dialect.parse(reply, space)
        assert case["refused"] in str(refusal.value)
        return

    decision = dialect.parse(reply, space)
    assert decision.actions == tuple(action_from(action) for action in case["actions"])
    for part in ("thought", "summary"):
        if part in case:
            assert getattr(decision, part) == case[part]


def test_every_dialect_has_cases_of_both_kinds() -> None:
    for kind in ("actions", "refused"):
        assert {case["dialect"] for case in CASES if kind in case} == set(NAMES) - {"auto"}
