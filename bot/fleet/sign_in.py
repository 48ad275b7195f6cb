"""Decides which computers may sign in to the engine (message broker), which asks the hub about every unknown key (auth
callout).

A host that has joined signs in with its key and may use only its own subjects. An invitation's code allows its bearer
to submit public keys, once.
"""

from __future__ import annotations

import json
import logging
import time
from typing import Any, Final

from pydantic import ValidationError

from bot.fleet.engine import Address, Connect, Delivery, EngineAway, EngineRefused, Link
from bot.fleet.keys import HostKeys, HubKeys, claims_of, digest_of, is_signed, public_of, signed_claims
from bot.fleet.messages import (
    INVITATION_MINUTES,
    JOIN,
    PRESENCE,
    Reply,
    Wish,
    asked_by,
    asked_of,
    beats_to,
    events_of,
    inbox_of,
    pulse_of,
    read_reply,
)
from bot.fleet.nats_engine import connected
from bot.store.fleet import FleetTable, KnownHost

logger = logging.getLogger(__name__)

CALLOUT: Final = "$SYS.REQ.USER.AUTH"
ACCOUNT: Final = "FLEET"
"""The engine's account for hub and hosts."""
JOIN_INBOX: Final = "_INBOX_join"


def delivery_of(host: str) -> str:
    """Return the subject (NATS message address) at which the engine (message broker) delivers a host's orders."""
    return f"fleet.deliver.{host}"


def permissions_of(host: str) -> dict[str, Any]:
    """Return the permissions of a host in the form of NATS: it may use only its own subjects.

    It may use none that the engine itself answers, because the engine would send the answer wherever the host wants,
    with unlimited rights.
    """
    says = [events_of(host, "*"), pulse_of(host), asked_by(host), f"$KV.{PRESENCE}.{host}"]
    hears = [beats_to(host), asked_of(host), delivery_of(host), f"{inbox_of(host)}.>"]
    # It may reply once to a request, at the subject that the hub chose.
    return {"pub": {"allow": says}, "sub": {"allow": hears}, "resp": {"max": 1, "ttl": 60_000_000_000}}


JOINING: Final = {"pub": {"allow": [JOIN]}, "sub": {"allow": [f"{JOIN_INBOX}.>"]}}


class JoinRefused(EngineAway):
    """The hub did not accept the invitation."""


async def join(url: str, name: str, code: str, *, connect: Connect = connected) -> HostKeys:
    """Join a hub with the code of an invitation, and return the new host's keys. Raises EngineAway, and JoinRefused if
    the code is not valid.
    """
    made = HostKeys.new(name, url)
    wish = Wish(code=code, nkey=public_of(made.user), seal=made.seal)
    try:
        async with connect(Address(url, "join", JOIN_INBOX, code=code)) as link:
            reply, _ = read_reply(await link.request(JOIN, wish.model_dump_json().encode()))
    except EngineRefused as refused:
        raise JoinRefused("It does not hold, or not any more.") from refused
    if reply.error:
        raise JoinRefused(reply.error)
    return made


