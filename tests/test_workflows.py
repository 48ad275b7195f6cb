"""The workflows for those who fork the project call what is here, and trust nothing that can change under them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps_of(workflow: Path) -> list[dict[str, Any]]:
    """The steps of all jobs."""
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_make_target_is_there(workflow: Path) -> None:
    targets = set(
        re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0].split()
    )
    called = {name for step in steps_of(workflow) for name in re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))}
    assert called
    assert called <= targets


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_of_others_are_pinned_by_their_commit(workflow: Path) -> None:
    used = [step["uses"] for step in steps_of(workflow) if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_no_job_has_rights_or_time_without_end(workflow: Path) -> None:
    told = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert told["permissions"] == {"contents": "read"}
    for name, job in told["jobs"].items():
        assert job["timeout-minutes"] <= 60, name
    for step in steps_of(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_they_call_the_commands_that_ci_run_calls() -> None:
    ours = re.findall(r"^(make .*?)(?: \|\| .*)?$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert ours
    theirs = {step.get("run") for step in steps_of(ROOT / ".github" / "workflows" / "ci.yml")}
    assert set(ours) <= theirs
