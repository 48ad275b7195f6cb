"""The interface of a device provider, which finds and attaches one kind of phone. The pool combines several
providers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from devices.phone import PhoneInfo, Phones


class DeviceProvider(Phones, Protocol):
    """Finds and attaches the phones of one kind, such as those of adb servers.

    `PhoneInfo.capabilities` says what a phone cannot do. `wait_for` also waits for a phone that has not been seen yet,
    or raises PhoneGone at once if it can never appear. An example:

        await provider.start()
        phone = provider.get(provider.list()[0].id)
        await provider.stop()
    """

    async def start(self, others: Callable[[], Sequence[PhoneInfo]] = tuple) -> None:
        """Start attaching phones; returns once those already present are known. Called once.

        `others` returns the phones of other providers at any time, so that their names are not reused.
        """

    async def stop(self) -> None:
        """Stop what `start` began. Also called after a `start` that failed."""

    @property
    def away(self) -> int:
        """The number of servers (such as adb servers or hosts) that may have phones but do not answer at the moment."""
