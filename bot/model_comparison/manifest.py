"""Registers the comparison of models as an optional part of the program."""

from __future__ import annotations

import argparse
import math
from typing import Final

from bot.cli.options import add_json, number
from bot.part import Command, Part
from bot.texts import say


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--base-url", default="", metavar="URL", help=say("cli.option.compare_base_url"))
    for option, kind, metavar in (("model", str, "NAME"), ("dialect", str, "NAME"), ("image-window", _window, "N")):
        about = say(f"cli.option.compare_{option.replace('-', '_')}")
        add(f"--{option}", action="append", default=[], type=kind, metavar=metavar, help=about)
    add("--tasks", type=number, default=60, metavar="N", help=say("cli.option.compare_tasks"))
    add("--seed", type=int, default=1, metavar="N", help=say("cli.option.compare_seed"))
    add("--max-cost", type=_amount, metavar="AMOUNT", help=say("cli.option.compare_max_cost"))
    add_json(parser)


def _window(text: str) -> int:
    """Parse a number of pictures; 0 means none. Raises ArgumentTypeError."""
    return 0 if text.strip() == "0" else number(text)


def _amount(text: str) -> float:
    """Parse an amount of money above zero. Raises ArgumentTypeError."""
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < math.inf:
        raise argparse.ArgumentTypeError(say("cli.compare.amount"))
    return amount


PART: Final = Part(commands=(Command("compare-models", "bot.model_comparison.command:compare_models", _add_options),))
