"""What people do in the fake Discord, and what one sees there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import discord
from simcord import interactions
from simcord.backend import Backend, serializers
from simcord.backend.models import Channel, Guild, Interaction, Message, Overwrite, Role, User
from simcord.components import walk_components
from simcord.enums import ChannelType, InteractionType, OptionType, OverwriteType

Files = Sequence[tuple[str, bytes]]
_PICKED = (OptionType.USER, OptionType.ROLE, OptionType.MENTIONABLE)


class People:
    """The acting and the reading half of the fake; nothing here needs the network."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.locales: dict[int, str] = {}
        """The language of a person's client, where it is not English."""

    @property
    def bot(self) -> User:
        return self.backend.bot_user

    # The world

    def guild(self, name: str = "Home") -> Guild:
        return self.backend.create_guild(name)

    def channel(self, guild: Guild, name: str = "general", *, kind: int = ChannelType.TEXT) -> Channel:
        return self.backend.create_channel(guild.id, name, type=kind)

    def thread(self, channel: Channel, name: str, owner: User) -> Channel:
        return self.backend.create_thread(channel.id, name, owner.id)

    def user(self, name: str, *guilds: Guild, bot: bool = False) -> User:
        user = self.backend.make_user(name, bot=bot)
        for guild in guilds:
            self.backend.add_member(guild.id, user.id, announce=True)
        return user

    def private(self, user: User) -> Channel:
        """The one-to-one chat of a person with the bot."""
        return self.backend.get_dm_channel(user.id)

    def deny(self, channel: Channel, *permissions: str, announced: bool = True) -> None:
        """Take permissions from the bot in a channel and the threads of it; not `announced`, no event tells of it."""
        denied = discord.Permissions(**dict.fromkeys(permissions, True)).value
        overwrite = Overwrite(target_id=self.bot.id, type=OverwriteType.MEMBER, deny=denied)
        if announced:
            self.backend.set_overwrite(channel.id, overwrite)
        else:
            channel.overwrites.append(overwrite)

    def allow(self, channel: Channel) -> None:
        """Give back what was taken."""
        self.backend.delete_overwrite(channel.id, self.bot.id)

    def role(self, guild: Guild, name: str) -> Role:
        return self.backend.create_role(guild.id, name)

    def give(self, user: User, guild: Guild, role: Role) -> None:
        self.backend.add_member_role(guild.id, user.id, role.id)

    def take(self, user: User, guild: Guild, role: Role) -> None:
        self.backend.remove_member_role(guild.id, user.id, role.id)

    def throw_out(self, guild: Guild) -> None:
        """Remove the bot from a server: it sees and reaches nothing there any more."""
        del guild.members[self.bot.id]
        self.backend.emit("GUILD_DELETE", {"id": str(guild.id)})

    def lose(self, thread: Channel, how: str) -> None:
        """A moderator deletes or locks a thread, or locks it and archives it."""
        if how == "deleted":
            self.backend.delete_channel(thread.id)
            return
        metadata = {"locked": True, "archived": how == "locked and archived"}
        self.backend.edit_channel(thread.id, {}, thread_metadata=metadata)

    # What people do

    def say(
        self, user: User, channel: Channel, text: str, *, attachments: Files = (), reply_to: Message | None = None
    ) -> Message:
        if channel.thread_metadata is not None and channel.thread_metadata.archived:
            self.backend.edit_channel(channel.id, {}, thread_metadata={"archived": False})
        reference = None
        if reply_to is not None:
            reference = {"channel_id": str(reply_to.channel_id), "message_id": str(reply_to.id)}
        return self.backend.create_message(
            channel.id,
            user.id,
            text,
            attachments=self.backend.store_attachments(channel.id, attachments),
            reference=reference,
        )

    def forward(self, user: User, message: Message, channel: Channel) -> Message:
        """Pass a message on; Discord shows a copy of it there, without its author."""
        reference = {"type": 1, "channel_id": str(message.channel_id), "message_id": str(message.id)}
        return self.backend.create_message(channel.id, user.id, "", reference=reference)

    def speak(self, user: User, channel: Channel, sound: bytes, seconds: float) -> Message:
        """Send a voice message: one attachment with its length and the shape of its sound, and no text."""
        (spoken,) = self.backend.store_attachments(channel.id, [("voice-message.ogg", sound)])
        shape = {"duration_secs": seconds, "waveform": "AAECAwQ=", "content_type": "audio/ogg"}
        return self.backend.create_message(
            channel.id, user.id, "", attachments=[spoken | shape], flags=discord.MessageFlags.voice.flag
        )

    def slash(
        self, user: User, channel: Channel, command: str, options: Mapping[str, Any] | None = None
    ) -> Interaction:
        """Pick `/opengui <command>` with options: a `(name, bytes)` pair is an uploaded file, people and roles stand
        for themselves.
        """
        root, leaf = self._registered(channel, command)
        resolved: dict[str, Any] = {}
        declared = {option["name"]: option for option in leaf.get("options", [])}
        options = dict(options or {})
        for name, value in options.items():
            if isinstance(value, Role | User):
                kind = "roles" if isinstance(value, Role) else "users"
                resolved.setdefault(kind, {})[str(value.id)] = {"id": str(value.id), "name": value.name}
                options[name] = str(value.id)
        # Picked people and roles travel as text; simcord checks them only as objects of its own.
        as_text = [o | {"type": 3} if o["type"] in _PICKED else o for o in leaf.get("options", [])]
        chosen = interactions.check_options(command, leaf | {"options": as_text}, options)
        given = []
        for name, value in chosen.items():
            wire = value
            if declared[name]["type"] == OptionType.ATTACHMENT:
                wire = interactions.store_interaction_attachment(self.backend, channel.id, value[0], value[1], resolved)
            given.append({"name": name, "type": declared[name]["type"], "value": wire})
        data = _call(root, command, given)
        if resolved:
            data["resolved"] = resolved
        return self._interact(InteractionType.APPLICATION_COMMAND, user, channel, data)

    def autocomplete(self, user: User, channel: Channel, command: str, option: str, typed: str) -> Interaction:
        root, leaf = self._registered(channel, command)
        kind = next(o["type"] for o in leaf["options"] if o["name"] == option)
        focused = {"name": option, "type": kind, "value": typed, "focused": True}
        data = _call(root, command, [focused])
        return self._interact(InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE, user, channel, data)

    def press(self, user: User, message: Message, custom_id: str) -> Interaction:
        """Press a button of a message; only what is really there can be pressed."""
        if custom_id not in self.buttons(message):
            raise AssertionError(f"there is no button {custom_id!r} among {self.buttons(message)}")
        data = {"custom_id": custom_id, "component_type": 2}
        channel = self.backend.get_channel(message.channel_id)
        return self._interact(InteractionType.MESSAGE_COMPONENT, user, channel, data, message)

    def press_oddly(self, user: User, channel: Channel) -> Interaction:
        """A press as Discord has never sent one: it does not say what was pressed."""
        return self._interact(InteractionType.MESSAGE_COMPONENT, user, channel, {"custom_id": "1:odd"})

    def choose(self, user: User, message: Message, value: str) -> Interaction:
        """Take a choice of a select menu; only what is really there can be taken."""
        menu = next(
            (one for one in self.menus(message) if value in (option["value"] for option in one["options"])), None
        )
        if menu is None:
            raise AssertionError(f"there is no choice {value!r}")
        data = {"custom_id": menu["custom_id"], "component_type": 3, "values": [value]}
        channel = self.backend.get_channel(message.channel_id)
        return self._interact(InteractionType.MESSAGE_COMPONENT, user, channel, data, message)

    def forget_files(self) -> None:
        """Every attached file is gone from the file server."""
        self.backend.cdn._blobs.clear()

    def swap_files(self, data: bytes) -> None:
        """Every attached file has these bytes, whatever was said of it."""
        for url in self.backend.cdn._blobs:
            self.backend.cdn._blobs[url] = data

    # What one sees

    def messages(self, channel: Channel) -> list[Message]:
        """Messages of a channel or thread, oldest first, without the notices that a thread was begun."""
        stored = self.backend.messages[channel.id].values()
        return [message for message in stored if message.system_metadata is None]

    def from_bot(self, channel: Channel) -> list[Message]:
        return [m for m in self.messages(channel) if m.author_id == self.bot.id and not m.is_ephemeral]

    def whispers(self, channel: Channel) -> list[Message]:
        """The bot's messages that only one person sees, without those that still say "thinking"."""
        return [m for m in self.messages(channel) if m.is_ephemeral and not m.flags & (1 << 7)]

    def threads(self, channel: Channel) -> list[Channel]:
        return [c for c in self.backend.channels.values() if c.parent_id == channel.id]

    def files(self, message: Message) -> dict[str, bytes]:
        return {a["filename"]: self.backend.cdn.get(a["url"]) or b"" for a in message.attachments}

    def buttons(self, message: Message) -> dict[str, str]:
        """The labels of a message's buttons by custom id."""
        found = walk_components(message.components)
        return {c["custom_id"]: c["label"] for c in found if c.get("type") == 2}

    def menus(self, message: Message) -> list[dict[str, Any]]:
        """The select menus of a message, as they were sent."""
        return [c for c in walk_components(message.components) if c.get("type") == 3]

    def message(self, channel: Channel, id_: int | str) -> Message:
        return self.backend.get_message(channel.id, int(id_))

    # Underneath

    def _registered(self, channel: Channel, command: str) -> tuple[dict[str, Any], dict[str, Any]]:
        root = self.backend.find_command("opengui", channel.guild_id)
        if root is None:
            raise AssertionError("no slash command is registered here")
        leaf, _ = interactions.walk_to_subcommand(root, command.split())
        return root, leaf

    def _interact(
        self, kind: int, user: User, channel: Channel, data: dict[str, Any], message: Message | None = None
    ) -> Interaction:
        record, payload = interactions.base_payload(
            self.backend, type=kind, channel_id=channel.id, guild_id=channel.guild_id, user_id=user.id, data=data
        )
        if user.id in self.locales:
            payload["locale"] = self.locales[user.id]
        if message is not None:
            record.source_message_id = message.id
            payload["message"] = dict(serializers.message_payload(self.backend, message))
        self.backend.emit("INTERACTION_CREATE", payload)
        return record


def _call(root: dict[str, Any], command: str, options: list[dict[str, Any]]) -> dict[str, Any]:
    *group, name = command.split()
    inner = {"name": name, "type": int(OptionType.SUBCOMMAND), "options": options}
    for outer in group:
        inner = {"name": outer, "type": int(OptionType.SUBCOMMAND_GROUP), "options": [inner]}
    return {"id": root["id"], "name": root["name"], "type": 1, "options": [inner]}
