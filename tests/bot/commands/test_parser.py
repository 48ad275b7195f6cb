"""Typed lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands.parser import ParseError, parse
from bot.commands.spec import COMMANDS
from bot.domain.incoming import CommandCall


@pytest.mark.parametrize(
    ("line", "name", "options", "rest"),
    [
        ("", "help", {}, ""),
        ("  \n", "help", {}, ""),
        ("HELP", "help", {}, ""),
        ("help do", "help", {"command": "do"}, ""),
        ("do open settings", "do", {}, "open settings"),
        ("do\nopen settings\nand then stop", "do", {}, "open settings\nand then stop"),
        ("do --device pixel --quick open settings", "do", {"device": "pixel", "quick": "true"}, "open settings"),
        ('do --device "Pixel 6" open x', "do", {"device": "Pixel 6"}, "open x"),
        ("do --device 'Pixel 6' open x", "do", {"device": "Pixel 6"}, "open x"),
        ("do --device=pixel open x", "do", {"device": "pixel"}, "open x"),
        ('do --device="Pixel 6" open x', "do", {"device": "Pixel 6"}, "open x"),
        ("do --DEVICE pixel open x", "do", {"device": "pixel"}, "open x"),
        ("do —quick open x", "do", {"quick": "true"}, "open x"),
        ("do –device pixel open x", "do", {"device": "pixel"}, "open x"),
        ("do -- --quick is a word here", "do", {}, "--quick is a word here"),
        ("do --quick -- --device too", "do", {"quick": "true"}, "--device too"),
        ("do -5 degrees", "do", {}, "-5 degrees"),
        ("do type --quick", "do", {}, "type --quick"),
        ("do say \"it's", "do", {}, "say \"it's"),
        ('do "open settings"', "do", {}, '"open settings"'),
        ("do 打开浏览器 🚀", "do", {}, "打开浏览器 🚀"),
        ("do", "do", {}, ""),
        ("do --quick", "do", {"quick": "true"}, ""),
        ("cancel 12", "cancel", {"task": "12"}, ""),
        ("cancel that order", "cancel", {"task": "that order"}, ""),
        ("cancel --task 12", "cancel", {"task": "12"}, ""),
        ("screen Pixel 6", "screen", {"device": "Pixel 6"}, ""),
        ("resume 2 more times", "resume", {}, "2 more times"),
        ("answer yes, that one", "answer", {}, "yes, that one"),
    ],
)
def test_lines(line: str, name: str, options: dict[str, str], rest: str) -> None:
    assert parse(line) == CommandCall(name, options, rest)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("dop open settings", 'Did you mean "do"'),
        ("cancle", 'Did you mean "cancel"'),
        ("xyzzy", '"help"'),
        ("do --fast open x", "--device, --quick"),
        ("do --device", "needs a value"),
        ("do --device --quick open x", "needs a value"),
        ("do --device= open x", "needs a value"),
        ("do --quick=yes open x", "does not take a value"),
        ("do --quick --quick open x", "twice"),
        ("devices --all", "has no option"),
        ("do --=x open", "has no option"),
    ],
)
def test_lines_that_are_no_commands(line: str, part: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(line)
    assert part in str(caught.value)


@given(st.text(min_size=1, max_size=200).map(str.strip).filter(bool))
def test_a_task_behind_two_dashes_is_never_touched(task: str) -> None:
    assert parse(f"do -- {task}").rest == task


@given(st.text(max_size=200))
def test_any_line_is_a_command_or_a_sentence(line: str) -> None:
    try:
        call = parse(line)
    except ParseError as error:
        assert str(error)  # noqa: PT017 - either of the two is right
    else:
        assert call.name in {command.name for command in COMMANDS}


@given(
    st.text(alphabet=st.characters(exclude_characters="\"'", exclude_categories=["Cs", "Cc", "Z"]), min_size=1).filter(
        lambda value: not value.startswith("--")
    )
)
def test_a_value_in_quotes_comes_back(value: str) -> None:
    assert parse(f'do --device "{value} {value}" x').options["device"] == f"{value} {value}"


def test_examples_parse() -> None:
    for command in COMMANDS:
        assert parse(command.example).name == command.name
