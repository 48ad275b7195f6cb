"""Hosts, their invitations, the runs that they do, and events on their way. One set of tables serves hub and host."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from agent.run_id import RunId
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.waiting import PATIENCE_S


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host that has joined. `nkey` and `seal` are its public keys; `joined`, `revoked` and `blocked`, the moment when
    two machines were found to use its key, are Unix seconds.
    """

    name: str
    nkey: str
    seal: str
    joined: float
    revoked: float | None = None
    blocked: float | None = None


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run and who does it: a host, or "" for the hub itself. `taken` is the number of its last event in the record,
    with a host that of the last one it wrote.
    """

    run: RunId
    host: str
    person: str
    taken: int = 0


class FleetTable:
    """The tables of a fleet."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin_epoch(self) -> int:
        """The number of this start, higher than that of every one before."""

        async def work(transaction: Transaction) -> int:
            rows = await transaction.fetch("INSERT INTO fleet_epochs DEFAULT VALUES RETURNING epoch")
            await transaction.fetch("DELETE FROM fleet_epochs WHERE epoch < ?", (rows[0]["epoch"],))
            return int(rows[0]["epoch"])

        return await self._database.write(work)

    async def hosts(self) -> tuple[KnownHost, ...]:
        """Every host that ever joined, by name; one that joined anew under its name is there once."""
        rows = await self._database.fetch(
            "SELECT name, nkey, seal, joined, revoked, blocked FROM fleet_hosts ORDER BY name"
        )
        return tuple(_host(row) for row in rows)

    async def invite(self, digest: str, name: str, *, expires: float, now: float) -> None:
        """Keep an invitation; one for the same name before it, and those that are over, count no more."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM fleet_invites WHERE name = ? OR expires <= ?", (name, now))
            await transaction.fetch(
                "INSERT INTO fleet_invites (digest, name, expires) VALUES (?, ?, ?)", (digest, name, expires)
            )

        await self._database.write(work)

    async def invited(self, digest: str, *, now: float) -> str:
        """The name for which this invitation still holds, "" for none."""
        rows = await self._database.fetch(
            "SELECT name FROM fleet_invites WHERE digest = ? AND expires > ?", (digest, now)
        )
        return str(rows[0]["name"]) if rows else ""

    async def join(self, digest: str, nkey: str, seal: str, *, now: float) -> KnownHost | None:
        """Let a host in with its invitation, which is used up by that; None when it does not hold, or when
        the key is that of another host.
        """

        async def work(transaction: Transaction) -> KnownHost | None:
            rows = await transaction.fetch(
                "DELETE FROM fleet_invites WHERE digest = ? AND expires > ? RETURNING name", (digest, now)
            )
            others = "SELECT 1 FROM fleet_hosts WHERE nkey = ? AND name <> ?"
            if not rows or await transaction.fetch(others, (nkey, rows[0]["name"])):
                return None
            await transaction.fetch(
                "INSERT OR REPLACE INTO fleet_hosts (name, nkey, seal, joined) VALUES (?, ?, ?, ?)",
                (rows[0]["name"], nkey, seal, now),
            )
            return KnownHost(rows[0]["name"], nkey, seal, now)

        return await self._database.write(work)

    async def revoke(self, name: str, *, now: float) -> bool:
        """End a host, and what was kept to invite it. False when there is none of this name."""

        async def work(transaction: Transaction) -> bool:
            await transaction.fetch("DELETE FROM fleet_invites WHERE name = ?", (name,))
            rows = await transaction.fetch(
                "UPDATE fleet_hosts SET revoked = ? WHERE name = ? AND revoked IS NULL RETURNING 1", (now, name)
            )
            return bool(rows)

        return await self._database.write(work)

    async def block(self, name: str, *, now: float) -> None:
        """Let nobody in with the key of this host, until it is invited anew."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("UPDATE fleet_hosts SET blocked = ? WHERE name = ?", (now, name))

        await self._database.write(work, patience=PATIENCE_S)

    async def phone_hosts(self) -> dict[str, str]:
        """The host of each phone, "" for this machine, which has every phone that is known and that no host has."""

        async def work(transaction: Transaction) -> dict[str, str]:
            await transaction.fetch(
                "INSERT OR IGNORE INTO phone_hosts (phone, host) SELECT phone, '' FROM phone_names"
                " UNION SELECT phone, '' FROM usual_phone_names UNION SELECT phone, '' FROM leases"
            )
            rows = await transaction.fetch("SELECT phone, host FROM phone_hosts ORDER BY phone")
            return {row["phone"]: row["host"] for row in rows}

        return await self._database.write(work)

    async def keep_phone_hosts(self, hosts: Mapping[str, str]) -> None:
        """From now on these phones belong to these hosts."""

        async def work(transaction: Transaction) -> None:
            for phone, host in hosts.items():
                await transaction.fetch(
                    "INSERT INTO phone_hosts (phone, host) VALUES (?, ?)"
                    " ON CONFLICT (phone) DO UPDATE SET host = excluded.host",
                    (phone, host),
                )

        await self._database.write(work, patience=PATIENCE_S)

    async def runs(self) -> tuple[KnownRun, ...]:
        """Every run that is known."""
        rows = await self._database.fetch("SELECT run, host, person, taken FROM fleet_runs ORDER BY run")
        return tuple(KnownRun(RunId.parse(row["run"]), row["host"], row["person"], row["taken"]) for row in rows)

    async def keep_run(self, run: RunId, host: str, person: str) -> KnownRun:
        """Keep who does the run; one that is known stays with whom it is."""

        async def work(transaction: Transaction) -> KnownRun:
            rows = await transaction.fetch(
                "INSERT INTO fleet_runs (run, host, person) VALUES (?, ?, ?)"
                " ON CONFLICT (run) DO UPDATE SET run = run RETURNING host, person, taken",
                (str(run), host, person),
            )
            return KnownRun(run, rows[0]["host"], rows[0]["person"], rows[0]["taken"])

        return await self._database.write(work, patience=PATIENCE_S)

    async def forget_run(self, run: RunId) -> None:
        """The run is over, and whatever of it was on its way."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM fleet_runs WHERE run = ?", (str(run),))
            await transaction.fetch("DELETE FROM fleet_events WHERE run = ?", (str(run),))

        await self._database.write(work, patience=PATIENCE_S)

    async def write_event(self, run: RunId, body: str) -> int:
        """Keep an event of a run that this host does; its number, from 1. A full disk is waited for."""

        async def work(transaction: Transaction) -> int:
            rows = await transaction.fetch(
                "UPDATE fleet_runs SET taken = taken + 1 WHERE run = ? RETURNING taken", (str(run),)
            )
            if not rows:
                return 0
            number = int(rows[0]["taken"])
            await transaction.fetch(
                "INSERT INTO fleet_events (run, n, body) VALUES (?, ?, ?)", (str(run), number, body)
            )
            return number

        return await self._database.write(work, patience=float("inf"))

    async def receive_events(self, events: Mapping[tuple[RunId, int], str]) -> None:
        """Keep what hosts have told, each once: what is in the record, or here, is not kept again."""

        async def work(transaction: Transaction) -> None:
            for (run, number), body in events.items():
                await transaction.fetch(
                    "INSERT INTO fleet_events (run, n, body) SELECT ?1, ?2, ?3 WHERE EXISTS"
                    " (SELECT 1 FROM fleet_runs WHERE run = ?1 AND taken < ?2) ON CONFLICT DO NOTHING",
                    (str(run), number, body),
                )

        await self._database.write(work, patience=float("inf"))

    async def take_events(self, taken: Mapping[RunId, int]) -> None:
        """The events of these runs up to these numbers are in the record."""

        async def work(transaction: Transaction) -> None:
            for run, number in taken.items():
                await transaction.fetch("UPDATE fleet_runs SET taken = MAX(taken, ?) WHERE run = ?", (number, str(run)))
                await transaction.fetch("DELETE FROM fleet_events WHERE run = ? AND n <= ?", (str(run), number))

        await self._database.write(work, patience=PATIENCE_S)

    async def drop_events(self, arrived: Mapping[RunId, int]) -> None:
        """The events of these runs up to these numbers have arrived: a host need not keep them."""

        async def work(transaction: Transaction) -> None:
            for run, number in arrived.items():
                await transaction.fetch("DELETE FROM fleet_events WHERE run = ? AND n <= ?", (str(run), number))

        await self._database.write(work)

    async def events(self, run: RunId | None = None) -> tuple[tuple[RunId, int, str], ...]:
        """What is on its way, of one run or of all, in order."""
        rows = await self._database.fetch(
            "SELECT run, n, body FROM fleet_events WHERE ?1 IS NULL OR run = ?1 ORDER BY run, n",
            (None if run is None else str(run),),
        )
        return tuple((RunId.parse(row["run"]), row["n"], row["body"]) for row in rows)


def _host(row: sqlite3.Row) -> KnownHost:
    return KnownHost(row["name"], row["nkey"], row["seal"], row["joined"], row["revoked"], row["blocked"])
