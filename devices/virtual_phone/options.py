"""The command-line options for virtual phones, shared by `python -m devices.virtual_phone` and `opengui phone`.

Nothing heavy is imported here: a program that only shows its help must not load fonts.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from devices.geometry import Size
from devices.virtual_phone.faults import FaultValue, parse_fault
from devices.wording import said, words

MAX_PHONES = 64
LANGUAGES = {"en": "en-US", "zh": "zh-CN"}
LOCAL_ADB = ("127.0.0.1", 5037)
# A 1080 pixels wide phone has 420 dots per inch; others get the same width in dp. Android rounds to steps of 20.
REFERENCE_WIDTH, REFERENCE_DENSITY, DENSITY_STEP = 1080, 420, 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to the parser. `adb` is None unless it is given."""
    add = parser.add_argument
    add("--count", type=_count, default=1, metavar="N", help=said(words("virtual_phone.option.count")))
    add("--size", type=_size, default=Size(1080, 2400), metavar="WxH", help=said(words("virtual_phone.option.size")))
    add("--density", type=_density, metavar="DPI", help=said(words("virtual_phone.option.density")))
    add("--dark", action="store_true", help=said(words("virtual_phone.option.dark")))
    add("--language", type=_language, default="en-US", metavar="TAG", help=said(words("virtual_phone.option.language")))
    add("--seed", type=int, default=0, metavar="N", help=said(words("virtual_phone.option.seed")))
    add(
        "--fault",
        type=_fault,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=said(words("virtual_phone.option.fault")),
    )
    add("--state", type=Path, metavar="DIR", help=said(words("virtual_phone.option.state")))
    add("--port", type=_port, default=0, metavar="P", help=said(words("virtual_phone.option.port")))
    add("--control-port", type=_port, default=0, metavar="P", help=said(words("virtual_phone.option.control_port")))
    add("--adb", type=_server, metavar="HOST:PORT", help=said(words("virtual_phone.option.adb")))
    add("--no-connect", action="store_true", help=said(words("virtual_phone.option.no_connect")))
    add("--json", action="store_true", help=said(words("virtual_phone.option.json")))
    add("--until-input-closes", action="store_true", help=said(words("virtual_phone.option.until_input_closes")))


def density_for(size: Size) -> int:
    """Return the screen density in dots per inch with which a screen of this size is as wide in dp as a usual one."""
    exact = min(size.width, size.height) * REFERENCE_DENSITY / REFERENCE_WIDTH
    return max(DENSITY_STEP, round(exact / DENSITY_STEP) * DENSITY_STEP)


def _size(text: str) -> Size:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 240 <= int(width) <= 4096 and 240 <= int(height) <= 4096):
        raise argparse.ArgumentTypeError(f"{text} is no size such as 1080x2400 (240 to 4096 pixels a side)")
    return Size(int(width), int(height))


def _count(text: str) -> int:
    return _number(text, 1, MAX_PHONES)


def _density(text: str) -> int:
    return _number(text, 120, 640)  # ldpi to xxxhdpi


def _port(text: str) -> int:
    return _number(text, 0, 65535)


def _number(text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text} is no number from {least} to {most}")
    return int(text)


def _language(text: str) -> str:
    tag = LANGUAGES.get(text, text)
    if not all(part.isalnum() and part.isascii() for part in tag.split("-")):
        raise argparse.ArgumentTypeError(f"{text} is no language such as zh or zh-CN")
    return tag


def _server(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host or LOCAL_ADB[0], _number(port, 1, 65535)


def _fault(text: str) -> tuple[str, FaultValue]:
    try:
        return parse_fault(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