class SignIn:
    """Answers the sign-in requests of the engine (message broker), and admits hosts that join."""

    def __init__(self, keys: HubKeys, table: FleetTable) -> None:
        self._keys = keys
        self._table = table

    async def listen(self, link: Link) -> None:
        """Answer the requests of nats-server, on this connection, whether a host of the fleet may connect."""
        await link.listen(CALLOUT, self._asked)

    async def invite(self, name: str, code: str) -> None:
        """Allow a host to join under this name with this code, once and within ten minutes."""
        now = time.time()
        await self._table.invite(digest_of(code), name, expires=now + INVITATION_MINUTES * 60, now=now)

    async def join(self, delivery: Delivery) -> KnownHost | None:
        """Admit the host whose request to join this is, and return it.

        Returns None if the request cannot be read or its code is not valid, in which case the reason is sent to it, or
        if the answer would not go to the inbox of joining hosts.
        """
        if not delivery.reply.startswith(f"{JOIN_INBOX}."):
            return None
        try:
            wish = Wish.model_validate_json(delivery.data)
        except ValidationError:
            await delivery.answer(Reply(error="This is no wish to join.").bytes())
            return None
        joined = await self._table.join(digest_of(wish.code), wish.nkey, wish.seal, now=time.time())
        if joined is None:
            await delivery.answer(Reply(error="This invitation does not hold any more.").bytes())
        return joined

    async def _asked(self, delivery: Delivery) -> None:
        try:
            asked = claims_of(delivery.data.decode())["nats"]
            user, server = str(asked["user_nkey"]), str(asked["server_id"]["id"])
            options, client = asked.get("connect_opts", {}), asked.get("client_info", {})
        except (ValueError, KeyError, TypeError) as error:
            logger.warning("The engine sent a sign-in request that could not be understood: %s", error)
            return
        let_in = await self._let_in(options, client)
        answer: dict[str, Any] = {"type": "authorization_response", "version": 2}
        if let_in is None:
            answer["error"] = "not let in"
        else:
            name, permissions = let_in
            rights = permissions | {"subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2}
            answer["jwt"] = signed_claims(
                {"sub": user, "aud": ACCOUNT, "name": name, "nats": rights}, self._keys.issuer
            )
        claims = {"sub": user, "aud": server, "nats": answer}
        await delivery.answer(signed_claims(claims, self._keys.issuer).encode())

    async def _let_in(self, options: dict[str, Any], client: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return the name and permissions for a client, None if it is not admitted."""
        if options.get("user") == "join":
            code = str(options.get("pass", ""))
            held = await self._table.invited(digest_of(code), now=time.time())
            return ("join", dict(JOINING)) if held else None
        key, signature = str(options.get("nkey", "")), str(options.get("sig", ""))
        nonce = str(client.get("nonce", ""))
        known = next((host for host in await self._table.hosts() if host.nkey == key), None)
        if known is None or known.revoked is not None or not nonce or not is_signed(key, nonce, signature):
            logger.warning("A client that is not a host of this fleet was refused by the engine.")
            return None
        if known.blocked is not None:
            logger.warning(
                "The host %s was refused because two machines have used its key. Revoke it and invite it again.",
                known.name,
            )
            return None
        return known.name, permissions_of(known.name)


async def disconnect(connect: Connect, system: Address, host: str) -> None:
    """Close all connections that were admitted as this host; if the engine is away, only log that. `system` is the
    address with which the hub may do that.

    The engine is asked for the connections, because there may be two with one key, or some from before the hub's last
    start.
    """
    asked = json.dumps({"auth": True, "user": host, "limit": 1024}).encode()
    try:
        async with connect(system) as link:
            told = json.loads(await link.request("$SYS.REQ.SERVER.PING.CONNZ", asked))["data"]
            for connection in told["connections"]:
                body = json.dumps({"cid": connection["cid"]}).encode()
                await link.request(f"$SYS.REQ.SERVER.{told['server_id']}.KICK", body)
    except EngineAway as away:
        logger.warning("The connections of the host %s were not closed, but its messages are ignored: %s", host, away)


def server_configuration(
    keys: HubKeys,
    *,
    store: str,
    port: int = 4222,
    host: str,
    tls: tuple[str, str] = ("", ""),
    websocket: int = 0,
) -> str:
    """Return the text of the configuration file for this hub's nats-server.

    - `store`: The server's data directory.
    - `tls`: The files with a certificate and its key; "" for no encryption.
    - `websocket`: The port for WebSocket connections; 0 for none.
    """
    certificate, key = tls
    secure = f'tls {{ cert_file: "{certificate}", key_file: "{key}" }}' if certificate else ""
    socket = ""
    if websocket:
        inside = secure or "no_tls: true"
        socket = f'websocket {{ host: "{host}", port: {websocket}, {inside} }}'
    user, system = public_of(keys.user), public_of(keys.system)
    return f"""# nats-server 2.10 or newer
server_name: opengui
host: "{host}"
port: {port}
{secure}
{socket}
max_payload: 1MB
jetstream {{ store_dir: "{store}" }}
system_account: SYS
accounts {{
  {ACCOUNT} {{ jetstream: enabled, users: [ {{ nkey: {user} }} ] }}
  SYS {{ users: [ {{ nkey: {system} }} ] }}
}}
authorization {{
  timeout: 5
  auth_callout {{ issuer: {public_of(keys.issuer)}, auth_users: [ {user}, {system} ], account: {ACCOUNT} }}
}}
"""
