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
from devices.wording import Words, said, words

MAX_PHONES = 64
LANGUAGES = {"en": "en-US", "zh": "zh-CN"}
LOCAL_ADB = ("127.0.0.1", 5037)
# A 1080 pixels wide phone has 420 dots per inch; others get the same width in dp. Android rounds to steps of 20.
REFERENCE_WIDTH, REFERENCE_DENSITY, DENSITY_STEP = 1080, 420, 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to the parser. `adb` is None unless it is given."""

    def add(flag: str, about: Words, **how: Any) -> None:  # noqa: ANN401 - as argparse has it
        parser.add_argument(flag, help=said(about), **how)

    count, port = partial(_number, least=1, most=MAX_PHONES), partial(_number, least=0, most=65535)
    density = partial(_number, least=120, most=640)  # ldpi to xxxhdpi
    add("--count", words("virtual_phone.option.count"), type=count, default=1, metavar="N")
    add("--size", words("virtual_phone.option.size"), type=_size, default=Size(1080, 2400), metavar="WxH")
    add("--density", words("virtual_phone.option.density"), type=density, metavar="DPI")
    add("--dark", words("virtual_phone.option.dark"), action="store_true")
    add("--language", words("virtual_phone.option.language"), type=_language, default="en-US", metavar="TAG")
    add("--seed", words("virtual_phone.option.seed"), type=int, default=0, metavar="N")
    fault = words("virtual_phone.option.fault")
    add("--fault", fault, type=_fault, action="append", default=[], metavar="NAME=VALUE")
    add("--state", words("virtual_phone.option.state"), type=Path, metavar="DIR")
    add("--port", words("virtual_phone.option.port"), type=port, default=0, metavar="P")
    add("--control-port", words("virtual_phone.option.control_port"), type=port, default=0, metavar="P")
    add("--adb", words("virtual_phone.option.adb"), type=_server, metavar="HOST:PORT")
    add("--no-connect", words("virtual_phone.option.no_connect"), action="store_true")
    add("--json", words("virtual_phone.option.json"), action="store_true")
    add("--until-input-closes", words("virtual_phone.option.until_input_closes"), action="store_true")


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
