"""Slash commands, autocompletion and their registration."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from simcord.backend.models import ResponseKind

from bot.chats.discord.chat import DiscordChat
from bot.chats.discord.interactions import payload
from bot.commands.spec import COMMANDS, CommandSpec
from bot.domain.incoming import Attachment, CommandCall
from bot.domain.outgoing import Button, Message, Picture, Reply
from tests.bot.chats.discord.conftest import Home, running
from tests.bot.chats.discord.recording import Recording
from tests.fakes.discord import FakeDiscord


@pytest.mark.usefixtures("slash_chat")
async def test_a_slash_command_comes_in_typed_and_is_answered_to_the_person_alone(
    home: Home, intake: Recording
) -> None:
    row = (Button("Stop", "1:stop:7", "danger"),)
    intake.invoked = Reply(Message(heading="Task 7", body="is queued", buttons=(row,)), task="7")
    options = {"task": "open *settings*", "device": "pixel", "quick": True, "file": ("a.png", b"png")}
    record = home.fake.slash(home.alice, home.channel, "do", options)
    whisper = await home.whisper()
    assert whisper.content == "**Task 7**\nis queued"
    assert home.fake.buttons(whisper) == {"1:stop:7": "Stop"}
    assert home.fake.from_bot(home.channel) == []
    invocation = intake.invocations[0]
    assert invocation.call == CommandCall("do", {"device": "pixel", "quick": "true"}, "open *settings*")
    assert invocation.attachments == (Attachment("a.png", b"png"),)
    assert invocation.place.address == home.address()
    assert invocation.event == str(record.id)
    assert invocation.person.id == str(home.alice.id)


@pytest.mark.usefixtures("slash_chat")
async def test_it_is_acknowledged_before_the_command_is_done(home: Home, intake: Recording) -> None:
    intake.hold = asyncio.Event()
    intake.invoked = Reply(Message(body="done"))
    record = home.fake.slash(home.alice, home.channel, "devices")
    await home.fake.wait_until(lambda: record.response_kind is ResponseKind.DEFERRED)
    assert record.ephemeral
    intake.hold.set()
    assert (await home.whisper()).content == "done"


@pytest.mark.usefixtures("slash_chat")
async def test_with_nothing_to_say_the_waiting_note_goes_away(home: Home) -> None:
    record = home.fake.slash(home.alice, home.channel, "devices")
    await home.fake.wait_until(lambda: record.message_id and not home.fake.messages(home.channel) and record.responded)
    assert home.fake.sent("DELETE", "/messages/@original") == [None]


@pytest.mark.usefixtures("slash_chat")
async def test_pictures_and_long_texts_are_whispered_too(home: Home, intake: Recording) -> None:
    intake.invoked = Reply(Message(body="word " * 600, picture=Picture("screen.png", b"png")))
    home.fake.slash(home.alice, home.channel, "screen")
    second = await home.whisper(2)
    first = home.fake.whispers(home.channel)[0]
    assert home.fake.files(first) == {"screen.png": b"png"}
    assert (first.content + second.content).count("word") == 600


@pytest.mark.usefixtures("slash_chat")
async def test_a_file_that_is_lost_is_told_even_when_there_is_nothing_else_to_say(home: Home) -> None:
    home.fake.slash(home.alice, home.channel, "do", {"task": "x", "file": ("a.txt", b"a")})
    home.fake.forget_files()
    assert "a.txt was left out" in (await home.whisper()).content


@pytest.mark.usefixtures("slash_chat")
async def test_an_interaction_that_is_over_runs_nothing(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    """Seen failing (the command ran) with the acknowledgement moved behind the command in `SlashCommands.handle`."""
    home.fake.fail("POST", "/interactions/*", 404, 10062, "Unknown interaction")
    home.fake.slash(home.alice, home.channel, "do", {"task": "x"})
    await home.fake.wait_until(lambda: "did not take the answer" in caplog.text)
    assert intake.invocations == []


@pytest.mark.usefixtures("slash_chat")
async def test_a_command_that_is_gone_is_answered(home: Home, intake: Recording) -> None:
    stored = home.fake.backend.find_command("opengui", home.guild.id)
    assert stored is not None
    stored["options"].append({"name": "dance", "type": 1, "description": "old", "options": []})
    home.fake.slash(home.alice, home.channel, "dance")
    assert "no longer exists" in (await home.whisper()).content
    assert intake.invocations == []


@pytest.mark.usefixtures("slash_chat")
async def test_autocompletion_comes_from_the_intake(home: Home, intake: Recording) -> None:
    intake.offered = (("Pixel 6 in the kitchen", "pixel"), ("x" * 150, "long"), ("broken", "y" * 101), ("", "empty"))
    record = home.fake.autocomplete(home.alice, home.channel, "do", "device", "pi")
    await home.fake.wait_until(lambda: record.responded)
    assert record.autocomplete_choices == [
        {"name": "Pixel 6 in the kitchen", "value": "pixel"},
        {"name": "x" * 100, "value": "long"},
    ]
    person, place, option, typed = intake.asked[0]
    assert (person.id, place.address, option, typed) == (str(home.alice.id), home.address(), "device", "pi")


@pytest.mark.usefixtures("slash_chat")
async def test_a_slash_command_in_a_thread_knows_the_thread(home: Home, intake: Recording) -> None:
    thread = home.fake.thread(home.channel, "talk", home.alice)
    home.fake.slash(home.alice, thread, "status", {"task": "3"})
    await home.fake.wait_until(lambda: intake.invocations)
    assert intake.invocations[0].place.address == home.address(str(thread.id))
    assert intake.invocations[0].call == CommandCall("status", {"task": "3"})


def registrations(fake: FakeDiscord) -> int:
    return len(fake.sent("PUT", "/commands"))


async def test_commands_are_registered_once_and_again_only_when_they_changed(
    home: Home, intake: Recording, tmp_path: Path
) -> None:
    for _ in range(2):
        async with running(home, intake, tmp_path, register_commands=True):
            assert registrations(home.fake) == 1
    async with running(home, intake, tmp_path, register_commands=True, commands=COMMANDS[:3]):
        assert registrations(home.fake) == 2
    group = home.fake.backend.find_command("opengui", home.guild.id)
    assert group is not None
    assert [option["name"] for option in group["options"]] == [command.name for command in COMMANDS[:3]]


async def test_nothing_is_registered_unless_asked(home: Home, chat: DiscordChat) -> None:
    assert registrations(home.fake) == 0
    assert chat.capabilities.threads


async def test_a_damaged_memory_of_registrations_is_forgotten(home: Home, intake: Recording, tmp_path: Path) -> None:
    (tmp_path / "discord_commands.json").write_text("{not json")
    async with running(home, intake, tmp_path, register_commands=True):
        assert registrations(home.fake) == 1


async def test_a_directory_that_cannot_be_written_costs_only_a_repetition(
    home: Home, intake: Recording, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    async with running(home, intake, blocked, register_commands=True):
        assert registrations(home.fake) == 1
    assert "could not be recorded as sent" in caplog.text


def test_registration_needs_a_directory(intake: Recording) -> None:
    with pytest.raises(ValueError, match="state_directory"):
        DiscordChat("token", intake, register_commands=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"guild_ids": []}, "DISCORD_ALLOWED_GUILD_IDS names no server"),
        ({"client_id": "123"}, "DISCORD_CLIENT_ID is 123"),
    ],
)
async def test_what_is_missing_for_registration_is_one_clear_line(
    home: Home,
    intake: Recording,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    options: dict[str, object],
    said: str,
) -> None:
    async with running(home, intake, tmp_path, register_commands=True, **options):
        assert registrations(home.fake) == 0
    assert said in caplog.text


@pytest.mark.parametrize(("status", "said"), [(403, "without the scope"), (400, "The next start tries again")])
async def test_a_server_that_refuses_the_commands_does_not_stop_the_bot(
    home: Home, intake: Recording, tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int, said: str
) -> None:
    home.fake.fail("PUT", "/applications/*", status, 50001)
    async with running(home, intake, tmp_path, register_commands=True):
        home.fake.say(home.alice, home.channel, "!opengui help")
        await home.fake.wait_until(lambda: intake.messages)
    assert said in caplog.text
    async with running(home, intake, tmp_path, register_commands=True):
        assert home.fake.backend.find_command("opengui", home.guild.id) is not None


def described(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The group, its commands and their options."""
    yield part
    for option in part.get("options", ()):
        yield from described(option)


