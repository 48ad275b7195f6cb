"""The console's message history, and the protocol of the table that stores it."""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

Author = Literal["bot", "operator"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class KeptButton(_Frozen):
    """A button as it is kept and shown."""

    label: str
    data: str
    style: str = "secondary"


class KeptMenu(_Frozen):
    """A list of which one choice is taken. The page shows all of them."""

    choices: tuple[KeptButton, ...]
    prompt: str = ""


class KeptFile(_Frozen):
    """A file beside a message: its name, and the reference under which its bytes are kept."""

    name: str
    reference: str


class Content(_Frozen):
    """All that a message shows, with references in place of pictures."""

    heading: str = ""
    body: str = ""
    footer: str = ""
    picture: str = ""
    files: tuple[KeptFile, ...] = ()
    buttons: tuple[tuple[KeptButton, ...], ...] = ()
    menu: KeptMenu | None = None
    notify: bool = False
    reply_to: str = ""


class Entry(_Frozen):
    """A message of the console.

    `id` is its place in the conversation; `revision` grows with every change of any message, so that "all changes
    since" is one question. A deleted message stays as an empty entry, for pages that still show it. Times are Unix
    seconds.
    """

    id: int
    revision: int
    thread: str
    author: Author
    content: Content
    sent: float
    edited: float | None = None
    deleted: bool = False


class ConsoleLog(Protocol):
    """The console's messages on disk: the operator's, or those of one other person. Every change is committed when the
    call returns.
    """

    def of(self, owner: str) -> ConsoleLog:
        """The messages of this person alone, "" for the operator's."""
        ...

    async def append(self, thread: str, author: Author, content: Content, *, nonce: str) -> Entry:
        """Add a message. The same nonce gives the entry that is there already, unchanged."""
        ...

    async def replace(self, entry: int, content: Content) -> Entry:
        """Change a message in place. Raises KeyError when it is not there or was deleted."""
        ...

    async def remove(self, entry: int) -> Entry:
        """Empty a message for good; nothing of its text is kept. Raises KeyError when it never was there."""
        ...

    async def changes(self, revision: int, limit: int) -> tuple[Entry, ...]:
        """The entries whose latest change is after `revision`, by revision, at most `limit`."""
        ...

    async def missed(self, revision: int) -> int:
        """How many entries have changed after `revision`."""
        ...

    async def page(self, thread: str, *, before: int | None, limit: int) -> tuple[Entry, ...]:
        """The last `limit` messages of a thread that are not deleted (those before id `before`), oldest first."""
        ...

    async def revision(self) -> int:
        """The latest revision; 0 while nothing was ever shown."""
        ...
