"""Checks which pictures and files a person may load. They are stored by content, so knowing a reference gives no
access.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from sqlalchemy import Text, bindparam, delete, exists, func, or_, select

from bot.domain.address import Address, Person
from bot.store.connection import Database, Parameters, Transaction
from bot.store.engine import JsonField, JsonPart, Listed, accounts_text, given, is_of, upsert
from bot.store.tables.chats import questions
from bot.store.tables.people import console_messages, handed_in
from bot.store.tables.tasks import steps, task_events, tasks

KEPT_S: Final = 14 * 86400.0
"""Seconds for which it is stored who uploaded a file. Our choice: as long as files are kept (`KEEP_DAYS`)."""

_CONTENT: Final = bindparam("content", type_=Text())


_STEP: Final = select(steps.c.task).where(
    # As in the index.
    steps.c.frame.is_not(None),
    func.substr(steps.c.frame, 1, 12) == func.substr(_CONTENT, 1, 12),
    # Not the bare column: SQLite would then go through the index from its beginning to its end.
    steps.c.frame + "" == _CONTENT,
)
_SHOWN_FILES: Final = Listed(JsonPart(console_messages.c.content, "files")).table_valued("value")
_HAS: Final = select(
    or_(
        exists().where(handed_in.c.content == _CONTENT, is_of(handed_in, "people")),
        exists().where(tasks.c.id.in_(_STEP), is_of(tasks, "people")),
        exists().where(is_of(tasks, "people"), tasks.c.frame == _CONTENT),
        exists()
        .select_from(tasks.join(questions))
        .where(
            is_of(tasks, "people"),
            or_(
                JsonField(questions.c.question, "frame") == _CONTENT,
                JsonField(questions.c.question, "before") == _CONTENT,
            ),
        ),
        exists()
        .select_from(tasks.join(task_events))
        .where(
            is_of(tasks, "people"),
            task_events.c.kind == "file",
            JsonField(task_events.c.data, "content") == _CONTENT,
        ),
        exists().where(
            given(console_messages.c.owner),
            func.instr(console_messages.c.content, _CONTENT) > 0,
            or_(
                JsonField(console_messages.c.content, "picture") == _CONTENT,
                exists().select_from(_SHOWN_FILES).where(JsonField(_SHOWN_FILES.c.value, "reference") == _CONTENT),
            ),
        ),
    )
)
_HANDED_IN: Final = upsert(handed_in, handed_in.c.keys())
_FORGET: Final = delete(handed_in).where(handed_in.c.at < bindparam("oldest"))


class OwnFiles:
    """Finds out, from the tables of tasks, events, questions and messages, which files a person was shown or has
    uploaded.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def handed_in(self, content: str, person: Person) -> None:
        """Record that this person uploaded the file with the reference `content`. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            now = self._clock()
            await transaction.fetch(_FORGET, {"oldest": now - KEPT_S})
            values: Parameters = {
                "content": content,
                "person_platform": person.platform,
                "person_id": person.id,
                "at": now,
            }
            await transaction.fetch(_HANDED_IN, values)

        await self._database.write(work)

    async def has(self, content: str, accounts: Collection[Person], home: Address) -> bool:
        """Return whether a person with these accounts has uploaded the file with the reference `content`, or was shown
        it.

        The person was shown it if it was part of their tasks, or was sent to the console of the account at `home`.
        Raises StoreError.
        """
        people = accounts_text(accounts)
        rows = await self._database.fetch(_HAS, {"content": content, "people": people, "owner": home.chat})
        return bool(rows[0][0])
