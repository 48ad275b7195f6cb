"""A typed client for the control interface of a virtual phone in another process."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import aiohttp
from pydantic import TypeAdapter

from devices.virtual_phone.faults import FaultValue
from devices.virtual_phone.ground_truth import Entry, GroundTruth
from devices.virtual_phone.scenario import Happening, Moment

TIMEOUT_SECONDS = 30.0
_TRUTH = TypeAdapter(GroundTruth)
_FAULTS = TypeAdapter(dict[str, FaultValue])
_MOMENTS = TypeAdapter(tuple[Moment, ...])


class ControlRefused(Exception):
    """The phone refused a request; the message says why."""


class PhoneControl:
    """A client for one phone's control interface: `async with PhoneControl(phone.control) as control:`.

    Every method raises ControlRefused, aiohttp.ClientError when the phone is gone, and TimeoutError after 30 s.
    """

    def __init__(self, url: str) -> None:
        self._session = aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(total=TIMEOUT_SECONDS))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def truth(self) -> GroundTruth:
        """Return what has really happened on the phone so far."""
        return _TRUTH.validate_json(await self._ask("GET", "/truth"))

    async def journal(self, *, since: int = 0) -> tuple[Entry, ...]:
        """Return the commands that reached the phone, without the entries up to the number `since`."""
        async with self._session.get("/journal", params={"since": str(since)}) as answer:
            # Not through pydantic: bytes that are no UTF-8 arrive as lone surrogates, which it refuses.
            return tuple(Entry(**{**each, "argv": tuple(each["argv"])}) for each in await answer.json())

    async def frame(self) -> bytes:
        """Return the screen as PNG, like `screencap` does: black for a secure page."""
        return await self._ask("GET", "/frame.png")

    async def faults(self) -> dict[str, FaultValue]:
        """Return the value of every fault by name (see `Faults`)."""
        return _FAULTS.validate_json(await self._ask("GET", "/faults"))

    async def set_faults(self, **values: FaultValue) -> None:
        """Set faults by name, or clear them with their default value."""
        await self._ask("POST", "/faults", values)

    async def happen(self, what: Happening) -> None:
        """Carry out a scenario event now."""
        await self._ask("POST", "/happen", what.model_dump(mode="json"))

    async def after(self, line: str, what: Happening, *, times: int = 1, before: bool = False) -> None:
        """Carry out a scenario event after the `times`-th request from now that contains `line` ("*": any), or
        `before` that request.
        """
        moment = Moment(after=line, times=times, before=before, then=what)
        await self._ask("POST", "/moments", moment.model_dump(mode="json"))

    async def moments(self) -> tuple[Moment, ...]:
        """Return the scenario events that still wait for their request."""
        return _MOMENTS.validate_json(await self._ask("GET", "/moments"))

    async def forget_moments(self) -> None:
        """Delete all waiting scenario events."""
        await self._ask("DELETE", "/moments")

    async def _ask(self, method: str, path: str, value: object = None) -> bytes:
        async with self._session.request(method, path, json=value) as answer:
            data = await answer.read()
            if answer.status >= 400:
                raise ControlRefused(data.decode(errors="replace"))
            return data
