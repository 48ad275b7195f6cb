"""Tables of the fleet: hosts, invitations, which host does which run, and undelivered events. Hub and hosts use the
same tables.

The hub is the computer with the service; hosts are other computers with phones. A run is one execution of a task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Text, bindparam, delete, exists, func, literal, or_, select, true, union, update

from agent.run import RunId
from bot.store.codec import Codec
from bot.store.database import Parameters, TableAccess, Transaction, WithValues, given, in_turn, insert, upsert
from bot.store.tables.metadata import Number
from bot.store.tables.phones import (
    fleet_epochs,
    fleet_events,
    fleet_hosts,
    fleet_invites,
    fleet_runs,
    phone_hosts,
    phone_names,
    usual_phone_names,
)
from bot.store.tables.tasks import leases
from bot.store.waiting import PATIENCE_S


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A computer that has joined the fleet. Times are Unix seconds.

    - `nkey`: Its public key for signing in.
    - `seal`: Its public key for encryption.
    - `blocked`: When two machines were found to use its key; None if that has not happened since it joined.
    """

    name: str
    nkey: str
    seal: str
    joined: float
    revoked: float | None = None
    blocked: float | None = None


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run (one execution of a task) and the computer that does it.

    - `host`: Name of the host, "" for the hub itself.
    - `person`: Whom it works for.
    - `taken`: Number of an event: on the hub, of the last one that is processed (stored in the task's log); on a host,
      of the last one that it wrote.
    """

    run: RunId
    host: str
    person: str
    taken: int = 0


_HOST: Final = Codec(KnownHost, fleet_hosts)
_RUN: Final = Codec(KnownRun, fleet_runs)

_NEXT_EPOCH: Final = select(func.coalesce(func.max(fleet_epochs.c.epoch), 0) + 1).correlate(None).scalar_subquery()
_BEGIN_EPOCH: Final = insert(fleet_epochs, ()).values(epoch=_NEXT_EPOCH).returning(fleet_epochs.c.epoch)
_FORGET_EPOCHS: Final = delete(fleet_epochs).where(fleet_epochs.c.epoch < bindparam("now"))

_HOSTS: Final = select(fleet_hosts).order_by(fleet_hosts.c.name)
_JOIN: Final = upsert(fleet_hosts, _HOST.columns)
_OTHER_HOST: Final = select(fleet_hosts.c.name).where(
    given(fleet_hosts.c.nkey), fleet_hosts.c.name != bindparam("name")
)
_REVOKE: Final = (
    update(fleet_hosts)
    .where(given(fleet_hosts.c.name), fleet_hosts.c.revoked.is_(None))
    .values(revoked=bindparam("now"))
    .returning(fleet_hosts.c.name)
)
_BLOCK: Final = update(fleet_hosts).where(given(fleet_hosts.c.name)).values(blocked=bindparam("now"))

_INVITE: Final = insert(fleet_invites, fleet_invites.c.keys())
_FORGET_INVITES: Final = delete(fleet_invites).where(
    or_(given(fleet_invites.c.name), fleet_invites.c.expires <= bindparam("now"))
)
_UNINVITE: Final = delete(fleet_invites).where(given(fleet_invites.c.name))
_HOLDS: Final = (given(fleet_invites.c.digest), fleet_invites.c.expires > bindparam("now"))
_INVITED: Final = select(fleet_invites.c.name).where(*_HOLDS)
_USE_INVITE: Final = delete(fleet_invites).where(*_HOLDS).returning(fleet_invites.c.name)

_KNOWN_PHONES: Final = union(
    select(phone_names.c.phone), select(usual_phone_names.c.phone), select(leases.c.phone)
).subquery()
_HERE: Final = (
    insert(phone_hosts, ())
    .from_select(("phone", "host"), select(_KNOWN_PHONES.c.phone, literal("")).where(true()))
    .on_conflict_do_nothing()
)
_PHONE_HOSTS: Final = select(phone_hosts).order_by(phone_hosts.c.phone)
_KEEP_PHONE_HOST: Final = upsert(phone_hosts, phone_hosts.c.keys())

_RUNS: Final = select(fleet_runs).order_by(fleet_runs.c.run)
_KEEP_RUN: Final = (
    insert(fleet_runs, _RUN.columns)
    .on_conflict_do_update(index_elements=[fleet_runs.c.run], set_={"run": fleet_runs.c.run})
    .returning(fleet_runs)
)
_THAT_RUN: Final = given(fleet_runs.c.run)
_FORGET_RUN: Final = delete(fleet_runs).where(_THAT_RUN)
_NEXT_EVENT: Final = (
    update(fleet_runs).where(_THAT_RUN).values(taken=fleet_runs.c.taken + 1).returning(fleet_runs.c.taken)
)
_TAKEN: Final = update(fleet_runs).where(_THAT_RUN, fleet_runs.c.taken < bindparam("n")).values(taken=bindparam("n"))

_WRITE_EVENT: Final = insert(fleet_events, fleet_events.c.keys())
_RECEIVE_EVENT: Final = (
    insert(fleet_events, ())
    .from_select(
        ("run", "n", "body"),
        select(bindparam("run", type_=Text()), bindparam("n", type_=Number), bindparam("body", type_=Text())).where(
            exists().where(_THAT_RUN, fleet_runs.c.taken < bindparam("n"))
        ),
    )
    .on_conflict_do_nothing()
)
_FORGET_EVENTS: Final = delete(fleet_events).where(given(fleet_events.c.run))
_DROP_EVENTS: Final = _FORGET_EVENTS.where(fleet_events.c.n <= bindparam("n"))
_EVENTS: Final = select(fleet_events).order_by(fleet_events.c.run, fleet_events.c.n)
_EVENTS_OF_RUN: Final = _EVENTS.where(given(fleet_events.c.run))


class FleetTable(TableAccess):
    """The tables of the fleet: hosts, invitations, phones, runs and undelivered events."""

    async def begin_epoch(self) -> int:
        """Return the number of this start of the service, higher than that of every start before."""

        async def work(transaction: Transaction) -> int:
            rows = await transaction.fetch(_BEGIN_EPOCH)
            await transaction.fetch(_FORGET_EPOCHS, {"now": rows[0]["epoch"]})
            return int(rows[0]["epoch"])

        return await self._database.write(work)

    async def hosts(self) -> tuple[KnownHost, ...]:
        """Return every host that ever joined, by name. A host that joined again under its name is listed once."""
        return _HOST.read_all(await self._database.fetch(_HOSTS))

    async def invite(self, digest: str, name: str, *, expires: float, now: float) -> None:
        """Store an invitation for a host of this name. Earlier invitations for the name, and expired ones, are
        deleted.

        `digest` is the hash of the invitation's secret; times are Unix seconds.
        """

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(_FORGET_INVITES, {"name": name, "now": now})
            await transaction.fetch(_INVITE, {"digest": digest, "name": name, "expires": expires})

        await self._database.write(work)

    async def invited(self, digest: str, *, now: float) -> str:
        """Return the host name of this invitation; "" if it does not exist or has expired."""
        rows = await self._database.fetch(_INVITED, {"digest": digest, "now": now})
        return str(rows[0]["name"]) if rows else ""

    async def join(self, digest: str, nkey: str, seal: str, *, now: float) -> KnownHost | None:
        """Add a host that presents this invitation, and delete the invitation.

        Returns None when the invitation is not valid, or when the key belongs to another host.
        """

        async def work(transaction: Transaction) -> KnownHost | None:
            rows = await transaction.fetch(_USE_INVITE, {"digest": digest, "now": now})
            if not rows or await transaction.fetch(_OTHER_HOST, {"nkey": nkey, "name": rows[0]["name"]}):
                return None
            host = KnownHost(rows[0]["name"], nkey, seal, now)
            await transaction.fetch(_JOIN, _HOST.values(host))
            return host

        return await self._database.write(work)

    async def revoke(self, name: str, *, now: float) -> bool:
        """Revoke a host and delete its invitations. Returns False if there is no unrevoked host of this name."""

        async def work(transaction: Transaction) -> bool:
            await transaction.fetch(_UNINVITE, {"name": name})
            return bool(await transaction.fetch(_REVOKE, {"name": name, "now": now}))

        return await self._database.write(work)

    async def block(self, name: str, *, now: float) -> None:
        """Mark the host's key as blocked, so that it is refused until the host joins again."""
        await self._database.execute(_BLOCK, {"name": name, "now": now}, patience=PATIENCE_S)

    async def phone_hosts(self) -> dict[str, str]:
        """Return the host of each known phone by phone id. Known phones that no host has are recorded as the hub's own
        ("").
        """

        async def work(transaction: Transaction) -> dict[str, str]:
            await transaction.fetch(_HERE)
            rows = await transaction.fetch(_PHONE_HOSTS)
            return {row["phone"]: row["host"] for row in rows}

        return await self._database.write(work)

    async def keep_phone_hosts(self, hosts: Mapping[str, str]) -> None:
        """Store which host each of these phones belongs to."""
        rows = ((_KEEP_PHONE_HOST, {"phone": phone, "host": host}) for phone, host in hosts.items())
        await self._database.write(in_turn(*rows), patience=PATIENCE_S)

    async def runs(self) -> tuple[KnownRun, ...]:
        """Return all stored runs."""
        return _RUN.read_all(await self._database.fetch(_RUNS))

    async def keep_run(self, run: RunId, host: str, person: str) -> KnownRun:
        """Store which host does a run, and return it. A run that is stored already is returned unchanged."""
        known = _RUN.values(KnownRun(run, host, person))
        return _RUN.read((await self._database.execute(_KEEP_RUN, known, patience=PATIENCE_S))[0])

    async def forget_run(self, run: RunId) -> None:
        """Delete a run that is over, with its undelivered events."""
        that: Parameters = {"run": str(run)}
        await self._database.write(in_turn((_FORGET_RUN, that), (_FORGET_EVENTS, that)), patience=PATIENCE_S)

    async def write_event(self, run: RunId, body: str) -> int:
        """Store an event of a run that this host does and return its number, from 1 on; 0 if the run is not stored.
        Waits without limit while the database cannot be written.
        """

        async def work(transaction: Transaction) -> int:
            rows = await transaction.fetch(_NEXT_EVENT, {"run": str(run)})
            if not rows:
                return 0
            number = int(rows[0]["taken"])
            await transaction.fetch(_WRITE_EVENT, {"run": str(run), "n": number, "body": body})
            return number

        return await self._database.write(work, patience=float("inf"))

    async def receive_events(self, events: Mapping[tuple[RunId, int], str]) -> None:
        """Store events that hosts have reported, by run and number. Skipped are those that were stored or processed
        before, and those of runs that are not stored. Waits without limit while the database cannot be written.
        """
        rows: list[WithValues] = [
            (_RECEIVE_EVENT, {"run": str(run), "n": n, "body": body}) for (run, n), body in events.items()
        ]
        await self._database.write(in_turn(*rows), patience=float("inf"))

    async def take_events(self, taken: Mapping[RunId, int]) -> None:
        """Record that the events of these runs up to these numbers are processed by the hub, and delete them."""
        rows: list[WithValues] = [
            (each, {"run": str(run), "n": n}) for run, n in taken.items() for each in (_TAKEN, _DROP_EVENTS)
        ]
        await self._database.write(in_turn(*rows), patience=PATIENCE_S)

    async def drop_events(self, arrived: Mapping[RunId, int]) -> None:
        """Delete the events of these runs up to these numbers, because they have arrived at the hub."""
        rows: list[WithValues] = [(_DROP_EVENTS, {"run": str(run), "n": n}) for run, n in arrived.items()]
        await self._database.write(in_turn(*rows))

    async def events(self, run: RunId | None = None) -> tuple[tuple[RunId, int, str], ...]:
        """Return the stored events of one run, or of all, as (run, number, body), ordered by run and number: on a host,
        those that have not arrived at the hub; on the hub, those that are not processed.
        """
        rows = await self._database.fetch(_EVENTS if run is None else _EVENTS_OF_RUN, {"run": str(run)})
        return tuple((RunId.parse(row["run"]), row["n"], row["body"]) for row in rows)
