"""What is said of phones: every kind that is used is there with its values, and only people read it otherwise."""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Iterator
from pathlib import Path

from devices.adb import identity
from devices.adb.links import health_of
from devices.adb.state import State
from devices.wording import SENTENCES, Words, said, worded, words

DEVICES = Path(__file__).parents[2] / "devices"


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def used() -> Iterator[tuple[str, set[str]]]:
    for file in DEVICES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "words":
                kind = node.args[0]
                assert isinstance(kind, ast.Constant), f"{file.name}:{node.lineno}: a kind is written out"
                yield str(kind.value), {word.arg for word in node.keywords if word.arg}


def test_every_kind_is_there_with_its_values_and_none_is_left_over() -> None:
    kinds = list(used())
    assert [kind for kind, values in kinds if placeholders(SENTENCES[kind]) != values] == []
    assert SENTENCES.keys() == {kind for kind, _ in kinds}


def test_only_what_is_said_to_people_is_worded() -> None:
    low = words("phone.battery.reason", percent=9)
    with worded(lambda kind, values: f"{kind} {dict(values)}"):
        assert said(low) == "phone.battery.reason {'percent': 9}"
        assert said("written by a phone") == "written by a phone"
        assert (f"{low}", json.dumps(low)) == ("The battery is at 9 %.", '"The battery is at 9 %."')
    assert said(low) == "The battery is at 9 %."


def test_a_sentence_inside_a_sentence_is_worded_with_it() -> None:
    whole = Words("{name}: {why}", "whole", {"name": "{odd}", "why": words("phone.away.reason")})
    assert whole == "{odd}: The phone is not attached."
    with worded(lambda kind, values: f"<{kind} {' '.join(map(str, values.values()))}>"):
        assert said(whole) == "<whole {odd} <phone.away.reason >>"


def test_every_state_of_a_phone_is_worded() -> None:
    links = ("", "no permissions (x)", "unauthorized", "recovery", "offline")
    screens = (State(screen_on=False), State(locked=True), State(battery=9))
    states = [
        *(health_of(link, way) for link in links for way in ("R58", "10.0.0.5:5555", "emulator-5554")),
        *map(identity.health_of, screens),
    ]
    with worded(lambda kind, _: kind):
        for _, reason, fix in states:
            assert said(reason) != reason
            assert said(fix) != fix
