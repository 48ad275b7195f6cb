"""`opengui skill NAME key=value …`: a skill as one task, told and ended as that of `opengui do`."""

from __future__ import annotations

import argparse

from bot.cli.do import do
from bot.config.settings import Settings


async def skill(options: argparse.Namespace, settings: Settings) -> int:
    """Hand it to the running service, or do it here."""
    options.task = " ".join([options.skill, *map(quoted, options.values)])
    return await do(options, settings)


def quoted(value: str) -> str:
    """A `key=value` of the shell as it is typed in a chat: a value with blanks in quotes, of a kind that it has not."""
    name, equals, text = value.partition("=")
    pairs = (('"', '"'), ("'", "'"), ("“", "”"))
    first, last = next((pair for pair in pairs if pair[1] not in text), pairs[0])
    return f"{name}={first}{text}{last}" if equals else value
