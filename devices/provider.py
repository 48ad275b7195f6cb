"""The border to a kind of phones: what lists and attaches them, and what the pool puts together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from devices.phone import PhoneInfo, Phones


class DeviceProvider(Phones, Protocol):
    """Lists and attaches the phones of one kind, such as those of adb servers. What a phone cannot do stands in the
    `capabilities` of its `PhoneInfo`.

    `wait_for` also waits for a phone that has not been seen yet, or raises PhoneGone at once if it never will be.
    """

    async def start(self, others: Callable[[], Sequence[PhoneInfo]] = tuple) -> None:
        """Attaches phones from now on; returns when those are known that are there already. Called once.

        `others` tells the phones of other providers at any time: their names are taken.
        """
        ...

    async def stop(self) -> None:
        """Ends what `start` began. It is also called after a `start` that failed."""
        ...

    @property
    def away(self) -> int:
        """How many of the servers behind which there may be phones do not answer at the moment."""
        ...
