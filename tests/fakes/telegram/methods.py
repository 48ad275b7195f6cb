"""The methods of the Bot API that send, edit and delete."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp.web import FileField

from tests.fakes.telegram import checks
from tests.fakes.telegram.checks import Form
from tests.fakes.telegram.refusals import bad
from tests.fakes.telegram.webhooks import Webhooks
from tests.fakes.telegram.world import File, Keyboard, Message, World

Method = Callable[[Form], Awaitable[Any]]

NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current content "
    "and reply markup of the message"
)
TOO_OLD = "query is too old and response timeout expired or query ID is invalid"
TOAST = 200
GIFTS = dict.fromkeys(
    ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
)


class Methods:
    """Each method takes the form of a request and gives the result; refusals are raised."""

    def __init__(self, world: World, webhooks: Webhooks) -> None:
        self._world = world
        self._webhooks = webhooks
        self.uneditable: set[Message] = set()

    def table(self) -> dict[str, Method]:
        return {
            "getMe": self.get_me,
            "setWebhook": self._webhooks.set,
            "deleteWebhook": self._webhooks.delete,
            "getWebhookInfo": self._webhooks.info,
            "sendMessage": self.send_message,
            "sendPhoto": lambda form: self._send_file(form, "photo"),
            "sendDocument": lambda form: self._send_file(form, "document"),
            "sendAnimation": lambda form: self._send_file(form, "animation"),
            "sendMediaGroup": self.send_media_group,
            "editMessageText": self.edit_text,
            "editMessageCaption": self.edit_caption,
            "editMessageMedia": self.edit_media,
            "editMessageReplyMarkup": self.edit_keyboard,
            "deleteMessage": self.delete,
            "answerCallbackQuery": self.answer_press,
            "setMyCommands": self.set_commands,
            "getMyCommands": self.get_commands,
            "deleteMyCommands": self.delete_commands,
            "sendChatAction": self.chat_action,
            "setMessageReaction": self.react,
            "getFile": self.get_file,
            "getChat": self.get_chat,
            "createForumTopic": self.create_topic,
            "closeForumTopic": self.close_topic,
            "reopenForumTopic": self.reopen_topic,
        }

    async def get_me(self, _form: Form) -> Any:
        return self._world.bot.payload() | {"can_join_groups": True, "can_read_all_group_messages": False}

    async def send_message(self, form: Form) -> Any:
        message = self._new(form)
        message.text, message.entities = checks.text_of(self._world, form)
        options = json.loads(form.get("link_preview_options", "{}"))
        message.preview = not options.get("is_disabled", False)
        return self._world.add(message).payload()

    async def _send_file(self, form: Form, kind: str) -> Any:
        message = self._new(form)
        message.text, message.entities = checks.text_of(self._world, form, "caption")
        message.file = self._upload(form, kind, form.get(kind))
        return self._world.add(message).payload()

    async def send_media_group(self, form: Form) -> Any:
        media = json.loads(form["media"])
        if not 2 <= len(media) <= 10:
            raise bad("wrong number of messages to send: 2-10 are expected")
        if form.get("reply_markup"):
            raise bad("albums take no reply markup")
        album = f"album{self._world.number()}"
        sent = []
        for item in media:
            message = self._new(form)
            message.album = album
            message.text, message.entities = checks.text_of(self._world, item, "caption")
            message.file = self._upload(form, item["type"], item["media"])
            sent.append(message)
        return [self._world.add(message).payload() for message in sent]

    async def edit_text(self, form: Form) -> Any:
        message = self._own(form)
        if message.file is not None:
            raise bad("there is no text in the message to edit")
        text, entities = checks.text_of(self._world, form)
        return self._change(message, checks.keyboard_of(form), text, entities, message.file)

    async def edit_caption(self, form: Form) -> Any:
        message = self._own(form)
        if message.file is None:
            raise bad("there is no caption in the message to edit")
        text, entities = checks.text_of(self._world, form, "caption")
        return self._change(message, checks.keyboard_of(form), text, entities, message.file)

    async def edit_media(self, form: Form) -> Any:
        message = self._own(form)
        media = json.loads(form["media"])
        text, entities = checks.text_of(self._world, media, "caption")
        file = self._upload(form, media["type"], media["media"])
        return self._change(message, checks.keyboard_of(form), text, entities, file)

    async def edit_keyboard(self, form: Form) -> Any:
        message = self._own(form)
        return self._change(message, checks.keyboard_of(form), message.text, message.entities, message.file)

    async def delete(self, form: Form) -> Any:
        chat = checks.chat_of(self._world, form)
        message = self._world.messages.get(chat.id, {}).get(int(form["message_id"]))
        if message is None:
            raise bad("message to delete not found")
        if message in self.uneditable:
            raise bad("message can't be deleted")
        del self._world.messages[chat.id][message.id]
        return True

    async def answer_press(self, form: Form) -> Any:
        press = self._world.presses.get(str(form["callback_query_id"]))
        if press is None or press.answer is not None:
            raise bad(TOO_OLD)
        text = str(form.get("text", ""))
        if len(text) > TOAST:
            raise bad("MESSAGE_TOO_LONG")
        press.answer, press.alert = text, form.get("show_alert") == "true"
        return True

    async def set_commands(self, form: Form) -> Any:
        commands = json.loads(form["commands"])
        if len(commands) > 100:
            raise bad("BOT_COMMANDS_TOO_MUCH")
        for command in commands:
            name, about = command["command"], command["description"]
            if not (1 <= len(name) <= 32 and name.replace("_", "a").isalnum() and name.islower() and name.isascii()):
                raise bad("BOT_COMMAND_INVALID")
            if not 1 <= len(about) <= 256:
                raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        self._world.menus[self._menu_of(form)] = commands
        return True

    async def get_commands(self, form: Form) -> Any:
        return self._world.menus.get(self._menu_of(form), [])

    async def delete_commands(self, form: Form) -> Any:
        self._world.menus.pop(self._menu_of(form), None)
        return True

    def _menu_of(self, form: Form) -> str:
        """Scope and language as one word, such as "default", "chat -5 zh" or "chat_member -5 7"."""
        scope = json.loads(form.get("scope") or '{"type": "default"}')
        if "chat_id" in scope and int(scope["chat_id"]) not in self._world.chats:
            raise bad("chat not found")
        words = [scope["type"], scope.get("chat_id", ""), scope.get("user_id", ""), form.get("language_code", "")]
        return " ".join(str(word) for word in words if word)

    async def chat_action(self, form: Form) -> Any:
        chat = checks.chat_of(self._world, form)
        self._world.actions.append((chat.id, str(form["action"])))
        return True

    async def react(self, form: Form) -> Any:
        chat = checks.chat_of(self._world, form)
        if int(form["message_id"]) not in self._world.messages.get(chat.id, {}):
            raise bad("message to react not found")
        self._world.reactions.append((chat.id, int(form["message_id"]), json.loads(form["reaction"])[0]["emoji"]))
        return True

    async def get_file(self, form: Form) -> Any:
        file = self._world.files.get(str(form["file_id"]))
        if file is None:
            raise bad("invalid file_id")
        if len(file.data) > 20 * 1024 * 1024:
            raise bad("file is too big")
        made = {"file_id": file.id, "file_unique_id": f"u{file.id}", "file_size": len(file.data)}
        return made | {"file_path": f"{file.kind}s/{file.id}"}

    async def create_topic(self, form: Form) -> Any:
        chat = checks.chat_of(self._world, form)
        name = str(form["name"])
        if not chat.forum:
            raise bad("the chat is not a forum")
        if not chat.manages_topics:
            raise bad("not enough rights to create a topic")
        if not 1 <= len(name) <= 128:
            raise bad("TOPIC_TITLE_EMPTY")
        number = self._world.message_number(chat)
        chat.topics[number] = name
        return {"message_thread_id": number, "name": name, "icon_color": 7322096}

    async def close_topic(self, form: Form) -> Any:
        chat = checks.chat_of(self._world, form)
        topic = checks.thread_of(chat, form)
        if topic in chat.closed:
            raise bad("TOPIC_NOT_MODIFIED")
        chat.closed.add(topic)
        return True

    async def reopen_topic(self, form: Form) -> Any:
        chat = checks.chat_of(self._world, form)
        topic = checks.thread_of(chat, form)
        if not chat.manages_topics:
            raise bad("not enough rights")
        if topic not in chat.closed:
            raise bad("TOPIC_NOT_MODIFIED")
        chat.closed.discard(topic)
        return True

    async def get_chat(self, form: Form) -> Any:
        full = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": GIFTS}
        return checks.chat_of(self._world, form).payload() | full

    def _new(self, form: Form) -> Message:
        """A message of the bot with everything but its content."""
        chat = checks.chat_of(self._world, form)
        thread = checks.thread_of(chat, form)
        keyboard = checks.keyboard_of(form)
        reply = checks.reply_of(self._world, chat, form)
        number = self._world.message_number(chat)
        silent = form.get("disable_notification") == "true"
        return Message(number, chat, self._world.bot, keyboard=keyboard, thread=thread, reply_to=reply, silent=silent)

    def _own(self, form: Form) -> Message:
        chat = checks.chat_of(self._world, form)
        message = self._world.messages.get(chat.id, {}).get(int(form["message_id"]))
        if message is None:
            raise bad("message to edit not found")
        if message.sender is not self._world.bot or message in self.uneditable:
            raise bad("message can't be edited")
        return message

    def _upload(self, form: Form, kind: str, value: Any) -> File:
        if isinstance(value, str) and value.startswith("attach://"):
            value = form.get(value.removeprefix("attach://"))
        if not isinstance(value, FileField):
            raise bad(f"there is no {kind} in the request")
        data = value.file.read()
        checks.check_upload(kind, data)
        return self._world.store(kind, value.filename, data)

    def _change(self, message: Message, keyboard: Keyboard, text: str, entities: list[Any], file: File | None) -> Any:
        same_file = file is message.file or (
            file is not None and message.file is not None and file.data == message.file.data
        )
        if same_file and (message.keyboard, message.text, message.entities) == (keyboard, text, entities):
            raise bad(NOT_MODIFIED)
        message.keyboard, message.text, message.entities, message.file = keyboard, text, entities, file
        message.edits += 1
        return message.payload()
