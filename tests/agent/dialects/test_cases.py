"""Every case of the tables `cases.toml`, `misread.toml`, `several.toml` and `recorded.toml`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent.dialects.base import BadReply, Decision
from agent.dialects.select import NAMES, dialect_for
from agent.graph.executor.built_in import BUILT_IN
from agent.models.base import ModelReply, ToolCall
from devices.geometry import Size


def table(name: str) -> list[dict[str, Any]]:
    """The cases in a file beside this one."""
    cases: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))["case"]
    return cases


CASES = table("cases.toml")
MISREAD = table("misread.toml")
SEVERAL = table("several.toml")
RECORDED = table("recorded.toml")
LONG = "N" * 5000
ECHOES = [
    *(("tools", {"calls": [[name, arguments]]}) for name, arguments in (
        (LONG, "{}"), ("tap", json.dumps({LONG: 1, "element": 1})),
    )),
    *(("mobile-use", {"calls": [["mobile_use", json.dumps({"action": name, argument: LONG})]]}) for name, argument in (
        (LONG, "text"), ("key", "text"), ("terminate", "status"),
    )),
    *(("ui-tars", {"reply": f"Action: {call}"}) for call in (
        f"{LONG}()", f"press_back({LONG}=1)", f"hotkey(key='{LONG}')", f"click({LONG}=1, {LONG}=1)", f"{LONG}(a b)",
        f"finished(status='{LONG}')", f"press_back({', '.join(f'n{n}=1' for n in range(500))})",
        f"scroll(direction='{LONG}')",
    )),
    *(("autoglm", {"reply": f"do({call})"}) for call in (f'action="{LONG}"', f'action="Back", {LONG}=1')),
]  # fmt: skip


@pytest.mark.parametrize("case", MISREAD, ids=[case["says"] for case in MISREAD])
def test_case_that_was_misread(case: dict[str, Any]) -> None:
    """Seen failing before: what a thought quotes and what follows an imagined turn was done, an end without a status
    that could be read was a success, half a sign was raised out of the agent, and the forms below were refused or
    read as something else.
    """
    test_case(case)


@pytest.mark.parametrize(("dialect", "case"), ECHOES, ids=lambda value: str(value)[:30])
def test_a_reason_says_no_more_of_the_answer_than_it_needs(dialect: str, case: dict[str, Any]) -> None:
    """Seen failing before: a name of 5000 letters came back whole, to the model and to the task's summary."""
    with pytest.raises(BadReply) as refusal:
        read(dialect, case)
    assert len(str(refusal.value)) < 600


@pytest.mark.parametrize("case", SEVERAL, ids=[case["says"] for case in SEVERAL])
def test_several_calls_and_turns(case: dict[str, Any]) -> None:
    """Seen failing with both calls done around "user" on a line of its own, and with an ending that was refused or
    believed in another way than the makers of the dialect read it.
    """
    assert case["source"]
    test_case(case)


@pytest.mark.parametrize("case", RECORDED, ids=[case["says"] for case in RECORDED])
def test_answers_that_models_have_given(case: dict[str, Any]) -> None:
    assert case["source"]
    test_case(case)


@pytest.mark.parametrize("case", CASES, ids=[case["says"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    if "refused" in case:
        with pytest.raises(BadReply) as refusal:
            read(case["dialect"], case)
        assert case["refused"] in str(refusal.value)
        return

    decision = read(case["dialect"], case)
    assert decision.actions == tuple(BUILT_IN.action_from(action) for action in case["actions"])
    for part in ("thought", "summary"):
        if part in case:
            assert getattr(decision, part) == case[part]
    assert len(decision.told) == ("told" in case)
    assert case.get("told", "") in "".join(decision.told)


def read(dialect: str, case: dict[str, Any]) -> Decision:
    """What a dialect makes of the reply of a case. Raises BadReply."""
    calls = tuple(ToolCall(f"c{n}", name, raw) for n, (name, raw) in enumerate(case.get("calls", ())))
    if case.get("each"):
        alone = [read(dialect, {**case, "calls": [(call.name, call.arguments)], "each": False}) for call in calls]
        return Decision(tuple(action for one in alone for action in one.actions))
    size = Size(*case.get("size", (1000, 2000)))
    return dialect_for(dialect, "").parse(ModelReply(case.get("reply", ""), calls), size)


def test_every_dialect_has_cases_of_both_kinds() -> None:
    for kind in ("actions", "refused"):
        assert {case["dialect"] for case in (*CASES, *RECORDED) if kind in case} == set(NAMES) - {"auto"}
