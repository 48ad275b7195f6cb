"""Files that people attach: whose are fetched, from where, and how much of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from bot.chats.discord.hosts import Fetcher
from bot.chats.fetching import Attached
from bot.domain.address import Person, Place
from bot.domain.incoming import Attachment
from bot.domain.outgoing import Message, Picture, Reply
from tests.bot.chats.discord.conftest import Home, running
from tests.bot.chats.discord.recording import Recording


async def test_nothing_of_a_stranger_is_fetched(home: Home, intake: Recording, tmp_path: Path) -> None:
    """Seen failing (both files were downloaded) without the question of `Fetcher.fetch` who may use the bot."""
    mallory = home.fake.user("mallory", home.guild)
    asked: list[tuple[str, str]] = []

    def welcome(person: Person, place: Place) -> bool:
        asked.append((person.id, place.address.chat))
        return person.id == str(home.alice.id)

    async with running(home, intake, tmp_path, welcome=welcome, register_commands=True):
        home.fake.say(mallory, home.channel, "!opengui do evil", attachments=[("huge.bin", b"x")])
        home.fake.slash(mallory, home.channel, "do", {"task": "evil", "file": ("huge.bin", b"x")})
        home.fake.say(home.alice, home.channel, "!opengui do good", attachments=[("cat.png", b"meow")])
        await home.fake.wait_until(lambda: len(intake.messages) == 2 and intake.invocations)
    assert len(home.fake.downloads) == 1
    by_person = {incoming.person.name: incoming.attachments for incoming in intake.messages}
    assert by_person == {"mallory": (), "alice": (Attachment("cat.png", b"meow"),)}
    assert intake.invocations[0].attachments == ()
    assert set(asked) == {(str(mallory.id), str(home.channel.id)), (str(home.alice.id), str(home.channel.id))}


@pytest.mark.usefixtures("chat")
async def test_talk_that_is_no_command_has_its_files_left_alone(home: Home, intake: Recording) -> None:
    home.fake.say(home.alice, home.channel, "look at my cat", attachments=[("cat.png", b"meow")])
    await home.fake.wait_until(lambda: intake.messages)
    assert home.fake.downloads == []


@pytest.mark.usefixtures("chat")
async def test_files_with_words_come_along_in_private_and_are_only_told_of_in_a_thread(
    home: Home, intake: Recording
) -> None:
    thread = home.fake.thread(home.channel, "a task", home.alice)
    home.fake.say(home.alice, thread, "like this", attachments=[("cat.png", b"meow")])
    home.fake.say(home.alice, home.fake.private(home.alice), "post this", attachments=[("cat.png", b"meow")])
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    assert sorted((came.text, came.carries, len(came.attachments)) for came in intake.messages) == [
        ("like this", True, 0),
        ("post this", True, 1),
    ]


@pytest.mark.usefixtures("chat")
async def test_files_without_words_are_not_fetched(home: Home, intake: Recording) -> None:
    private = home.fake.private(home.alice)
    home.fake.say(home.alice, private, "", attachments=[("cat.png", b"meow")])
    await home.fake.wait_until(lambda: intake.messages)
    assert [(came.place.private, came.wordless) for came in intake.messages] == [(True, "!opengui do")]
    assert home.fake.downloads == []


@pytest.mark.usefixtures("chat")
async def test_a_do_that_replies_to_files_takes_them_along(home: Home, intake: Recording) -> None:
    bob = home.fake.user("bob", home.guild)
    above = home.fake.say(bob, home.channel, "", attachments=[("cat.png", b"meow"), ("dog.png", b"woof")])
    home.fake.say(home.alice, home.channel, "!opengui do x", attachments=[("own.txt", b"a")], reply_to=above)
    await home.fake.wait_until(lambda: any(came.command for came in intake.messages))
    (came,) = [came for came in intake.messages if came.command]
    assert [file.name for file in came.attachments] == ["own.txt", "cat.png", "dog.png"]


async def test_a_reply_fetches_nothing_for_strangers_other_commands_and_what_the_bot_showed(
    home: Home, intake: Recording, tmp_path: Path
) -> None:
    """Seen failing without the question of `welcome`, of `orders_work`, and of the bot in `_above`: one file each."""
    mallory = home.fake.user("mallory", home.guild)
    async with running(home, intake, tmp_path, welcome=lambda one, _place: one.id == str(home.alice.id)) as chat:
        above = home.fake.say(home.alice, home.channel, "look", attachments=[("cat.png", b"meow")])
        await chat.send(home.address(), Message(body="card", picture=Picture("a.png", b"png")), nonce="1")
        card = await home.answer()
        home.fake.say(mallory, home.channel, "!opengui do x", reply_to=above)
        home.fake.say(home.alice, home.channel, "!opengui screen", reply_to=above)
        home.fake.say(home.alice, home.channel, "!opengui do x", reply_to=card)
        await home.fake.wait_until(lambda: sum(bool(came.command) for came in intake.messages) == 3)
    assert home.fake.downloads == []


@pytest.mark.usefixtures("chat")
async def test_a_file_that_is_too_large_is_left_out_and_told(home: Home, intake: Recording) -> None:
    intake.replies = lambda _: Reply(task="7")
    big = b"x" * (25 * 1024 * 1024 + 1)
    home.fake.say(home.alice, home.channel, "!opengui do x", attachments=[("film.mp4", big), ("a.txt", b"a")])
    assert "film.mp4 was left out" in (await home.answer()).content
    assert intake.messages[0].attachments == (Attachment("a.txt", b"a"),)


@pytest.mark.usefixtures("chat")
async def test_a_file_that_cannot_be_fetched_is_told(home: Home, intake: Recording) -> None:
    intake.replies = lambda _: Reply(Message(body="Which phone?"))
    home.fake.say(home.alice, home.channel, "!opengui do x", attachments=[("a.txt", b"a")])
    home.fake.forget_files()
    assert (await home.answer()).content == "Which phone?"
    assert "a.txt was left out" in (await home.answer(number=2)).content


@pytest.mark.usefixtures("chat")
async def test_strangers_do_not_learn_about_lost_files(home: Home, intake: Recording) -> None:
    home.fake.say(home.alice, home.channel, "!opengui do x", attachments=[("a.txt", b"a")])
    home.fake.forget_files()
    home.fake.say(home.alice, home.channel, "!opengui do y")
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    assert home.fake.from_bot(home.channel) == []


@pytest.mark.usefixtures("chat")
async def test_a_file_that_is_larger_than_it_says_is_cut_off(home: Home, intake: Recording) -> None:
    """Seen failing (26 MB came in) with the count of the bytes taken out of `Fetcher._read`."""
    intake.replies = lambda _: Reply(task="7")
    home.fake.say(home.alice, home.channel, "!opengui do x", attachments=[("film.mp4", b"small")])
    home.fake.swap_files(b"x" * (26 * 1024 * 1024))
    assert "film.mp4 was left out" in (await home.answer()).content
    assert intake.messages[0].attachments == ()


@asynccontextmanager
async def somewhere_else() -> AsyncIterator[tuple[str, list[str]]]:
    """A server that is not Discord's: its address, and what was asked of it."""
    visits: list[str] = []

    async def serve(request: web.Request) -> web.Response:
        visits.append(request.path)
        return web.Response(body=b"inside")

    app = web.Application()
    app.router.add_get("/{path:.*}", serve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", visits
    finally:
        await runner.cleanup()


@pytest.mark.usefixtures("chat")
async def test_a_file_server_that_sends_elsewhere_is_not_followed(home: Home, intake: Recording) -> None:
    """Seen failing (the other server was visited, its bytes became the file) with redirects allowed."""
    intake.replies = lambda _: Reply(task="7")
    async with somewhere_else() as (address, visits):
        home.fake.files_moved_to = f"{address}/secret"
        home.fake.say(home.alice, home.channel, "!opengui do x", attachments=[("a.txt", b"a")])
        assert "a.txt was left out" in (await home.answer()).content
    assert visits == []
    assert intake.messages[0].attachments == ()


ALICE = Person("discord", "1")


async def test_only_discords_own_servers_are_asked(home: Home) -> None:
    """Seen failing (the other server was visited) without the look at the host in `Fetcher._read`."""
    fetcher = Fetcher(lambda _person, _place: True, home.fake.api_base)
    async with somewhere_else() as (address, visits):
        for url in (
            f"{address}/attachments/1/2/a.txt",
            address.replace("127.0.0.1", "cdn.discordapp.com@127.0.0.1") + "/a.txt",
            "http://cdn.discordapp.com/a.txt",
            "https://cdn.discordapp.com.example.org/a.txt",
            "https://cdn.discordapp.com:8443/a.txt",
            "/etc/passwd",
            "file:///etc/passwd",
            "",
        ):
            files, lost = await fetcher.fetch(ALICE, Place(home.address()), [Attached("a.txt", 6, url)])
            assert files == (), url
            assert len(lost.splitlines()) == 1, url
    assert visits == []


async def test_the_sentences_about_files_are_in_the_servers_language(
    home: Home, intake: Recording, tmp_path: Path
) -> None:
    intake.replies = lambda _: Reply(Message(body="yes"))
    async with running(home, intake, tmp_path, language="zh"):
        home.fake.say(home.alice, home.channel, "!opengui do x", attachments=[("a.txt", b"a")])
        home.fake.forget_files()
        assert (await home.answer(number=2)).content.startswith("已略过 a.txt")