def test_the_group_keeps_within_the_limits_of_discord() -> None:
    group = payload(COMMANDS)
    assert len(group["options"]) <= 25 - 1, "there is room for one more"
    parts = [part for one in group["options"] for part in (one["options"] if one["type"] == 2 else [one])]
    for command in parts:
        assert command["type"] == 1
        required = [option["required"] for option in command["options"]]
        assert required == sorted(required, reverse=True), "required options come first"
        assert len(required) == len({option["name"] for option in command["options"]}) <= 25
    counted = 0
    for part in described(group):
        texts = [part["description"], *part["description_localizations"].values()]
        assert all(1 <= len(text) <= 100 for text in texts)
        assert re.fullmatch(r"[a-z0-9_-]{1,32}", part["name"]), "names are the same for everybody"
        counted += len(part["name"]) + max(map(len, texts))
    assert counted <= 8000, "Discord counts the longest of each text, 8000 characters in all"


def test_everything_is_explained_in_chinese_to_people_who_read_it() -> None:
    for part in described(payload(COMMANDS)):
        assert set(part["description_localizations"]) == {"zh-CN", "zh-TW"}
        assert part["description_localizations"]["zh-CN"] != part["description"]
    group = payload(COMMANDS, "zh")
    assert group["description"] == "把任务交给手机"
    assert all("description_localizations" not in part for part in described(group))


