"""Asks a newly attached phone for its identity until it answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from devices.adb.connection import Connection
from devices.adb.following import Link
from devices.adb.identity import Identity, identify
from devices.adb.shell import Shell, together
from devices.errors import PhoneError
from devices.wording import sentence_of, words

logger = logging.getLogger(__name__)

SLOW_ANSWER = 1.5
"""Seconds after which a phone that has not answered is listed as silent instead of not at all."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""The first and longest pause in seconds before a silent phone is asked again; the pause doubles each time."""


async def greeted(link: Link, silent: Callable[[str], None]) -> Identity:
    """Wait until the phone at this link answers, for instance while it boots, and return its identity.

    `silent` is called with the reason whenever there is no answer yet.
    """
    shell, pause = Shell(Connection(*link)), FIRST_PAUSE
    while True:
        try:
            async with together() as group:
                asked = group.create_task(identify(shell))
                await asyncio.wait({asked}, timeout=SLOW_ANSWER)
                if not asked.done():
                    silent(words("phone.starting.reason", seconds=SLOW_ANSWER))
            return asked.result()
        except PhoneError as shy:
            logger.info("%s does not answer yet: %s", link[1], shy)
            silent(sentence_of(shy))
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 2)
