"""Lists of instructions on shuffled layouts: what the phone really did is compared with what it should have done.

Here each instruction runs on one of the layouts; with PILOT_SEEDS=all in the environment on every one.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent.run import NeedsModel, Outcome
from devices.virtual_phone.ground_truth import GroundTruth
from tests.agent.offline.conftest import SEEDS
from tests.agent.offline.phones import Phones, piloted

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = Path(__file__).parent
LASTING = (
    "deleted_notes", "toggles", "cart", "orders", "signed_in", "wrong_codes", "searches", "urls", "alarms", "dialogs",
    "dialog_answers",
)  # fmt: skip


def _listed(name: str) -> list[Any]:
    """Each instruction with the layouts that it runs on."""
    rows = tomllib.loads((HERE / name).read_text(encoding="utf-8"))
    cases = rows.get("instruction") or [{"text": text} for text in rows["instructions"]]
    cases += rows.get("near", ())
    every = os.environ.get("PILOT_SEEDS") == "all"
    return [
        pytest.param(case, seed, id=f"{number}-{case['text'][:40]}-{seed}")
        for number, case in enumerate(cases)
        for seed in (SEEDS if every else [SEEDS[number % len(SEEDS)]])
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("case", "seed"), [*_listed("held_out.toml"), *_listed("development.toml")])
async def test_an_instruction_is_followed(phones: Phones, case: dict[str, Any], seed: int) -> None:
    rig = phones.fresh(seed)
    before = rig.phone.truth
    result = await piloted(rig, case["text"], *case.get("answers", ()))
    assert result.end.outcome is Outcome.SUCCEEDED, result.story
    assert lasting(rig.phone.truth) == expected(before, rig.phone.truth, case["expect"]), result.story
    for name in ("app", "page"):
        if name in case["expect"]:
            assert getattr(rig.phone.truth, name) == case["expect"][name], result.story
    for words in case.get("data", ()):
        assert words in (result.end.data or ""), result.story
    assert len(result.asked) == len(case.get("answers", ()))


@pytest.mark.parametrize(("case", "seed"), _listed("declined.toml"))
@pytest.mark.parametrize("quick", [False, True])
async def test_what_it_cannot_do_is_declined(phones: Phones, case: dict[str, Any], seed: int, quick: bool) -> None:
    """Seen failing with `likeness` replaced by difflib's ratio, and with the unknown verbs taken out of the heads."""
    rig = phones.fresh(seed)
    before = lasting(rig.phone.truth)
    result = await piloted(rig, case["text"], *case.get("answers", ()), quick=quick)
    assert result.end.outcome in {Outcome.BLOCKED, Outcome.FAILED}, result.story
    assert (result.end.needs_model is not None) is (result.end.outcome is Outcome.BLOCKED)
    if near := case.get("near"):
        assert result.end.needs_model == NeedsModel(choices=tuple(near))
    assert not result.asked
    assert "VLM_API_KEY" in result.end.summary
    assert lasting(rig.phone.truth) == before, result.story


def lasting(truth: GroundTruth) -> dict[str, Any]:
    """What stays when the screen is another: everything that a task can spoil."""
    return {name: getattr(truth, name) for name in (*LASTING, "notes", "messages", "chats")}


def expected(before: GroundTruth, after: GroundTruth, changes: dict[str, Any]) -> dict[str, Any]:
    """What should be there: as before, but for the changes."""
    wanted = lasting(before)
    for name, value in changes.items():
        if name == "toggles":
            wanted["toggles"] = before.toggles | value
        elif name == "notes":
            made = [(note.title, note.body) for note in after.notes[len(before.notes) :]]
            assert made == [tuple(note) for note in value]
            wanted["notes"] = after.notes
        elif name == "messages":
            sent = [(each.to, each.text) for each in after.messages if each not in before.messages]
            assert sent == [tuple(each) for each in value]
            assert len(after.messages) == len(before.messages) + len(value)
            wanted["messages"] = after.messages
        elif isinstance(value, int):
            assert len(getattr(after, name)) == value
            wanted[name] = getattr(after, name)
        elif name in LASTING:
            wanted[name] = tuple(value) if isinstance(value, list) else value
    return wanted
