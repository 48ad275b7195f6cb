"""Makes the phones of hosts available to the hub's pool of phones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from PIL import Image
from pydantic import ValidationError

from agent.run import RunId
from bot.fleet.bounds import one_line
from bot.fleet.engine import EngineAway
from bot.fleet.hosts import HERE, Conflict, Host
from bot.fleet.hub import Hub
from bot.fleet.keys import sealed_for
from bot.fleet.messages import SPEAKS, VALUE_LETTERS, PhoneThere, Reply, UsePhone, understands
from bot.fleet.phone_calls import FOUND, INPUT, DoneThere, image_of, raise_refused, read
from bot.texts import words
from devices.errors import CaptureFailed, FileRejected, PhoneError, PhoneGone, ScreenChanged
from devices.inputs import Input, TypeText
from devices.names import LONGEST
from devices.phone import Health, InputResult, Judged, Observation, Phone, PhoneInfo
from devices.pictures import Fit, Jpeg
from devices.pool import NameBook
from devices.pool.names import PhoneNames
from devices.provider import DeviceProvider
from devices.storage import FoundFiles
from devices.wording import words as device_words

CALL_S: Final = 40.0
"""Seconds for a call of a phone; the limits at the host are shorter."""


class FleetPhones:
    """The phones of all hosts. Implements `devices.provider.DeviceProvider`.

    If two computers report the same id, only the phone of the owner counts (see `PhoneOwners`); the other one is a
    conflict.
    """

    def __init__(self, hub: Hub, book: NameBook | None) -> None:
        self._hub = hub
        self._names = PhoneNames({}, book)
        self._local_phones: Callable[[], Sequence[PhoneInfo]] = tuple
        self._change = asyncio.Event()
        self._infos: dict[str, PhoneInfo] = {}
        self._phones: dict[str, HostedPhone] = {}
        self._started = False
        hub.on_change(self._update)

    async def start(self, others: Callable[[], Sequence[PhoneInfo]] = tuple) -> None:
        """Load names and owners, and list the phones that hosts have reported by now.

        `others` returns the phones of this computer, so that names and ids do not collide.
        """
        self._local_phones = others
        self._started = True
        await self._names.load()
        await self._hub.owners.load()
        self._update()

    async def stop(self) -> None:
        """Stop making the phones available: `get` then raises PhoneGone."""
        self._started = False

    @property
    def away(self) -> int:
        """The number of servers that are unreachable at the moment: hosts, and the engine (message broker) itself."""
        return sum(host.away for host in self._hub.hosts.values()) + (not self._hub.online)

    def host_of(self, phone_id: str) -> str:
        """Return the host that the phone with this id is connected to; "" if no host has it."""
        found = self._infos.get(phone_id)
        return HERE if found is None else found.host

    def owns(self, provider: DeviceProvider, phone_id: str) -> bool:
        """Return whether this provider (the hosts' phones, or this computer's) is responsible for the phone with this
        id. Both are while the phone has no owner.
        """
        owner = self._hub.owners.of(phone_id)
        return owner is None or (owner != HERE) == (provider is self)

    def may_use(self, run: RunId, phone_id: str) -> bool:
        """Return whether a run may be given this phone. A run that a computer has begun can use only phones of that
        computer.
        """
        known = self._hub.known_runs.get(run)
        return known is None or known.host == (self._hub.owners.of(phone_id) or HERE)

    def list(self) -> tuple[PhoneInfo, ...]:
        """Return every known phone, from memory, in a stable order."""
        return tuple(self._infos.values())

    def get(self, phone_id: str) -> Phone:
        """Return the phone with this id. Raises PhoneGone if it is unknown or its host cannot be used."""
        found = self._infos.get(phone_id)
        if not self._started or found is None:
            raise PhoneGone(device_words("phone.error.unknown", id=phone_id), uncertain=False)
        if not self._hub.hosts.usable(found.host):
            raise PhoneGone(found.reason, uncertain=False)
        return self._phones[phone_id]

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        """Return the list of phones. Hosts are not asked, because they report changes on their own."""
        return self.list()

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        """Give a phone another name for good, and return its info. Only the hub uses the name; the host keeps its own.

        Raises PhoneGone if the phone is unknown, and NameUnfit or NameTaken if it cannot have this name.
        """
        if phone_id not in self._infos:
            raise PhoneGone(device_words("phone.error.unknown", id=phone_id), uncertain=False)
        others = [*self._local_phones(), *(info for key, info in self._infos.items() if key != phone_id)]
        await self._names.give(phone_id, name, others)
        self._update()
        return self._infos[phone_id]

    async def wait_for_change(self) -> None:
        """Wait until any phone comes, leaves or changes its health."""
        await self._change.wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        """Return the phone as soon as it can be used. Raises PhoneGone if that takes longer than `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                while True:
                    try:
                        return self.get(phone_id)
                    except PhoneGone:
                        await self._change.wait()
        except TimeoutError:
            return self.get(phone_id)

    def _update(self) -> None:
        """Update the list of phones from the hosts' reports; each phone appears once."""
        if not self._started:
            return
        owners = self._hub.owners
        here = [each for each in self._local_phones() if owners.claim(each.id, HERE)]
        conflicts = [self._conflict(each.id, HERE) for each in self._local_phones() if owners.of(each.id) != HERE]
        there: dict[str, PhoneInfo] = {}
        for host in self._hub.hosts.values():
            with self._hub.faults.of(host.name):
                for told in host.phones():
                    if owners.claim(told.info.id, host.name):
                        there.setdefault(told.info.id, _as_of(host, told))
                    else:
                        conflicts.append(self._conflict(told.info.id, host.name))
        for each in conflicts:
            known = there.get(each.phone)
            if each.owner != HERE and (known is None or not self._hub.hosts.usable(each.owner)):
                there[each.phone] = _in_conflict(each, known)
        owners.conflicts = tuple(conflicts)
        named: dict[str, PhoneInfo] = {}
        used = {each.name.casefold() for each in here}
        # A typed id must mean that phone, even if another host reports it as the serial of one of its own.
        ids = {each.id.casefold() for each in (*here, *there.values())}
        for phone_id, info in sorted(there.items()):
            name = self._names.name_beside(phone_id, info.serial, info.name, used | (ids - {phone_id.casefold()}))
            named[phone_id] = replace(info, name=name)
            used.add(name.casefold())
            if phone_id not in self._phones:
                self._phones[phone_id] = HostedPhone(self._hub, self, phone_id)
        for phone_id, info in named.items():
            if info.serial.casefold() in ids | used:
                named[phone_id] = replace(info, serial=phone_id)
        if named != self._infos:
            self._infos = named
            self._change.set()
            self._change = asyncio.Event()
        self._hub.save_owners()

    def _conflict(self, phone_id: str, claimant: str) -> Conflict:
        return Conflict(phone_id, self._hub.owners.of(phone_id) or HERE, claimant)

    def note_app(self, phone_id: str, app: str) -> None:
        """Store the app that the host reported to be in the foreground."""
        if phone_id in self._infos:
            self._infos[phone_id] = replace(self._infos[phone_id], app=app)

    def info_of(self, phone_id: str) -> PhoneInfo | None:
        """Return the current info about a phone; None if it is unknown."""
        return self._infos.get(phone_id)


def _as_of(host: Host, told: PhoneThere) -> PhoneInfo:
    """Return a host's phone, as offline if the host cannot be used."""
    info = told.seen_at(host.name)
    if host.speaks is not None and not understands(host.speaks):
        why = words("fleet.version", host=host.name, theirs=host.speaks, ours=SPEAKS)
        fix = words("fleet.version_fix")
    elif host.blocked:
        why, fix = words("fleet.blocked_phone", host=host.name), words("fleet.blocked_fix", host=host.name)
    elif not host.usable:
        why, fix = words("fleet.away_phone", host=host.name), words("fleet.away_fix")
    else:
        return info
    return replace(info, health=Health.OFFLINE, reason=why, fix=fix)


def _in_conflict(conflict: Conflict, known: PhoneInfo | None) -> PhoneInfo:
    """Return a phone that its host does not report now but another machine does. That machine loses nothing."""
    phone = conflict.phone
    bare = known or PhoneInfo(phone, phone, phone[:LONGEST], Health.OFFLINE, host=conflict.owner)
    return replace(bare, health=Health.OFFLINE, reason=conflict.sentence, fix=conflict.fix)


class HostedPhone:
    """A phone of a host, as people use it through the hub. Implements `devices.phone.Phone`. Runs use the phone
    directly on the host.
    """

    def __init__(self, hub: Hub, phones: FleetPhones, phone_id: str) -> None:
        self._hub = hub
        self._phones = phones
        self._id = phone_id
        self._last: Observation | None = None
        self._info: PhoneInfo | None = None

    @property
    def info(self) -> PhoneInfo:
        """The latest info about this phone, from memory."""
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
        """Look at the phone's screen; see `Phone.observe`."""
        given: dict[str, Any] = {"after": after is not None and after is self._last}
        given |= {"patience": patience, "settle": settle, "elements": elements}
        reply, picture = await self._call("observe", given)
        return await self._seen(reply, picture, fit)

    async def confirmed(self, since: Observation) -> Observation | None:
        """Return the current observation if the screen still shows what `since` did; None otherwise, and if `since` is
        not the latest observation. See `Phone.confirmed`.
        """
        if since is not self._last:
            return None
        reply, picture = await self._call("confirmed", {})
        return None if reply.data is None else await self._seen(reply, picture, None)

    async def glance(self) -> Image.Image | None:
        """Return a picture of the screen for a person who watches, without its elements; None if the screen may not be
        shown.
        """
        reply, picture = await self._call("glance", {})
        if isinstance(reply.data, dict) and "app" in reply.data:
            self._phones.note_app(self._id, one_line(str(reply.data["app"]), VALUE_LETTERS))
        try:
            return await asyncio.to_thread(image_of, picture) if picture else None
        except OSError as error:
            raise CaptureFailed(words("fleet.no_picture")) from error

    async def act(
        self,
        what: Input,
        *,
        receipt: str,
        watched: bool = False,
        later: bool = False,
        judged: Judged | None = None,
    ) -> InputResult:
        """Send one input to the phone, once, and return the result; see `Phone.act`. The host checks the lease and
        records the input first.
        """
        del watched, later
        if judged is not None:
            now = await self.observe()
            same = now.thumbnail is not None and judged.shows_same(now.thumbnail)
            if not same and not (now.elements is not None and judged.tells_same(now.elements)):
                raise ScreenChanged(words("fleet.screen_changed"))
        given: dict[str, Any] = {"receipt": receipt}
        if isinstance(what, TypeText):
            # It may be a password, so it is encrypted for the host.
            host = self._hub.hosts.get(self.info.host)
            if host is None:
                raise PhoneGone(words("fleet.away_phone", host=self.info.host), uncertain=False)
            given["sealed"] = sealed_for(host.known.seal, what.text)
            what = replace(what, text="")
        given["what"] = INPUT.dump_python(what, mode="json")
        reply, _ = await self._call("act", given, uncertain=True)
        try:
            return DoneThere.model_validate(reply.data).here()
        except ValidationError:
            return InputResult()

    async def prepare(self) -> None:
        """Prepare the phone for use: wake it, unlock it without a PIN, keep it awake, choose the input method."""
        await self._call("prepare", {})

    async def restore(self) -> None:
        """Undo `prepare`: restore the input method and the setting that keeps the phone awake."""
        await self._call("restore", {})

    async def push(self, name: str, data: bytes, *, folder: str = "") -> str:
        """Raise FileRejected, because files reach a host only together with a task."""
        del data, folder
        raise FileRejected(words("fleet.no_push", name=name))

    async def find_files(self, name: str) -> FoundFiles:
        """Return the files in shared storage that match a name, part of a name, pattern or path, the newest first."""
        reply, _ = await self._call("find_files", {"name": name})
        try:
            return FOUND.validate_python(reply.data)
        except ValidationError as error:
            raise PhoneError(words("fleet.not_understood", host=self.info.host)) from error

    async def pull(self, path: str, *, limit: int) -> bytes:
        """Return the bytes of a file in the phone's shared storage. Raises FileRejected if it is missing, larger than
        `limit` bytes, or too large for one message from the host (`bot.fleet.phone_calls.LARGEST`).
        """
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
        asked = UsePhone(phone=self._id, call=call, arguments=given, held=self._hub.lease_on(self._id))
        try:
            reply, body = await self._hub.ask(host, asked, timeout=CALL_S)
        except EngineAway as away:
            raise PhoneGone(words("fleet.away_phone", host=host), uncertain=uncertain) from away
        raise_refused(reply)
        return reply, body
