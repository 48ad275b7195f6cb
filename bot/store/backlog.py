"""The table of what was written while the service was away."""

from __future__ import annotations

import json
import sqlite3

from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.backlog import Late, Missed
from bot.domain.incoming import CommandCall
from bot.store.connection import Transaction, Value
from bot.store.database import Database
from bot.store.json_columns import (
    address_of,
    address_text,
    files_of,
    files_text,
    json_text,
    message_of,
    message_text,
    row_number,
)

KEEP_SECONDS = 7 * 86400.0
"""How long something can still be pressed for; ours."""


class MissedTable:
    """What was missed, in the order in which it came."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, late: Late, *, now: float) -> bool:
        """Keep it, and forget what is too old. False when its event is kept already."""

        async def work(transaction: Transaction) -> bool:
            await transaction.fetch("DELETE FROM missed WHERE written < ?", (now - KEEP_SECONDS,))
            return bool(
                await transaction.fetch(
                    "INSERT INTO missed (person_platform, person_id, person_name, person_language, place, private,"
                    " event, message, text, prefix, command, options, rest, files, written)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1",
                    (
                        late.person.platform,
                        late.person.id,
                        late.person.name,
                        late.person.language,
                        address_text(late.place.address),
                        int(late.place.private),
                        late.event,
                        "" if late.message is None else late.message.message,
                        late.text,
                        late.prefix,
                        late.call.name,
                        json_text(dict(late.call.options)),
                        late.call.rest,
                        files_text(late.files),
                        late.written,
                    ),
                )
            )

        return await self._database.write(work)

    async def get(self, missed: str) -> Missed | None:
        """The one with this number, None when there is none (any more)."""
        number = row_number(missed)
        if number is None:
            return None
        found = await self._all("SELECT * FROM missed WHERE id = ?", number)
        return found[0] if found else None

    async def unlisted(self) -> tuple[Address, ...]:
        """The places where something is still to be listed."""
        rows = await self._database.fetch(
            "SELECT place FROM missed WHERE listed IS NULL GROUP BY place ORDER BY MIN(id)"
        )
        return tuple(address_of(row["place"]) for row in rows)

    async def to_list(self, place: Address) -> tuple[Missed, ...]:
        """What is to be listed there."""
        return await self._all(
            "SELECT * FROM missed WHERE listed IS NULL AND place = ? ORDER BY id", address_text(place)
        )

    async def listed_in(self, message: MessageRef) -> tuple[Missed, ...]:
        """What that message lists."""
        return await self._all("SELECT * FROM missed WHERE listed = ? ORDER BY id", message_text(message))

    async def list_in(self, missed: tuple[Missed, ...], message: MessageRef) -> None:
        """Keep that these stand in that message now."""

        async def work(transaction: Transaction) -> None:
            for one in missed:
                await transaction.fetch(
                    "UPDATE missed SET listed = ? WHERE id = ?", (message_text(message), int(one.id))
                )

        await self._database.write(work)

    async def forget(self, missed: tuple[Missed, ...]) -> None:
        """There is no place to list them any more."""

        async def work(transaction: Transaction) -> None:
            for one in missed:
                await transaction.fetch("DELETE FROM missed WHERE id = ?", (int(one.id),))

        await self._database.write(work)

    async def claim(self, missed: str) -> bool:
        """Mark one as being done; False when somebody was faster."""
        return await self._change("UPDATE missed SET done = 1 WHERE id = ? AND done = 0 RETURNING 1", int(missed))

    async def release(self, missed: str) -> None:
        """Mark one that could not be done after all: it may be pressed for again."""
        await self._change("UPDATE missed SET done = 0 WHERE id = ?", int(missed))

    async def _all(self, sql: str, *values: Value) -> tuple[Missed, ...]:
        return tuple(_missed(row) for row in await self._database.fetch(sql, values))

    async def _change(self, sql: str, *values: Value) -> bool:
        async def work(transaction: Transaction) -> bool:
            return bool(await transaction.fetch(sql, values))

        return await self._database.write(work)


def _missed(row: sqlite3.Row) -> Missed:
    place = Place(address_of(row["place"]), private=bool(row["private"]))
    return Missed(
        id=str(row["id"]),
        late=Late(
            person=Person(row["person_platform"], row["person_id"], row["person_name"], row["person_language"]),
            place=place,
            event=row["event"],
            message=MessageRef(place.address, row["message"]) if row["message"] else None,
            text=row["text"],
            prefix=row["prefix"],
            call=CommandCall(row["command"], json.loads(row["options"]), row["rest"]),
            files=files_of(row["files"]),
            written=row["written"],
        ),
        listed=None if row["listed"] is None else message_of(row["listed"]),
        done=bool(row["done"]),
    )
