"""The messages of the web console."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Author = Literal["bot", "operator"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class KeptButton(_Frozen):
    """A button below a stored console message. `data` is sent back when it is pressed."""

    label: str
    data: str
    style: str = "secondary"


class KeptMenu(_Frozen):
    """A stored menu from which a person takes one choice. The console shows all choices at once."""

    choices: tuple[KeptButton, ...]
    prompt: str = ""


class KeptFile(_Frozen):
    """A file that belongs to a message: its name, and the reference under which its bytes are stored."""

    name: str
    reference: str


class Content(_Frozen):
    """Everything that a console message shows. Pictures and files are given by reference.

    - `picture`: Reference of the picture, "" for none.
    - `buttons`: Rows of buttons.
    - `notify`: Whether the console should notify the person.
    - `reply_to`: The message that this one answers, "" for none.
    """

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
    """A stored message of the console. Times are Unix seconds.

    - `id`: Ascending with the order of the messages.
    - `revision`: A number that grows with every change of any message, so that pages can ask for all changes since
      one.
    - `deleted`: A deleted message remains as an empty entry, for pages that still show it.
    """

    id: int
    revision: int
    thread: str
    author: Author
    content: Content
    sent: float
    edited: float | None = None
    deleted: bool = False
