"""What people do in the fake Slack, and what one sees there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.fakes.slack.sockets import Envelope, Sockets
from tests.fakes.slack.world import Channel, File, Message, User, World


def escaped(text: str) -> str:
    """A typed text as Slack keeps it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class People:
    """The acting and the reading half of the fake."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.world = World()
        self.sockets = Sockets(changed)
        self.origin = ""
        self._changed = changed

    @property
    def bot(self) -> User:
        return self.world.bot

    # The world

    def user(self, name: str, *, team: str = "", bot: bool = False) -> User:
        user = User(self.world.number("U"), name, team or self.world.team, bot=bot)
        self.world.users[user.id] = user
        return user

    def channel(self, name: str = "general", *, joined: bool = True) -> Channel:
        channel = Channel(self.world.number("C"), name, {self.bot.id} if joined else set())
        self.world.channels[channel.id] = channel
        return channel

    def private(self, user: User) -> Channel:
        """The one-to-one chat with the bot."""
        id_ = f"D{user.id[1:]}"
        return self.world.channels.setdefault(id_, Channel(id_, user.name, {user.id, self.bot.id}))

    # What people do

    def say(
        self,
        user: User,
        channel: Channel,
        text: str = "",
        *,
        thread: str = "",
        files: Sequence[tuple[str, bytes] | File] = (),
        age: float = 0,
        raw: bool = False,
        **extra: Any,
    ) -> Message:
        """Write a message, `age` seconds ago; `@opengui` becomes a mention. With `raw` the text is Slack's own."""
        typed = text if raw else escaped(text).replace("@opengui", f"<@{self.bot.id}>")
        stored = [one if isinstance(one, File) else self.world.store(*one) for one in files]
        message = Message(self.world.ts(age), channel, user, typed, thread=thread, files=stored, extra=extra)
        if thread and (root := self.world.messages[channel.id].get(thread)) is not None:
            message.extra = {"parent_user_id": root.user.id, **extra}
        self.world.add(message)
        if self.bot.id in channel.members:
            self.event(message.payload(self.origin))
        self._changed()
        return message

    def event(self, event: dict[str, Any]) -> Envelope:
        """Tell the app of an event."""
        payload = {"type": "event_callback", "team_id": self.world.team, "event_id": self.world.number("Ev")}
        return self.sockets.put("events_api", payload | {"event": event})

    def share(self, user: User, message: Message, channel: Channel, comment: str = "") -> Message:
        """Pass on what somebody wrote."""
        attachment = {"is_msg_unfurl": True, "is_share": True, "author_name": message.user.name, "text": message.text}
        attachment |= {"author_id": message.user.id, "channel_id": message.channel.id, "ts": message.ts}
        if message.files:
            attachment["files"] = [file.payload(self.origin) for file in message.files]
        return self.say(user, channel, comment, attachments=[attachment])

    def edit(self, message: Message, text: str) -> None:
        """Change what one wrote. A mention of the bot in it is told once more."""
        before, message.text = message.payload(self.origin), escaped(text).replace("@opengui", f"<@{self.bot.id}>")
        message.extra = message.extra | {"edited": {"user": message.user.id, "ts": self.world.ts()}}
        if f"<@{self.bot.id}>" in message.text:
            self.event(message.payload(self.origin) | {"type": "app_mention"})
        self.event(
            {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "channel": message.channel.id,
                "ts": self.world.ts(),
                "message": message.payload(self.origin),
                "previous_message": before,
            }
        )

    def press(self, user: User, message: Message, data: str) -> Envelope:
        """Press a button, or take a choice; only what is really there can be."""
        action: dict[str, Any] = {"action_id": "0.0", "type": "button", "value": data}
        if data in message.choices:
            action = {"action_id": "menu", "type": "static_select", "selected_option": {"value": data}}
        elif data not in message.buttons:
            raise AssertionError(f"there is no button {data!r} among {message.buttons}")
        number = self.world.number("P")
        payload = {
            "type": "block_actions",
            "team": {"id": self.world.team},
            "user": {"id": user.id, "team_id": user.team, "name": user.name},
            "channel": {"id": message.channel.id},
            "message": message.payload(self.origin),
            "actions": [action],
            "trigger_id": number,
            "response_url": f"{self.origin}/respond/{number}",
        }
        return self.sockets.put("interactive", payload)

    def press_whisper(self, user: User, channel: Channel, message: Message, data: str) -> str:
        """Press a button of what one person alone sees. Returns the number at which it is answered."""
        assert data in message.buttons
        number = self.world.number("P")
        payload = {
            "type": "block_actions",
            "user": {"id": user.id, "team_id": user.team},
            "channel": {"id": channel.id},
            "container": {"type": "message", "message_ts": message.ts, "is_ephemeral": True},
            "actions": [{"action_id": "0.0", "type": "button", "value": data}],
            "trigger_id": number,
            "response_url": f"{self.origin}/respond/{number}",
        }
        self.sockets.put("interactive", payload)
        return number

    def slash(self, user: User, channel: Channel, text: str) -> str:
        """Type the slash command. Returns the number at which it is answered."""
        number = self.world.number("P")
        payload = {
            "command": "/opengui",
            "text": text,
            "user_id": user.id,
            "team_id": user.team,
            "channel_id": channel.id,
            "trigger_id": number,
            "response_url": f"{self.origin}/respond/{number}",
        }
        self.sockets.put("slash_commands", payload)
        return number

    # What one sees

    def from_bot(self, channel: Channel, thread: str | None = None) -> list[Message]:
        """What the bot wrote there, or in one thread ("": outside of threads), oldest first."""
        found = self.world.messages.get(channel.id, {}).values()
        return [one for one in found if one.user is self.bot and thread in {None, one.thread}]

    def whispers(self, number: str = "") -> list[Message]:
        """What was answered so that one person alone saw it, to one press or command or to all."""
        return [message for where, message in self.world.whispers if number in {"", where}]
