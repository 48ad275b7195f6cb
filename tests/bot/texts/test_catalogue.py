"""The catalogue and the code agree: every key that is said is there, with its placeholders, and none is left over."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from agent.run import Outcome
from bot.commands.spec import COMMANDS
from bot.domain.task import TaskState
from bot.texts import AGENT, catalogue, counted, say

BOT = Path(__file__).parents[3] / "bot"


@dataclass(frozen=True)
class Said:
    """One call of `say`, `words` or `counted`: a whole key, or the fixed beginning of a computed one."""

    where: str
    key: str
    whole: bool
    names: frozenset[str] | None
    """None when the call passes `**values`."""


def beginning(node: ast.expr) -> tuple[str, bool] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, True
    if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        return str(node.values[0].value), False
    return None


def calls() -> Iterator[Said]:
    for file in sorted(BOT.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            where = f"{file.relative_to(BOT)}:{node.lineno}"
            names = frozenset(word.arg for word in node.keywords if word.arg is not None)
            spread = any(word.arg is None for word in node.keywords)
            if node.func.id == "counted":
                found = beginning(node.args[0])
                assert found is not None, where
                yield Said(where, f"count.{found[0]}.", False, frozenset({"number"}))
            elif node.func.id in {"say", "words"}:
                for key in (
                    [node.args[0].body, node.args[0].orelse] if isinstance(node.args[0], ast.IfExp) else node.args[:1]
                ):
                    found = beginning(key)
                    assert found is not None, f"{where}: a key has to begin with fixed text"
                    yield Said(where, found[0], found[1], None if spread else names)


def placeholders(text: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


PAGE = BOT / "web" / "page"
PAGE_CALLS = re.compile(r"\b(?P<name>say|counted|has)\([\"`](?P<key>[\w.]+)(?P<rest>\$)?")
"""`say("key")`, and the same with a computed end."""
PAGE_KEYS = re.compile(r"\"(page\.[\w.]+)\"")


def page_calls() -> Iterator[Said]:
    """What the page's own scripts say, and what its first file leaves to them."""
    for file in sorted(PAGE.glob("*.js")):
        text = file.read_text(encoding="utf-8")
        for call in PAGE_CALLS.finditer(text):
            key = f"count.{call['key']}." if call["name"] == "counted" else call["key"]
            yield Said(file.name, key, call["rest"] is None and call["name"] != "counted", None)
        for key in PAGE_KEYS.findall(text):
            yield Said(file.name, key, True, None)
    for key in re.findall(r'data-(?:say|label)="([^"]+)"', (PAGE / "index.html").read_text(encoding="utf-8")):
        yield Said("index.html", key, True, None)


@cache
def all_said() -> tuple[Said, ...]:
    return (*calls(), *page_calls())


@pytest.mark.slow
def test_every_key_that_is_said_is_in_the_catalogue_with_its_placeholders() -> None:
    for said in all_said():
        if said.whole:
            assert said.key in catalogue(), f"{said.where} says {said.key}"
            assert said.names in {None, placeholders(catalogue()[said.key])}, f"{said.where} says {said.key}"
        else:
            below = [key for key in catalogue() if key.startswith(said.key)]
            assert below, f"{said.where} says something below {said.key}"
            for key in below:
                assert said.names is None or placeholders(catalogue()[key]) <= said.names, f"{said.where}: {key}"


def test_no_key_is_left_over() -> None:
    whole = {said.key for said in all_said() if said.whole}
    begun = tuple(said.key for said in all_said() if not said.whole and said.key)
    own = [key for key in catalogue() if not key.startswith(AGENT)]
    assert [key for key in own if key not in whole and not key.startswith(begun)] == []


def test_every_sentence_is_a_format_without_positions() -> None:
    for key, text in catalogue().items():
        assert text, key
        assert all(name.isidentifier() for name in placeholders(text)), key


def test_every_state_and_outcome_has_words() -> None:
    assert all(say(f"state.{state}") for state in TaskState)
    assert all(say(f"outcome.{outcome}") for outcome in Outcome)


def test_every_command_has_help_within_the_limits_of_menus() -> None:
    for command in COMMANDS:
        assert 0 < len(command.help) <= 100
        assert command.example.split()[0] == command.name
        for option in (*command.options, *((command.text,) if command.text else ())):
            assert 0 < len(option.help) <= 100


def test_values_are_never_formats() -> None:
    assert "{0} {x}" in say("parse.unknown", word="{0} {x}")


def test_counts() -> None:
    assert (counted("step", 1), counted("step", 2), counted("step", 0)) == ("1 step", "2 steps", "0 steps")


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("no.such.sentence")
