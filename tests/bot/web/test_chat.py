from __future__ import annotations

from pathlib import Path

import pytest

from bot.domain.address import Address, MessageRef
from bot.domain.chat import Chat, ChatGone
from bot.domain.outgoing import Button, Message, Picture
from bot.web.chat import HOME, TEXT_LIMIT, WebChat
from tests.bot.web.standins import address, picture
from tests.bot.web.world import World, open_world

pytestmark = pytest.mark.slow


def as_chat(chat: WebChat) -> Chat:
    """The console is a chat like the others; mypy checks it here."""
    return chat


async def test_a_message_is_kept_with_all_its_parts(world: World) -> None:
    chat = as_chat(world.chat)
    assert chat.platform == "web"
    message = Message(
        heading="Task 1",
        body="working",
        footer="5 s",
        picture=Picture("screen.png", picture()),
        files=(Picture("notes.txt", b"found"),),
        buttons=((Button("Stop", "1:stop:1", "danger"),), ()),
        notify=True,
        reply_to=MessageRef(HOME, "7"),
    )
    ref = await chat.send(address("t1"), message, nonce="n1")
    (entry,) = await world.log.page("t1", before=None, limit=10)
    assert ref == MessageRef(address("t1"), str(entry.id))
    content = entry.content
    assert (content.heading, content.body, content.footer) == ("Task 1", "working", "5 s")
    assert (content.notify, content.reply_to) == (True, "7")
    assert [[button.data for button in row] for row in content.buttons] == [["1:stop:1"]]
    assert await world.frames.load(content.picture) == picture()
    assert content.files[0].name == "notes.txt"
    assert await world.frames.load(content.files[0].reference) == b"found"


async def test_the_same_nonce_shows_once(world: World) -> None:
    first = await world.chat.send(address("t1"), Message(body="final"), nonce="task 1 final")
    again = await world.chat.send(address("t1"), Message(body="final"), nonce="task 1 final")
    assert first == again
    assert len(await world.log.page("t1", before=None, limit=10)) == 1


async def test_a_persons_event_and_a_nonce_of_ours_never_meet(world: World) -> None:
    await world.chat.send(HOME, Message(body="ours"), nonce="same")
    await world.chat.show_user_message(address(""), "theirs", nonce="same")
    assert [entry.author for entry in await world.log.page("", before=None, limit=10)] == ["bot", "operator"]


async def test_messages_and_edits_survive_a_restart(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        ref = await world.chat.send(address("t1"), Message(body="step 1"), nonce="card")
        await world.chat.edit(ref, Message(body="step 2"))
    async with open_world(tmp_path) as world:
        (entry,) = await world.log.page("t1", before=None, limit=10)
        assert entry.content.body == "step 2"
        assert entry.edited is not None
        await world.chat.edit(ref, Message(body="step 3"))
        assert await world.chat.send(address("t1"), Message(body="step 1"), nonce="card") == ref


async def test_a_deleted_message_leaves_no_text(world: World) -> None:
    ref = await world.chat.show_user_message(address("t1"), "my code is 1234", nonce="event-1")
    await world.chat.delete(ref)
    assert await world.log.page("t1", before=None, limit=10) == ()
    (entry,) = await world.log.changes(0, 10)
    assert entry.deleted
    assert entry.content.body == ""
    with pytest.raises(ChatGone):
        await world.chat.edit(ref, Message(body="again"))


@pytest.mark.parametrize("message", ["99", "x", "", "9" * 40, "-1"])
async def test_an_unknown_message_is_gone(world: World, message: str) -> None:
    ref = MessageRef(HOME, message)
    with pytest.raises(ChatGone):
        await world.chat.edit(ref, Message(body="x"))
    with pytest.raises(ChatGone):
        await world.chat.delete(ref)


async def test_a_place_of_another_chat_is_refused(world: World) -> None:
    with pytest.raises(ChatGone):
        await world.chat.send(Address("discord", "bot", "chat"), Message(body="x"), nonce="n")


async def test_every_task_gets_a_place_of_its_own(world: World) -> None:
    one = await world.chat.open_place(HOME, "1", "open settings")
    other = await world.chat.open_place(one, "1", "open settings")
    assert one != other
    assert one.thread
    assert (one.platform, one.chat) == (HOME.platform, HOME.chat)
    await world.chat.close_place(one)


async def test_very_long_text_becomes_a_file(world: World) -> None:
    text = "line\n" * TEXT_LIMIT
    await world.chat.send(HOME, Message(body=text), nonce="n")
    (entry,) = await world.log.page("", before=None, limit=1)
    assert len(entry.content.body) == TEXT_LIMIT
    assert await world.frames.load(entry.content.files[0].reference) == text.encode()


async def test_a_file_without_a_suffix_can_be_kept(world: World) -> None:
    for name in ("README", "a.tar.gz", "odd.ünicode", "x.verylongsuffixname"):
        await world.chat.send(HOME, Message(files=(Picture(name, b"1"),)), nonce=name)
    entries = await world.log.page("", before=None, limit=10)
    assert [entry.content.files[0].name for entry in entries] == [
        "README",
        "a.tar.gz",
        "odd.ünicode",
        "x.verylongsuffixname",
    ]
