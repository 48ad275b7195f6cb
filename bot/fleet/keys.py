"""The keys of a fleet: hub and hosts sign in to the engine (message broker) with them, and secrets are encrypted for a
host.

The files are private to the computer: whoever has them can act as that hub or host.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

import nacl.exceptions
import nacl.public
import nacl.signing
import nkeys

from devices.atomic_file import write_atomically

_ED25519: Final = {"typ": "JWT", "alg": "ed25519-nkey"}


class KeysLost(Exception):
    """A file with keys is missing or damaged."""


def new_seed(prefix: int) -> str:
    """Create the secret seed of a new key pair. `prefix` says whether it is for a user or an account of the engine
    (message broker).
    """
    seed: bytes = nkeys.encode_seed(os.urandom(32), prefix)
    return seed.decode()


def public_of(seed: str) -> str:
    """Return the public key that belongs to a secret seed."""
    public: bytes = nkeys.from_seed(bytearray(seed.encode())).public_key
    return public.decode()


def is_signed(public: str, text: str, signature: str) -> bool:
    """Return whether the text was signed with this key. The signature is base64, with or without padding."""
    try:
        raw = base64.b32decode(public)[1:33]
        signed = base64.urlsafe_b64decode(signature.translate(str.maketrans("+/", "-_")) + "==")
        nacl.signing.VerifyKey(raw).verify(text.encode(), signed)
    except (ValueError, nacl.exceptions.CryptoError):
        return False
    return True


def signed_claims(claims: dict[str, Any], seed: str) -> str:
    """Return a JWT for the engine (message broker) with these claims, signed with the account's secret seed."""
    body = claims | {"iss": public_of(seed), "iat": int(time.time())}
    digest = hashlib.sha256(json.dumps(body, separators=(",", ":")).encode()).digest()
    body["jti"] = base64.b32encode(digest).decode().rstrip("=")
    told = f"{_part(_ED25519)}.{_part(body)}"
    signature: bytes = nkeys.from_seed(bytearray(seed.encode())).sign(told.encode())
    return f"{told}.{_base64(signature)}"


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a JWT without checking its signature. Raises ValueError."""
    parts = token.split(".")
    if len(parts) != 3:
        raise ValueError("not a JWT")
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(parts[1] + "=="))
    return claims


def _part(value: dict[str, Any]) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def sealed_for(seal: str, value: str) -> str:
    """Encrypt a secret so that only the host with the public key `seal` can read it. Returns base64."""
    box = nacl.public.SealedBox(nacl.public.PublicKey(bytes.fromhex(seal)))
    return base64.b64encode(box.encrypt(value.encode())).decode()


def new_code() -> str:
    """Create a random code for an invitation."""
    return secrets.token_urlsafe(18)


def digest_of(code: str) -> str:
    """Return the hash of an invitation's code; only the hash is stored."""
    return hashlib.sha256(code.encode()).hexdigest()


@dataclass(frozen=True)
class HubKeys:
    """The secret keys of a hub.

    - `user`: Signs in to the engine (message broker).
    - `issuer`: Signs the admission of hosts.
    - `system`: May close connections of the engine.
    """

    user: str
    issuer: str
    system: str

    def __repr__(self) -> str:
        return "HubKeys(…)"

    @classmethod
    def kept(cls, path: Path) -> HubKeys:
        """Load the keys from the file, creating it if it does not exist. Raises KeysLost if it is damaged."""
        if not path.exists():
            prefixes = (nkeys.PREFIX_BYTE_USER, nkeys.PREFIX_BYTE_ACCOUNT, nkeys.PREFIX_BYTE_USER)
            _write(path, cls(*map(new_seed, prefixes)))
        return _read(path, cls)


@dataclass(frozen=True)
class HostKeys:
    """The keys of a host, with its name and the URL of the engine (message broker).

    - `user`: Secret key that signs in to the engine.
    - `box`: Secret key that decrypts what was encrypted for this host.
    """

    name: str
    url: str
    user: str
    box: str

    def __repr__(self) -> str:
        return f"HostKeys({self.name})"

    @classmethod
    def new(cls, name: str, url: str) -> HostKeys:
        """Create new keys for a host of this name."""
        box = bytes(nacl.public.PrivateKey.generate()).hex()
        return cls(name, url, new_seed(nkeys.PREFIX_BYTE_USER), box)

    @classmethod
    def kept(cls, path: Path) -> HostKeys | None:
        """Load the keys from the file; None if it does not exist. Raises KeysLost if it is damaged."""
        return _read(path, cls) if path.exists() else None

    def keep(self, path: Path) -> None:
        """Write the keys to a file that only this user can read."""
        _write(path, self)

    @property
    def seal(self) -> str:
        """The public key with which secrets are encrypted for this host."""
        return bytes(nacl.public.PrivateKey(bytes.fromhex(self.box)).public_key).hex()

    def opened(self, sealed: str) -> str:
        """Decrypt a secret that was encrypted for this host. Raises ValueError if it is for another host."""
        box = nacl.public.SealedBox(nacl.public.PrivateKey(bytes.fromhex(self.box)))
        try:
            return box.decrypt(base64.b64decode(sealed)).decode()
        except nacl.exceptions.CryptoError as error:
            raise ValueError("this secret is for another host") from error


Keys = TypeVar("Keys", HubKeys, HostKeys)


def _write(path: Path, keys: HubKeys | HostKeys) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(asdict(keys)).encode())


def _read(path: Path, kind: type[Keys]) -> Keys:
    try:
        read = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise KeysLost(f"{path} cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise KeysLost(f"{path} holds no keys")
    try:
        return kind(**{field.name: str(read[field.name]) for field in fields(kind)})
    except KeyError as missing:
        raise KeysLost(f"{path} has no {missing}") from None
