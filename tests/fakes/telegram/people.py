"""What people do in the fake Telegram, and what one sees there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.fakes.telegram.methods import Methods
from tests.fakes.telegram.polling import Polling
from tests.fakes.telegram.webhooks import Webhooks
from tests.fakes.telegram.world import Chat, Message, Press, User, World

Upload = tuple[str, bytes]


class People:
    """The acting and the reading half of the fake."""

    def __init__(self, bot: User, changed: Callable[[], None]) -> None:
        self.world = World(bot)
        self.polling = Polling(changed)
        self.webhooks = Webhooks(self.polling, changed)
        self.methods = Methods(self.world, self.webhooks)
        self.privacy = True
        """As Telegram has it at first: in groups only commands and replies to the bot arrive."""
        self._changed = changed

    @property
    def bot(self) -> User:
        return self.world.bot

    # The world

    def user(self, name: str, *, bot: bool = False) -> User:
        number = 1000 + self.world.number()
        user = self.world.users[number] = User(number, name.capitalize(), name, bot)
        return user

    def private(self, user: User) -> Chat:
        """The one-to-one chat with the bot; it has the person's id."""
        return self.world.chats.setdefault(user.id, Chat(user.id, "private", user.name))

    def group(self, title: str = "Home") -> Chat:
        return self._chat(Chat(-(2000 + self.world.number()), "group", title))

    def supergroup(self, title: str = "Home", *, forum: bool = False) -> Chat:
        return self._chat(Chat(-1_000_000_000_000 - self.world.number(), "supergroup", title, forum))

    def topic(self, chat: Chat, name: str) -> int:
        """A topic, begun by the notice that stands for it; its id is the thread."""
        number = self.world.message_number(chat)
        chat.topics[number] = name
        made: dict[str, Any] = {"forum_topic_created": {"name": name, "icon_color": 7322096}}
        self.world.add(Message(number, chat, self.bot, thread=number, extra=made))
        return number

    def _chat(self, chat: Chat) -> Chat:
        self.world.chats[chat.id] = chat
        return chat

    # What people do

    async def say(
        self,
        user: User,
        chat: Chat,
        text: str = "",
        *,
        thread: int = 0,
        reply_to: Message | None = None,
        document: Upload | None = None,
        photo: Upload | None = None,
        voice: Upload | None = None,
        other: tuple[str, Upload] | None = None,
        age: float = 0,
        extra: dict[str, Any] | None = None,
    ) -> Message:
        """Write a message, `age` seconds ago; the bot gets it unless privacy mode keeps it away. `other` is a video or
        an audio.
        """
        message = Message(self.world.message_number(chat), chat, user, text, thread=thread, extra=extra or {})
        message.date = int(time.time() - age)
        topic = self.world.messages[chat.id].get(thread) if thread else None
        message.reply_to = reply_to or topic
        for kind, upload in (("document", document), ("photo", photo), ("voice", voice), other or ("", None)):
            if upload is not None:
                message.file = self.world.store(kind, *upload)
        self.world.add(message)
        if chat.private or not self.privacy or text.startswith("/") or (reply_to and reply_to.sender is self.bot):
            self.polling.put("message", message.payload())
        self._changed()
        return message

    async def send_album(self, user: User, chat: Chat, text: str, photos: Sequence[bytes], *, caption: int = 0) -> None:
        """Several photos at once; Telegram delivers them one by one, one of them with the caption."""
        album = f"album{self.world.number()}"
        for number, photo in enumerate(photos):
            message = Message(
                self.world.message_number(chat), chat, user, text if number == caption else "", album=album
            )
            message.file = self.world.store("photo", "", photo)
            self.polling.put("message", self.world.add(message).payload())
        self._changed()

    async def edit(self, message: Message, text: str) -> None:
        """Change what one wrote."""
        message.text = text
        self.polling.put("edited_message", message.payload() | {"edit_date": int(time.time())})
        self._changed()

    async def press(self, user: User, message: Message, data: str, *, forgotten: bool = False) -> Press:
        """Press a button; only what is really there can be pressed. `forgotten`: the message is too old to be told."""
        if data not in message.buttons:
            raise AssertionError(f"there is no button {data!r} among {message.buttons}")
        press = Press(f"{self.world.number():018}")
        self.world.presses[press.id] = press
        told = message.payload()
        if forgotten:
            told = {"message_id": message.id, "chat": message.chat.payload(), "date": 0}
        query = {"id": press.id, "from": user.payload(), "chat_instance": "1", "message": told, "data": data}
        self.polling.put("callback_query", query)
        self._changed()
        return press

    def migrate(self, chat: Chat, by: User, *, told: bool = True) -> Chat:
        """The group becomes a supergroup with another id and without its messages; `told` by notices in both."""
        new = self.supergroup(chat.title)
        chat.migrated_to = new.id
        if told:
            for where, extra in ((chat, {"migrate_to_chat_id": new.id}), (new, {"migrate_from_chat_id": chat.id})):
                notice = Message(self.world.message_number(where), where, by, extra=extra)
                self.polling.put("message", self.world.add(notice).payload())
            self._changed()
        return new

    def remove(self, message: Message) -> None:
        del self.world.messages[message.chat.id][message.id]

    def throw_out(self, chat: Chat) -> None:
        chat.lost = f"Forbidden: bot was kicked from the {chat.type} chat"
        if chat.private:
            chat.lost = "Forbidden: bot was blocked by the user"

    # What one sees

    def messages(self, chat: Chat, thread: int | None = None) -> list[Message]:
        """What stands in a chat, or in one topic of it (0: outside of topics), oldest first."""
        stored = sorted(self.world.messages.get(chat.id, {}).values(), key=lambda message: message.id)
        return [one for one in stored if thread is None or one.thread == thread]

    def from_bot(self, chat: Chat, thread: int | None = None) -> list[Message]:
        return [one for one in self.messages(chat, thread) if one.sender is self.bot and not one.extra]
