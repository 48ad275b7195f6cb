"""The pool of all phones: combines the phones of all providers into one list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from devices.errors import PhoneGone
from devices.phone import Phone, PhoneInfo
from devices.provider import DeviceProvider
from devices.wording import words


class Pool:
    """The phones of several providers as one list. Implements `devices.phone.Phones`. `start` must be called before
    use, `stop` after it.

    The first provider's phones are listed first. It starts last, so that it knows the phones of the others.
    """

    def __init__(
        self, providers: Sequence[DeviceProvider], owns: Callable[[DeviceProvider, str], bool] = lambda *_: True
    ) -> None:
        """`owns` decides whether a phone with this id belongs to this provider if several could have it."""
        self._providers = tuple(providers)
        self._owns = owns
        self._change = asyncio.Event()
        self._watching: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start every provider. Raises what a provider raises."""
        for provider in reversed(self._providers):
            await provider.start(partial(self._beside, provider))
        for provider in self._providers:
            self._watching.append(asyncio.create_task(self._watch(provider), name="news of phones"))

    async def stop(self) -> None:
        """Stop every provider."""
        for watching in self._watching:
            watching.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        for provider in self._providers:
            await provider.stop()

    @property
    def away(self) -> int:
        """The sum of `DeviceProvider.away` over all providers."""
        return sum(provider.away for provider in self._providers)

    def list(self) -> tuple[PhoneInfo, ...]:
        """Return every known phone, from memory, in a stable order. See `Phones.list`."""
        return tuple(info for provider in self._providers for info in self._listed(provider))

    def get(self, phone_id: str) -> Phone:
        """Return the phone with this stable id. See `Phones.get`."""
        return self._owner(phone_id).get(phone_id)

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        """Check every phone again within a time limit and return the new list. See `Phones.refresh`."""
        await asyncio.gather(*(provider.refresh() for provider in self._providers))
        return self.list()

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        """Give this phone a new name that survives a restart. See `Phones.rename`."""
        return await self._owner(phone_id).rename(phone_id, name)

    async def wait_for_change(self) -> None:
        """Wait until any phone appears, disappears or changes its health. See `Phones.wait_for_change`."""
        await self._change.wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        """Implements `Phones.wait_for`. An unknown phone is awaited at every provider that may get it."""
        owners = [each for each in self._providers if self._owns(each, phone_id)]
        waiting = [asyncio.ensure_future(each.wait_for(phone_id, timeout=timeout)) for each in owners]
        gone = PhoneGone(words("phone.error.unknown", id=phone_id), uncertain=False)
        try:
            for found in asyncio.as_completed(waiting):
                try:
                    return await found
                except PhoneGone as missing:
                    gone = missing  # the last to give up waited longest, so its reason is the best
        finally:
            for each in waiting:
                each.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        raise gone

    def _owner(self, phone_id: str) -> DeviceProvider:
        """Return the provider that has the phone; the first one if none lists it."""
        having = (each for each in self._providers if any(info.id == phone_id for info in self._listed(each)))
        return next(having, self._providers[0])

    def _listed(self, provider: DeviceProvider) -> Iterator[PhoneInfo]:
        return (info for info in provider.list() if self._owns(provider, info.id))

    def _beside(self, own: DeviceProvider) -> Sequence[PhoneInfo]:
        return [info for provider in self._providers if provider is not own for info in provider.list()]

    async def _watch(self, provider: DeviceProvider) -> None:
        """Watch for changes without awaiting anything in between, so that none is missed."""
        while True:
            await provider.wait_for_change()
            self._change.set()
            self._change = asyncio.Event()
