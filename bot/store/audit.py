"""The audit log: which person did what (gave a task, answered a question, changed a right, was refused), and when.

People without any right are not recorded here, only counted (`bot.store.totals`). Secret texts are never stored in
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict
from sqlalchemy import bindparam, delete, select

from bot.domain.address import Person
from bot.store.codec import Codec
from bot.store.database import TimedTableAccess, Transaction, insert
from bot.store.tables.metadata import Number
from bot.store.tables.people import audit

KEPT = 100_000
"""Number of entries that are stored; the oldest are deleted first, so that refused people cannot fill the disk."""
DETAIL_LIMIT = 500
"""Most characters of a detail that are stored."""


class AuditKind(StrEnum):
    """The kind of event that an audit entry records."""

    ACCEPTED = "accepted"
    ANSWERED = "answered"
    UNANSWERED = "unanswered"
    REFUSED = "refused"
    ALLOWED = "allowed"
    DENIED = "denied"
    TIER = "tier"
    LINKED = "linked"
    UNLINKED = "unlinked"
    SETTING = "setting"
    OVER_QUOTA = "over_quota"
    NAMED = "named"
    FETCHED = "fetched"
    NOT_FETCHED = "not_fetched"
    ALLOWED_AHEAD = "allowed_ahead"
    REVOKED = "revoked"
    PASSED = "passed"
    TOKEN_MADE = "token_made"  # noqa: S105 - the name of what happened
    TOKEN_REVOKED = "token_revoked"  # noqa: S105 - the same
    OPERATED = "operated"
    TRIGGER_MADE = "trigger_made"
    TRIGGER_REMOVED = "trigger_removed"
    WEBHOOK_MADE = "webhook_made"
    WEBHOOK_REMOVED = "webhook_removed"
    WEBHOOK_OFF = "webhook_off"


class FileDetail(BaseModel):
    """The outcome of a person's request for a file on a phone. Stored as JSON.

    - `what`: "fetched", or why the file was not sent: it is "hidden" (may not be read), too "large", from "elsewhere"
      (the phone did not hand it out), or the phone is "busy" with a task.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: Literal["fetched", "hidden", "large", "elsewhere", "busy"]
    file: str
    """The phone's name, and the path or what was asked for."""
    size: int = 0
    """Bytes, where the file was found."""
    task: str = ""
    """The task that works on the phone, where that is why."""


class YesDetail(BaseModel):
    """An approval given in advance: it was granted, revoked, or let a message be sent. Stored as JSON; `text` is
    shortened.

    - `to`: The recipient of the message.
    - `by`: The person who approved (name or id).
    - `app`: The app that sends it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    to: str
    by: str
    app: str = ""
    text: str | None = None
    """The whole text, None for any."""
    schedule: str = ""
    """The schedule that it belongs to; "" for one of a task."""


_TEXT_KEPT = 200
_LAST_NUMBER = 2**63 - 1
Detail = str | FileDetail | YesDetail


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry of the audit log.

    - `number`: Id of the entry, ascending with time.
    - `at`: When it happened, in Unix seconds.
    - `person`: Who did it, or whose task or webhook it concerns if nobody did it.
    - `task`: Id of the task concerned, "" for none.
    - `detail`: Depends on `kind`; for instance the text of an answer, why there was none, the check that refused, the
      right, the old and new value of a setting, or the outcome of a request for a file.
    """

    number: int
    at: float
    kind: AuditKind
    person: Person
    task: str
    detail: Detail


_ENTRY: Final = Codec(AuditEntry, audit, lean={"detail"})
_ADD: Final = insert(audit, [column for column in _ENTRY.columns if column != "number"]).returning(audit.c.number)
_FORGET: Final = delete(audit).where(audit.c.number <= bindparam("last"))
_PAGE: Final = (
    select(audit)
    .where(audit.c.number < bindparam("before"))
    .order_by(audit.c.number.desc())
    .limit(bindparam("limit", type_=Number))
)


class Audit(TimedTableAccess):
    """The table of audit entries. Entries are added and never changed; only the latest `KEPT` are stored."""

    async def add(
        self,
        transaction: Transaction,
        kind: AuditKind,
        person: Person,
        *,
        task: str = "",
        detail: Detail = "",
    ) -> None:
        """Add an entry in the caller's transaction, so that it is committed together with the change that it records.

        Long texts in `detail` are cut, a plain text to `DETAIL_LIMIT` characters, and the oldest entries beyond `KEPT`
        are deleted.
        """
        entry = AuditEntry(0, self._clock(), kind, person, task, _cut(detail))
        rows = await transaction.fetch(_ADD, _ENTRY.values(entry))
        await transaction.fetch(_FORGET, {"last": rows[0]["number"] - KEPT})

    async def note(self, kind: AuditKind, person: Person, *, task: str = "", detail: Detail = "") -> None:
        """Add an entry in a transaction of its own; see `add`. Raises StoreError."""
        await self._database.write(lambda transaction: self.add(transaction, kind, person, task=task, detail=detail))

    async def page(self, limit: int, before: int | None = None) -> tuple[AuditEntry, ...]:
        """Return at most `limit` entries, the latest first; with `before`, only entries with a smaller number."""
        last = _LAST_NUMBER if before is None else before
        return _ENTRY.read_all(await self._database.fetch(_PAGE, {"before": last, "limit": limit}))


def _cut(detail: Detail) -> Detail:
    if isinstance(detail, str):
        return detail[:DETAIL_LIMIT]
    if isinstance(detail, YesDetail):
        return detail.model_copy(update={} if detail.text is None else {"text": detail.text[:_TEXT_KEPT]})
    return detail.model_copy(update={"file": detail.file[:DETAIL_LIMIT]})
