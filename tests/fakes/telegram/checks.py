"""What Telegram looks at before it takes a message."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from PIL import Image, UnidentifiedImageError

from tests.fakes.telegram.markup import parse, units
from tests.fakes.telegram.refusals import Refused, bad
from tests.fakes.telegram.world import Chat, Entity, Keyboard, Message, World

TEXT = 4096
CAPTION = 1024
CALLBACK_DATA = 64
BUTTONS = 100
PHOTO_BYTES = 10 * 1024 * 1024
UPLOAD_BYTES = 50 * 1024 * 1024
PHOTO_SIDES = 10_000
PHOTO_RATIO = 20
GENERAL_TOPIC = 1

Form = Mapping[str, Any]


def chat_of(world: World, form: Form) -> Chat:
    """The chat that a request names, if the bot may write there."""
    chat = world.chats.get(int(form.get("chat_id", 0)))
    if chat is None:
        raise bad("chat not found")
    if chat.migrated_to:
        text = "Bad Request: group chat was upgraded to a supergroup chat"
        raise Refused(400, text, {"migrate_to_chat_id": chat.migrated_to})
    if chat.lost:
        raise Refused(403 if chat.lost.startswith("Forbidden") else 400, chat.lost)
    return chat


def thread_of(chat: Chat, form: Form) -> int:
    """The topic; the General topic's id is refused, as Telegram does."""
    thread = int(form.get("message_thread_id", 0))
    if thread and (thread == GENERAL_TOPIC or thread not in chat.topics):
        raise bad("message thread not found")
    return thread


def text_of(world: World, form: Form, key: str = "text") -> tuple[str, list[Entity]]:
    text, entities = parse(str(form.get(key, "")), str(form.get("parse_mode", "")), world.users)
    if key == "text" and not text:
        raise bad("message text is empty")
    if units(text) > (TEXT if key == "text" else CAPTION):
        raise bad("message is too long" if key == "text" else "message caption is too long")
    return text, entities


def keyboard_of(form: Form) -> Keyboard:
    if not form.get("reply_markup"):
        return []
    rows = json.loads(form["reply_markup"])["inline_keyboard"]
    keyboard = [[(button["text"], button["callback_data"]) for button in row] for row in rows if row]
    if sum(map(len, keyboard)) > BUTTONS:
        raise bad("reply markup is too long")
    for row in keyboard:
        for label, data in row:
            if not label:
                raise bad("inline keyboard button text is empty")
            if not 1 <= len(data.encode()) <= CALLBACK_DATA:
                raise bad("BUTTON_DATA_INVALID")
    return keyboard


def reply_of(world: World, chat: Chat, form: Form) -> Message | None:
    if not form.get("reply_parameters"):
        return None
    wanted = json.loads(form["reply_parameters"])
    found = world.messages.get(chat.id, {}).get(wanted["message_id"])
    if found is None and not wanted.get("allow_sending_without_reply"):
        raise bad("message to be replied not found")
    return found


def check_upload(kind: str, data: bytes) -> None:
    if not data:
        raise bad("file must be non-empty")
    if len(data) > UPLOAD_BYTES:
        raise Refused(413, "Request Entity Too Large")
    if kind != "photo":
        return
    if len(data) > PHOTO_BYTES:
        raise bad("too big for a photo")
    try:
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
    except (UnidentifiedImageError, OSError):
        raise bad("IMAGE_PROCESS_FAILED") from None
    if width + height > PHOTO_SIDES or max(width, height) > PHOTO_RATIO * min(width, height):
        raise bad("PHOTO_INVALID_DIMENSIONS")
