"""What the agent says: every kind that is used is there with its values, none is left over, and others may word it."""

from __future__ import annotations

import ast
import asyncio
import string
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from agent.actions import Action, DoubleTap, LongPress, OpenUrl, PointTarget, PressKey, Scroll, SendFile, Tap, Type
from agent.error_mapping import fault_of
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.executor.nodes.screenshot import PhoneSpent
from agent.guards.gate import answering, of_rule
from agent.models.errors import ModelUnreachable
from agent.ports.journal import LeaseLost
from agent.ports.leases import NoPhone, PhoneLeft
from agent.ports.stores import FileLost
from agent.run import Outcome
from agent.wording import SENTENCES, sentence, words
from devices.errors import PhoneGone, PhoneUnavailable
from devices.inputs import Key
from devices.wording import worded

AGENT = Path(__file__).parents[2] / "agent"


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def said() -> dict[str, set[str]]:
    """Kinds (or their fixed beginnings, with a star at the end) and the names of their values."""
    found: dict[str, set[str]] = {}
    for file in AGENT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
            called = isinstance(node.func, ast.Name) and node.func.id in {"sentence", "words"}
            if called and isinstance(node.args[0], ast.IfExp):
                for each in (node.args[0].body, node.args[0].orelse):
                    assert isinstance(each, ast.Constant)
                    found[str(each.value)] = {word.arg for word in node.keywords if word.arg}
                continue
            kind = node.args[0]
            spoken = isinstance(kind, ast.Constant) and kind.value in SENTENCES
            if name not in {"sentence", "words", "PhoneSpent", "FolderRefused", "NotSavable", "NotChanged"} and not (
                name == "super().__init__" and spoken
            ):
                continue
            if isinstance(kind, ast.Constant) and isinstance(kind.value, str) and "." in kind.value[:-1]:
                found[kind.value] = {word.arg for word in node.keywords if word.arg}
            elif isinstance(kind, ast.JoinedStr) and isinstance(kind.values[0], ast.Constant):
                found[str(kind.values[0].value) + "*"] = set()
    return found


@pytest.mark.slow
def test_every_kind_is_there_with_its_values_and_none_is_left_over() -> None:
    kinds = said()
    whole = {kind: values for kind, values in kinds.items() if not kind.endswith("*")}
    begun = tuple(kind.removesuffix("*") for kind in kinds if kind.endswith("*"))
    assert {kind: placeholders(SENTENCES[kind]) for kind in whole} == whole
    assert [kind for kind in SENTENCES if kind not in whole and not kind.startswith(begun)] == []


@pytest.mark.parametrize(
    ("error", "outcome", "words"),
    [
        (
            NoPhone("No phone is connected."),
            Outcome.BLOCKED,
            "No phone is connected. The task was not started on a phone.",
        ),
        (PhoneLeft("Pixel is not connected."), Outcome.BLOCKED, "Pixel is not connected. The task stopped there"),
        (LeaseLost("r"), Outcome.BLOCKED, "Another run is using the phone now. The task stopped there"),
        (PhoneGone("the cable"), Outcome.BLOCKED, "The phone was lost: the cable The last action may or may not"),
        (PhoneUnavailable("Allow it."), Outcome.BLOCKED, "Allow it. The task stopped there"),
        (
            ModelUnreachable("429"),
            Outcome.BLOCKED,
            "429 The task stopped there; nothing is repeated automatically. Check that the endpoint",
        ),
        (OSError(28, "No space left"), Outcome.FAILED, "could not be used: No space left."),
        (ValueError("/etc/secret"), Outcome.FAILED, "went wrong (ValueError)."),
        (FileLost("a.txt"), Outcome.BLOCKED, "The file a.txt that came with the task is no longer stored."),
    ],
)
def test_a_fault_has_its_words(error: Exception, outcome: Outcome, words: str) -> None:
    fault = fault_of(error)
    assert fault.outcome is outcome
    assert words in fault.sentence
    assert "secret" not in fault.sentence


async def test_others_may_word_it_and_the_log_stays_english() -> None:
    spent = PhoneSpent("condition.empty", phone="Pixel", percent=3)
    with worded(lambda kind, values: f"{kind} {dict(values)}"):
        assert (
            await asyncio.create_task(asyncio.to_thread(sentence, "ended.cancelled_first"))
            == "ended.cancelled_first {}"
        )
        assert "condition.empty {'phone': 'Pixel', 'percent': 3}" in fault_of(spent).happened
    assert str(spent).startswith("The battery of Pixel is at 3 %")
    assert sentence("ended.cancelled_first") == "Nothing was done yet."


def test_values_are_never_formats() -> None:
    assert sentence("ask.may", what="{0} {x}") == "May I {0} {x}?"


def test_the_shipped_reasons_are_worded_and_an_operators_own_stay() -> None:
    policy = tomllib.loads(files("agent.guards").joinpath("policy.toml").read_text(encoding="utf-8"))
    shipped = {name: rule["reason"] for name, rule in policy["approve"].items()}
    with worded(lambda kind, _: kind):
        assert {getattr(of_rule(name, reason), "kind", "") for name, reason in shipped.items()} == {
            f"reason.{name}" for name in ("pay", "send", "delete", "install", "permission", "account")
        }
        assert of_rule("pay", "feeds the cat") == "feeds the cat"
    assert answering("deletes something") == "answers a question on the screen, and so deletes something"
    assert words("reason.sensitive", why="money") == "is sensitive, according to the model: money"


@pytest.mark.parametrize(
    "action",
    [
        Tap(target=PointTarget(x=1, y=2)),
        DoubleTap(target=PointTarget(x=1, y=2)),
        LongPress(target=PointTarget(x=1, y=2)),
        Type(text="hello"),
        Type(text="hello", submit=True),
        Type(text="hello", target=PointTarget(x=1, y=2)),
        Type(text="hello", target=PointTarget(x=1, y=2), submit=True),
        PressKey(key=Key.ENTER),
        OpenUrl(url="https://example.org"),
        SendFile(path="/sdcard/a.txt"),
        Scroll(direction="down"),
    ],
)
def test_what_is_asked_reads_as_what_is_told_to_the_model(action: Action) -> None:
    assert BUILT_IN.spec_of(action).asks(action, None) == BUILT_IN.describe(action, None)