async def test_a_changed_translation_is_registered_again(home: Home, intake: Recording, tmp_path: Path) -> None:
    async with running(home, intake, tmp_path, register_commands=True):
        assert registrations(home.fake) == 1
    stored = home.fake.backend.find_command("opengui", home.guild.id)
    assert stored is not None
    assert stored["description_localizations"]["zh-CN"] == "把任务交给手机"
    async with running(home, intake, tmp_path, register_commands=True, language="en"):
        assert registrations(home.fake) == 2


@pytest.mark.usefixtures("slash_chat")
async def test_a_person_is_spoken_to_in_the_language_of_their_own_client(home: Home, intake: Recording) -> None:
    home.fake.locales[home.alice.id] = "zh-CN"
    home.fake.slash(home.alice, home.channel, "do", {"task": "x", "file": ("a.txt", b"a")})
    home.fake.forget_files()
    assert (await home.whisper()).content.startswith("已略过 a.txt")
    assert intake.invocations[0].person.language == "zh-CN"
    home.fake.say(home.alice, home.channel, "!opengui help")
    bob = home.fake.user("bob", home.guild)
    home.fake.say(bob, home.channel, "!opengui help")
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    told = {incoming.person.name: incoming.person.language for incoming in intake.messages}
    assert told == {"alice": "zh-CN", "bob": "en-US"}, "messages do not tell it, but it is known by now"


def test_too_many_commands_are_refused_early() -> None:
    with pytest.raises(ValueError, match="25 subcommands"):
        payload([*COMMANDS, *(CommandSpec(f"more{number}") for number in range(6))])


@pytest.mark.usefixtures("slash_chat")
@pytest.mark.parametrize(
    ("picked", "options", "call"),
    [
        (
            "schedule add",
            {"plan": "every day 07:30 do look  twice", "zone": "Europe/Berlin", "quick": True},
            CommandCall("schedule", {"zone": "Europe/Berlin", "quick": "true"}, "every day 07:30 do look  twice"),
        ),
        ("schedule list", {}, CommandCall("schedules")),
        ("schedule remove", {"schedule": "3"}, CommandCall("schedules", {}, "remove 3")),
        ("people list", {}, CommandCall("people")),
        ("people tiers", {}, CommandCall("people", {}, "tier")),
        ("admin set", {"setting": "model", "value": "a b {c}"}, CommandCall("set", {}, "model a b {c}")),
        ("admin reset", {"setting": "model"}, CommandCall("set", {}, "model default")),
        ("admin name", {"name": "Kitchen", "device": "pixel"}, CommandCall("name", {"device": "pixel"}, "Kitchen")),
        ("admin audit", {"before": "9"}, CommandCall("audit", {"before": "9"})),
    ],
)
async def test_what_is_picked_from_a_group_is_what_is_typed(
    home: Home, intake: Recording, picked: str, options: dict[str, object], call: CommandCall
) -> None:
    home.fake.slash(home.alice, home.channel, picked, options)
    await home.fake.wait_until(lambda: intake.invocations)
    assert intake.invocations[0].call == call


@pytest.mark.usefixtures("slash_chat")
async def test_people_and_roles_are_picked(home: Home, intake: Recording) -> None:
    role = home.fake.role(home.guild, "nurses")
    home.fake.slash(home.alice, home.channel, "people allow", {"who": role, "right": "use", "device": "pixel"})
    home.fake.slash(home.alice, home.channel, "people tier", {"who": home.alice, "tier": "big"})
    home.fake.slash(home.alice, home.channel, "why", {"person": home.alice})
    await home.fake.wait_until(lambda: len(intake.invocations) == 3)
    assert [one.call for one in intake.invocations] == [
        CommandCall("people", {"device": "pixel"}, f"allow role:{role.id} use"),
        CommandCall("people", {}, f"tier {home.alice.id} big"),
        CommandCall("why", {"person": str(home.alice.id)}),
    ]


@pytest.mark.usefixtures("slash_chat")
async def test_what_stands_in_a_group_is_completed_too(home: Home, intake: Recording) -> None:
    intake.offered = (("Pixel", "pixel"),)
    record = home.fake.autocomplete(home.alice, home.channel, "schedule add", "device", "pi")
    await home.fake.wait_until(lambda: record.responded)
    assert record.autocomplete_choices == [{"name": "Pixel", "value": "pixel"}]
    assert intake.asked[0][2:] == ("device", "pi")
