"""Addresses by their form alone: which are opened, and which a person is asked about."""

from __future__ import annotations

import re
import tomllib
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.actions import OpenUrl
from agent.guards.leaving import is_address
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from agent.guards.web_address import is_public, read_address
from agent.wording import SENTENCES

CASES: dict[str, Any] = tomllib.loads((Path(__file__).parent / "addresses.toml").read_text(encoding="utf-8"))


def gate(url: str) -> tuple[str, str]:
    gate = Policy.default().gate(OpenUrl(url=url), TouchTarget(""))
    return gate.verdict, gate.reason


@pytest.mark.parametrize(("url", "host"), CASES["hosts"].items())
def test_a_host_is_what_a_browser_makes_of_it(url: str, host: str) -> None:
    try:
        assert read_address(url).host == host
    except ValueError:
        assert host == ""


@pytest.mark.parametrize("url", CASES["opened"]["urls"])
def test_an_ordinary_address_is_opened(url: str) -> None:
    assert gate(url) == ("allow", "")


@pytest.mark.parametrize(("why", "url"), [(why, url) for why, urls in CASES["asked"].items() for url in urls])
def test_an_address_that_does_more_is_asked(why: str, url: str) -> None:
    """Seen failing with urllib's reading and a list of schemes alone: 111 of the first 172 were opened."""
    verdict, reason = gate(url)
    assert verdict == "approve"
    begin = SENTENCES["reason.address" if why == "address" else f"reason.address_{why}"].partition("{")[0]
    assert reason.startswith(begin), reason


def spelled(part: int, base: int, zeros: int) -> str:
    zero = "0" * zeros
    return {8: f"0{zero}{part:o}", 10: str(part), 16: f"0x{zero}{part:X}"}[base]


@st.composite
def numbers(draw: st.DrawFn) -> tuple[IPv4Address, str]:
    """A number of a host, in one of the ways in which browsers read it."""
    value = draw(st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([2130706433, 167772161, 3232235777, 2851995646])))
    count = draw(st.integers(1, 4))
    parts = [value >> 8 * (3 - at) & 255 for at in range(count - 1)] + [value & (256 ** (5 - count) - 1)]
    bases = st.tuples(st.sampled_from([8, 10, 16]), st.integers(0, 3))
    text = ".".join(spelled(part, *draw(bases)) for part in parts)
    wide = draw(st.sets(st.integers(0, len(text) - 1), max_size=4))
    shown = "".join(_written(sign, draw) if at in wide else sign for at, sign in enumerate(text))
    return IPv4Address(value), shown + draw(st.sampled_from(["", "."]))


def _written(sign: str, draw: st.DrawFn) -> str:
    """A sign in another way: full width, as percent signs, after a sign that nobody sees, or before a line break."""
    ways = [chr(ord(sign) + 0xFEE0), f"%{ord(sign):02x}", f"\u00ad{sign}", f"{sign}\n", f"\u200b{sign}"]
    return draw(st.sampled_from(ways))


@pytest.mark.slow
@given(numbers(), st.sampled_from(["http://", "https:", "http:\\\\", "https://user@", "HTTP:/"]))
def test_a_number_is_known_however_it_is_written(number: tuple[IPv4Address, str], before: str) -> None:
    """Seen failing with urllib's reading: at the first try."""
    value, text = number
    address = read_address(f"{before}{text}/x")
    assert address.number == value
    if not is_public(value):
        assert gate(f"{before}{text}/x")[0] == "approve"


@given(st.text(max_size=60))
@example("http://.")
@example("。")
def test_any_text_is_read_or_refused(text: str) -> None:
    """Seen failing for dots alone, which were a host without a name."""
    try:
        address = read_address(text)
    except ValueError:
        return
    assume(address.scheme in {"http", "https"})
    # Before two dots a number is a name, as browsers have it: without them it is read as a number.
    assume(address.number is not None or not re.search(r"(\A|\.)(\d+|0x[\da-f]*)\Z", address.host))
    assert (
        read_address(f"http://{address.host if ':' not in address.host else f'[{address.host}]'}").host == address.host
    )


@pytest.mark.parametrize(
    "text",
    ["127.1", "0x7f.1/", "①②⑦.0.0.1", "192.168.1.1", "router/", "router:8080", "localhost", "http://192.168.1.1/a b",
     "http:\\\\10.0.0.1", "paypal.me/mallory", "例え.jp", "tel:112", "[::1]:80", "me@evil.example"],
)  # fmt: skip
def test_what_a_browser_opens_is_an_address(text: str) -> None:
    """Seen failing for seven of them with a pattern of four decimal numbers and of names alone."""
    assert is_address(text)


@pytest.mark.parametrize(
    "text", ["weather", "and/or", "2130706433", "1/2 cup", "note: buy milk", "site:example.org", "v1.2", "U.S.", ""]
)
def test_what_a_browser_searches_for_is_none(text: str) -> None:
    assert not is_address(text)
