"""Phones over Wi-Fi: pairing with a code or QR code, connecting, and finding phones that announce themselves on the
network.

Under Wireless debugging, Android shows an address for pairing and a code of six digits; the address to connect to is
another one. With a QR code, the phone reads a name and password and announces itself under that name. Codes are passed
to the adb server over its socket, so they appear in no process list. Protocol: `host:pair:CODE:ADDRESS`,
`host:connect:ADDRESS` and `host:mdns:services` (adb's SERVICES.TXT and `adb_wifi_pair_device`).
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import Final, Literal

from devices.adb.host import CONNECT_TIMEOUT, ask, connect
from devices.adb.server import ServerAddress, ensure_running
from devices.errors import PairingFailed
from devices.wording import words

PAIR_TIMEOUT: Final = 30.0
"""Seconds for pairing; adb itself waits about ten for a silent phone."""
_ADDRESS: Final = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.%a-z]{2,60}\]):(?P<port>[0-9]{1,5})")
_CODE: Final = re.compile(r"[0-9]{6}")
_KINDS: Final[dict[str, Literal["pairing", "connect"]]] = {
    "_adb-tls-pairing._tcp": "pairing",
    "_adb-tls-connect._tcp": "connect",
}


@dataclass(frozen=True, slots=True)
class Announced:
    """A phone that announces on the network (mDNS) that it can be paired or, once paired, connected at this address."""

    name: str
    kind: Literal["pairing", "connect"]
    address: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """The content of a QR code for pairing: the name that the phone must announce, and the password."""

    name: str
    password: str = field(repr=False)

    @classmethod
    def new(cls) -> Invitation:
        """Create a new invitation with 80 random bits."""
        return cls(f"opengui-{secrets.token_hex(4)}", secrets.token_hex(10))

    @property
    def text(self) -> str:
        """The text of the QR code, in the form of Android's Wireless debugging."""
        return f"WIFI:T:ADB;S:{self.name};P:{self.password};;"


class WifiPhones:
    """Pairs and connects phones through one adb server. All methods raise PhoneGone or PhoneTimeout if the server is
    away, and PhoneGone or PhoneUnavailable if a local one cannot be started.
    """

    def __init__(self, server: ServerAddress) -> None:
        self._server = server

    async def pair(self, address: str, code: str) -> None:
        """Pair with the phone that shows this address (host:port) and code of six digits. Raises PairingFailed."""
        _check(address)
        if not _CODE.fullmatch(code):
            raise PairingFailed(words("phone.error.pair_code"))
        await self._pair(address, code)

    async def pair_invited(self, invitation: Invitation) -> str:
        """Pair with the phone that has read the invitation's QR code, and return its address; "" if none has. Raises
        PairingFailed.
        """
        for one in await self.announced():
            if one.kind == "pairing" and one.name == invitation.name:
                await self._pair(one.address, invitation.password)
                return one.address
        return ""

    async def connect(self, address: str) -> None:
        """Connect to a paired phone at this address (host:port); it is then attached like any other. Raises
        PairingFailed.
        """
        _check(address)
        await ensure_running(self._server)
        if not await connect(self._server, address):
            raise PairingFailed(words("phone.error.pair_unconnected", address=address))

    async def announced(self) -> tuple[Announced, ...]:
        """Return the phones that announce themselves now; none if the server cannot listen for them."""
        await ensure_running(self._server)
        found = []
        for line in (await ask(self._server, "host:mdns:services", timeout=CONNECT_TIMEOUT)).splitlines():
            name, _, rest = line.partition("\t")
            kind, _, address = rest.partition("\t")
            if (known := _KINDS.get(kind.rstrip("."))) is not None and _ADDRESS.fullmatch(address.strip()):
                found.append(Announced(name, known, address.strip()))
        return tuple(found)

    async def _pair(self, address: str, secret: str) -> None:
        await ensure_running(self._server)
        answer = await ask(self._server, f"host:pair:{secret}:{address}", timeout=PAIR_TIMEOUT)
        if not answer.startswith("Successfully paired"):
            raise PairingFailed(words("phone.error.pair_refused", address=address))


def _check(address: str) -> None:
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise PairingFailed(words("phone.error.pair_address"))
