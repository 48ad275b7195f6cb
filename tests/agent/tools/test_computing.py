"""Sums and short programs: what comes of them, and what they cannot reach or use up."""

from __future__ import annotations

import asyncio

import pytest

from agent.tools.addresses import addresses_in, same
from agent.tools.computing import MAX_PRINTED, ComputingFailed, calculate, compute


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("(19.99 * 3) * 1.19", "71.3643"),
        ("0.1 + 0.2", "0.3"),
        ("2^10", "1024"),
        ("3 × 4 ÷ 2", "6"),
        ("10**40", "1" + "0" * 40),
    ],
)
async def test_sums(expression: str, value: str) -> None:
    assert await calculate(expression) == value


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("import os", "not one expression"),
        ("1 +", "not one expression"),
        ("(" * 400, "not one expression"),
        ("1/0", "division by zero"),
        ("9**9**9", "memory limit"),
        ("10**5000", "too many digits"),
        ("price", "not defined"),
        ('open("/etc/passwd").read()', "Permission denied"),
        ("__import__('os').system('id')", "not defined"),
    ],
)
async def test_what_is_no_sum(expression: str, told: str) -> None:
    with pytest.raises(ComputingFailed, match=told):
        await calculate(expression)


async def test_a_program_prints_and_has_a_value() -> None:
    done = await compute(
        "rows = [('a', 3), ('b', 2)]\nfor name, n in rows:\n    print(name, n)\nsum(n for _, n in rows)"
    )
    assert (done.printed, done.value) == ("a 3\nb 2\n", "5")


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("while True: pass", "time limit"),
        (
            "x = 7\nwhile True: x = x * x + 1",
            "stopped|memory limit",
        ),  # which of the two comes first is up to the machine
        ("[0] * 10**9", "memory limit"),
        ("def f(): return f()\nf()", "recursion"),
        ("import socket", "No module"),
        ("import urllib.request", "No module"),
        ("import time\ntime.sleep(60)", "sleep limit"),
        ("import os\nos.environ", "not supported"),
        ("from pathlib import Path\nPath('/etc/passwd').read_text()", "Permission denied|not supported"),
    ],
)
async def test_what_a_program_cannot_reach_or_use_up(code: str, told: str) -> None:
    with pytest.raises(ComputingFailed, match=told):
        await compute(code)


async def test_a_program_finds_nothing_of_the_one_before() -> None:
    await compute("left = 7")
    with pytest.raises(ComputingFailed, match="not defined"):
        await compute("left")
    assert (await compute("7")).value == "7"


async def test_programs_at_once() -> None:
    assert [done.value for done in await asyncio.gather(*(compute(str(n)) for n in range(9)))] == list("012345678")


async def test_what_is_printed_has_an_end() -> None:
    assert len((await compute("for _ in range(1000): print('x' * 1000)")).printed) == MAX_PRINTED


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Read https://example.com/a?b=1#c.", "example.com/a?b=1"),
        ("看看https://example.com/a，然后", "example.com/a"),
        ("see (example.com/x_(y)) please", "example.com/x_(y)"),
        ("HTTP://Example.COM:80/", "example.com"),
        ("at www.example.com:8080/a/", "www.example.com:8080/a"),
    ],
)
def test_addresses_of_a_text(text: str, address: str) -> None:
    assert addresses_in([text]) == {address}


@pytest.mark.parametrize("text", ["write to me@example.com", "nothing", "v1.2.3", "ftp://example.com/", "http://"])
def test_texts_without_an_address(text: str) -> None:
    assert addresses_in([text]) == frozenset()


def test_another_path_query_or_host_is_another_address() -> None:
    given = same("https://example.com/a")
    for other in ("https://example.com/a/b", "https://example.com/a?q=1", "https://a.example.com/a", "https://example.com",
                  "https://example.com:8443/a", "https://x@example.com/a"):  # fmt: skip
        assert same(other) != given
