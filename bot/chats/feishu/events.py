"""Models of Feishu's events, messages and their contents, which are validated on arrival."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bot.domain.address import on_one_line

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A text that may be null."""
Id = Annotated[Text, Field(pattern=r"^[0-9A-Za-z_@.=-]{0,128}$")]
"""An id that is used in the addresses of calls; "" for none."""


class FeishuModel(BaseModel):
    """The base of all models in this module; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Header(FeishuModel):
    """The head of an event. `create_time` is in milliseconds, for cards in microseconds."""

    event_id: Id = ""
    event_type: Id = ""
    app_id: Id = ""
    tenant_key: Id = ""
    create_time: Annotated[int, Field(ge=0, le=10**17)] = 0

    @property
    def written(self) -> float:
        """The time of the event, in Unix seconds."""
        return self.create_time / (1e6 if self.create_time > 10**14 else 1e3)


class Ids(FeishuModel):
    """The ids of a person. Only the one that is specific to this app is used."""

    open_id: Id = ""


class Mention(FeishuModel):
    """The person that a placeholder such as "@_user_1" in a text stands for."""

    key: Text = ""
    id: Ids = Ids()
    name: Text = ""


class SenderOf(FeishuModel):
    """The sender of a message: a person, or an app such as ours."""

    sender_id: Ids = Ids()
    sender_type: Text = ""
    tenant_key: Id = ""


class MessageOf(FeishuModel):
    """A message in an event. In a thread `thread_id` is set, and `root_id` is the message on which it began."""

    message_id: Annotated[Id, Field(min_length=1)]
    root_id: Id = ""
    parent_id: Id = ""
    thread_id: Id = ""
    create_time: Annotated[int, Field(ge=0, le=10**14)] = 0
    chat_id: Annotated[Id, Field(min_length=1)]
    chat_type: Text = ""
    message_type: Text = ""
    content: Text = ""
    mentions: Annotated[tuple[Mention, ...], BeforeValidator(lambda value: value or ())] = ()


class MessageEvent(FeishuModel):
    """The event of a new message (im.message.receive_v1)."""

    sender: SenderOf
    message: MessageOf


class Operator(Ids):
    """The person who pressed a button."""

    tenant_key: Id = ""


class Pressed(FeishuModel):
    """What was pressed: a button with its value, or the chosen menu item."""

    value: Mapping[str, Any] | None = None
    option: Text = ""


class CardContext(FeishuModel):
    """The message and chat of the pressed card."""

    open_message_id: Annotated[Id, Field(min_length=1)]
    open_chat_id: Annotated[Id, Field(min_length=1)]


class CardEvent(FeishuModel):
    """The event of a press on a card (card.action.trigger)."""

    operator: Operator
    action: Pressed
    context: CardContext


class ChatEvent(FeishuModel):
    """The event that the bot was removed from a chat, or the chat was dissolved."""

    chat_id: Annotated[Id, Field(min_length=1)]


class Fetched(FeishuModel):
    """A message as the API returns it."""

    class Body(FeishuModel):
        """The content of the message, as in an event."""

        content: Text = ""

    class By(FeishuModel):
        """The sender of the message; for an app, the app's id."""

        id: Id = ""
        sender_type: Text = ""

    message_id: Id = ""
    msg_type: Text = ""
    upper_message_id: Id = ""
    """For a message in a forwarded bundle: the bundle."""
    sender: By = By()
    body: Body = Body()

    @property
    def content(self) -> Content:
        """The text and files of the message."""
        return content_of(self.msg_type, self.body.content)


@dataclass(frozen=True, slots=True)
class FileKey:
    """A file of a message, with the key by which it can be downloaded."""

    key: str
    name: str
    image: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """The text and files of a message."""

    text: str = ""
    files: tuple[FileKey, ...] = ()
    spoken: float = 0.0
    """The length in seconds if it is a voice message, else 0."""


_KEY: Final = re.compile(r"[\w-]{1,256}")
_NAMES: Final = {
    "image": "photo.jpg",
    "img": "photo.jpg",
    "file": "file",
    "media": "video.mp4",
    "audio": "voice.opus",
}
"""Names of files that have none of their own, by the type of the message or part."""


def content_of(kind: str, content: str) -> Content:
    """Parse the content (JSON) of a message of type `kind`. Returns an empty Content for other types of messages, and
    for content that is not valid.
    """
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        return Content()
    if not isinstance(told, dict):
        return Content()
    match kind:
        case "text":
            return Content(_str(told.get("text")))
        case "post":
            return _post(told)
        case "audio":
            milliseconds = told.get("duration")
            seconds = milliseconds / 1000 if isinstance(milliseconds, int | float) else 0.0
            return Content(files=_files(told, kind), spoken=max(seconds, 0.001))
        case _:
            return Content(files=_files(told, kind))


def _post(told: Mapping[str, Any]) -> Content:
    """Parse rich text with pictures, paragraph by paragraph."""
    lines, files = [_str(told.get("title"))], list[FileKey]()
    for paragraph in _list(told.get("content")):
        parts = [part for part in _list(paragraph) if isinstance(part, dict)]
        lines.append("".join(_words(part) for part in parts))
        for part in parts:
            if (kind := _str(part.get("tag"))) in {"img", "media"}:
                files += _files(part, kind)
    return Content("\n".join(lines).strip(), tuple(files))


def _words(part: Mapping[str, Any]) -> str:
    match part.get("tag"):
        case "at":
            return _str(part.get("user_id"))  # the key of a mention, as in a plain text
        case "a":
            return f"{_str(part.get('text'))} {_str(part.get('href'))}".strip()
        case "text" | "md" | "code_block":
            return _str(part.get("text"))
        case _:
            return ""


def _files(told: Mapping[str, Any], kind: str) -> tuple[FileKey, ...]:
    """Return the file of a message or part of this kind; empty if it has none."""
    image, found = kind in {"image", "img"}, ""
    if kind in _NAMES:
        found = _str(told.get("image_key" if image else "file_key"))
    name = on_one_line(_str(told.get("file_name"))) or _NAMES.get(kind, "")
    return (FileKey(found, name, image),) if _KEY.fullmatch(found) else ()


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
