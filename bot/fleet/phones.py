"""FleetPhones: the phones of hosts, as a provider of the pool."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from PIL import Image
from pydantic import ValidationError

from bot.fleet.engine import EngineAway
from bot.fleet.hub import Hub
from bot.fleet.keys import sealed_for
from bot.fleet.messages import SPEAKS, Reply, UsePhone, understands
from bot.fleet.phone_calls import FOUND, INPUT, DoneThere, image_of, raise_refused, read
from bot.texts import words
from devices.errors import FileRejected, PhoneGone, ScreenChanged
from devices.inputs import Input, TypeText
from devices.jpeg import Fit, Jpeg
from devices.phone import Done, Health, Judged, Observation, Phone, PhoneInfo
from devices.pool import NameBook
from devices.pool.names import PhoneNames
from devices.storage import FoundFiles
from devices.wording import words as device_words

CALL_S: Final = 40.0
"""The phone's own limits at the host are shorter."""


class FleetPhones:
    """Implements `devices.provider.DeviceProvider`. A phone is the same wherever it is attached: of two hosts that tell
    of it the one that is there counts, and a phone of this machine comes before all.
    """

    def __init__(self, hub: Hub, book: NameBook | None) -> None:
        self._hub = hub
        self._names = PhoneNames({}, book)
        self._others: Callable[[], Sequence[PhoneInfo]] = tuple
        self._change = asyncio.Event()
        self._found: dict[str, PhoneInfo] = {}
        self._phones: dict[str, HostedPhone] = {}
        self._started = False
        hub.on_change(self._look)

    async def start(self, others: Callable[[], Sequence[PhoneInfo]] = tuple) -> None:
        """See DeviceProvider."""
        self._others = others
        self._started = True
        await self._names.load()
        self._look()

    async def stop(self) -> None:
        """See DeviceProvider."""
        self._started = False

    @property
    def away(self) -> int:
        """See DeviceProvider: hosts, and the engine itself."""
        return sum(host.away for host in self._hub.hosts.values()) + (not self._hub.online)

    def host_of(self, phone_id: str) -> str:
        """The host that has the phone, "" where none does."""
        if any(each.id == phone_id for each in self._others()):
            return ""
        found = self._found.get(phone_id)
        return "" if found is None else found.host

    def list(self) -> tuple[PhoneInfo, ...]:
        """See Phones."""
        taken = {each.id for each in self._others()}
        return tuple(info for phone_id, info in self._found.items() if phone_id not in taken)

    def get(self, phone_id: str) -> Phone:
        """See Phones."""
        found = self._found.get(phone_id)
        if not self._started or found is None:
            raise PhoneGone(device_words("phone.error.unknown", id=phone_id), uncertain=False)
        if not self._hub.hosts.usable(found.host):
            raise PhoneGone(found.reason, uncertain=False)
        return self._phones[phone_id]

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        """See Phones. Hosts tell of their phones by themselves."""
        return self.list()

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        """See Phones. The name is the hub's; the host calls the phone as before."""
        if phone_id not in self._found:
            raise PhoneGone(device_words("phone.error.unknown", id=phone_id), uncertain=False)
        others = [*self._others(), *(info for key, info in self._found.items() if key != phone_id)]
        await self._names.give(phone_id, name, others)
        self._look()
        return self._found[phone_id]

    async def wait_for_change(self) -> None:
        """See Phones."""
        await self._change.wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        """See Phones."""
        try:
            async with asyncio.timeout(timeout):
                while True:
                    try:
                        return self.get(phone_id)
                    except PhoneGone:
                        await self._change.wait()
        except TimeoutError:
            return self.get(phone_id)

    def _look(self) -> None:
        """What the hosts tell, as one list; each phone once."""
        if not self._started:
            return
        there: dict[str, PhoneInfo] = {}
        hosts = sorted(self._hub.hosts.values(), key=lambda host: (not host.usable, host.name))
        for host in hosts:
            for told in host.phones():
                info = told.seen_at(host.name)
                if host.speaks is not None and not understands(host.speaks):
                    why = words("fleet.version", host=host.name, theirs=host.speaks, ours=SPEAKS)
                    info = replace(info, health=Health.OFFLINE, reason=why, fix=words("fleet.version_fix"))
                elif host.blocked:
                    why = words("fleet.blocked_phone", host=host.name)
                    info = replace(
                        info, health=Health.OFFLINE, reason=why, fix=words("fleet.blocked_fix", host=host.name)
                    )
                elif not host.usable:
                    why = words("fleet.away_phone", host=host.name)
                    info = replace(info, health=Health.OFFLINE, reason=why, fix=words("fleet.away_fix"))
                there.setdefault(info.id, info)
        named: dict[str, PhoneInfo] = {}
        used = {each.name.casefold() for each in self._others()}
        for phone_id, info in sorted(there.items()):
            name = self._names.name_beside(phone_id, info.serial, info.name, used)
            named[phone_id] = replace(info, name=name)
            used.add(name.casefold())
            if phone_id not in self._phones:
                self._phones[phone_id] = HostedPhone(self._hub, self, phone_id)
        if named != self._found:
            self._found = named
            self._change.set()
            self._change = asyncio.Event()

    def note_app(self, phone_id: str, app: str) -> None:
        """Remember which app was in front when the host was asked last."""
        if phone_id in self._found:
            self._found[phone_id] = replace(self._found[phone_id], app=app)

    def info_of(self, phone_id: str) -> PhoneInfo | None:
        """What is known of a phone now."""
        return self._found.get(phone_id)


