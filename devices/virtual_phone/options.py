"""The command-line options for virtual phones, shared by `python -m devices.virtual_phone` and `opengui phone`.

Nothing heavy is imported here: a program that only shows its help must not load fonts.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

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

    def add(name: str, **how: Any) -> None:  # noqa: ANN401 - as argparse has it
        about = said(words(f"virtual_phone.option.{name.replace('-', '_')}"))
        parser.add_argument(f"--{name}", help=about, **how)

    port = partial(_number, least=0, most=65535)
    add("count", type=partial(_number, least=1, most=MAX_PHONES), default=1, metavar="N")
    add("size", type=_size, default=Size(1080, 2400), metavar="WxH")
    add("density", type=partial(_number, least=120, most=640), metavar="DPI")  # ldpi to xxxhdpi
    add("dark", action="store_true")
    add("language", type=_language, default="en-US", metavar="TAG")
    add("seed", type=int, default=0, metavar="N")
    add("fault", type=_fault, action="append", default=[], metavar="NAME=VALUE")
    add("state", type=Path, metavar="DIR")
    add("port", type=port, default=0, metavar="P")
    add("control-port", type=port, default=0, metavar="P")
    add("adb", type=_server, metavar="HOST:PORT")
    add("no-connect", action="store_true")
    add("json", action="store_true")
    add("until-input-closes", action="store_true")


def density_for(size: Size) -> int:
    """Return the screen density in dots per inch with which a screen of this size is as wide in dp as a usual one."""
    exact = min(size.width, size.height) * REFERENCE_DENSITY / REFERENCE_WIDTH
    return max(DENSITY_STEP, round(exact / DENSITY_STEP) * DENSITY_STEP)


def _size(text: str) -> Size:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 240 <= int(width) <= 4096 and 240 <= int(height) <= 4096):
        raise argparse.ArgumentTypeError(f"{text} is no size such as 1080x2400 (240 to 4096 pixels a side)")
    return Size(int(width), int(height))


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