class HostedPhone:
    """Implements `devices.phone.Phone` for a phone of a host. Runs do not use it: they work beside the phone."""

    def __init__(self, hub: Hub, phones: FleetPhones, phone_id: str) -> None:
        self._hub = hub
        self._phones = phones
        self._id = phone_id
        self._last: Observation | None = None
        self._info: PhoneInfo | None = None

    @property
    def info(self) -> PhoneInfo:
        """See Phone."""
        self._info = self._phones.info_of(self._id) or self._info
        assert self._info is not None, "it was told of before it was made"
        return self._info

    async def observe(
        self,
        *,
        after: Observation | None = None,
        patience: float = 2.5,
        settle: bool = True,
        elements: bool = True,
        fit: Fit | None = None,
    ) -> Observation:
        """See Phone."""
        given: dict[str, Any] = {"after": after is not None and after is self._last}
        given |= {"patience": patience, "settle": settle, "elements": elements}
        reply, picture = await self._call("observe", given)
        return await self._seen(reply, picture, fit)

    async def confirmed(self, since: Observation) -> Observation | None:
        """See Phone."""
        if since is not self._last:
            return None
        reply, picture = await self._call("confirmed", {})
        return None if reply.data is None else await self._seen(reply, picture, None)

    async def glance(self) -> Image.Image | None:
        """See Phone."""
        reply, picture = await self._call("glance", {})
        if isinstance(reply.data, dict) and "app" in reply.data:
            self._phones.note_app(self._id, str(reply.data["app"]))
        return await asyncio.to_thread(image_of, picture) if picture else None

    async def act(
        self,
        what: Input,
        *,
        receipt: str,
        watched: bool = False,
        later: bool = False,
        judged: Judged | None = None,
    ) -> Done:
        """See Phone. The host has the lease checked and writes the input down before it is sent."""
        del watched, later
        if judged is not None and self._last is not None:
            now = await self.observe()
            same = now.small is not None and judged.shows_same(now.small)
            if not same and not (now.elements is not None and judged.tells_same(now.elements)):
                raise ScreenChanged(words("fleet.screen_changed"))
        given: dict[str, Any] = {"receipt": receipt}
        if isinstance(what, TypeText):
            # It may be a password: nobody but the host can read what is typed.
            given["sealed"] = sealed_for(self._hub.hosts[self.info.host].known.seal, what.text)
            what = replace(what, text="")
        given["what"] = INPUT.dump_python(what, mode="json")
        reply, _ = await self._call("act", given, uncertain=True)
        try:
            return DoneThere.model_validate(reply.data).here()
        except ValidationError:
            return Done()

    async def prepare(self) -> None:
        """See Phone."""
        await self._call("prepare", {})

    async def restore(self) -> None:
        """See Phone."""
        await self._call("restore", {})

    async def push(self, name: str, data: bytes, *, folder: str = "") -> str:
        """See Phone. Files cross with a task alone."""
        del data, folder
        raise FileRejected(words("fleet.no_push", name=name))

    async def find_files(self, name: str) -> FoundFiles:
        """See Phone."""
        reply, _ = await self._call("find_files", {"name": name})
        return FOUND.validate_python(reply.data)

    async def pull(self, path: str, *, limit: int) -> bytes:
        """See Phone."""
        _, data = await self._call("pull", {"path": path, "limit": limit})
        return data

    async def _seen(self, reply: Reply, picture: bytes, fit: Fit | None) -> Observation:
        seen = await asyncio.to_thread(read, reply.data, picture)
        if fit is not None and seen.image is not None:
            size = await asyncio.to_thread(fit, seen.size)
            seen = replace(seen, image=None, jpeg=await asyncio.to_thread(Jpeg.of, seen.image, size))
        self._last = seen
        return seen

    async def _call(self, call: str, given: dict[str, Any], *, uncertain: bool = False) -> tuple[Reply, bytes]:
        host = self.info.host
        asked = UsePhone(phone=self._id, call=call, arguments=given, held=self._hub.held_on(self._id))
        try:
            reply, body = await self._hub.ask(host, asked, timeout=CALL_S)
        except EngineAway as away:
            raise PhoneGone(words("fleet.away_phone", host=host), uncertain=uncertain) from away
        raise_refused(reply)
        return reply, body
