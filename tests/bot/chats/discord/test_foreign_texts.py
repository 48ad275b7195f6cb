"""What somebody on Discord forwards: offered, and no order, answer or code of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.questions import QuestionKind
from bot.domain.incoming import Attachment, ForeignText
from tests.bot.chats.discord.conftest import Home
from tests.bot.chats.discord.recording import Recording
from tests.bot.chats.discord.town import a_town


@pytest.mark.usefixtures("chat")
async def test_a_forwarded_message_brings_its_words_and_files_marked(home: Home, intake: Recording) -> None:
    """Seen failing without `_handle_foreign`: an empty text of the person's own came in."""
    bob, private = home.fake.user("bob", home.guild), home.fake.private(home.alice)
    home.fake.backend.add_member(home.guild.id, home.alice.id)
    said = home.fake.say(bob, home.channel, "!opengui do buy it", attachments=[("cat.png", b"meow")])
    await home.fake.wait_until(lambda: len(intake.messages) == 1)
    home.fake.forward(home.alice, said, private)
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    came = intake.messages[1]
    assert (came.foreign, came.command, came.reply_to) == (ForeignText(), None, None)
    assert (came.text, came.attachments, came.carries) == (
        "!opengui do buy it",
        (Attachment("cat.png", b"meow"),),
        True,
    )


@pytest.mark.usefixtures("chat")
async def test_a_file_that_is_forwarded_alone_is_asked_about(home: Home, intake: Recording) -> None:
    private = home.fake.private(home.alice)
    said = home.fake.say(home.alice, private, "", attachments=[("cat.png", b"meow")])
    home.fake.forward(home.alice, said, private)
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    assert [came.wordless for came in intake.messages] == ["!opengui do"] * 2
    assert home.fake.downloads == []


@pytest.mark.usefixtures("chat")
async def test_edited_words_and_those_of_webhooks_are_not_heard(home: Home, intake: Recording) -> None:
    said = home.fake.say(home.alice, home.channel, "!opengui help")
    home.fake.backend.edit_message(home.channel.id, said.id, {"content": "!opengui do buy it"})
    home.fake.say(home.alice, home.channel, "!opengui devices")
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    assert [came.command for came in intake.messages] == ["help", "devices"]


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("text", ["yes", "!opengui answer yes"])
async def test_a_forwarded_yes_does_not_answer_an_approval(home: Home, tmp_path: Path, text: str) -> None:
    """Seen failing with the snapshot's words taken for the person's own: the approval was given."""
    async with a_town(home, tmp_path) as town:
        task = await town.working()
        await town.asks(task, kind=QuestionKind.APPROVE)
        thread = await town.thread()
        bob = home.fake.user("bob", home.guild)
        home.fake.forward(home.alice, home.fake.say(bob, home.channel, text), thread)
        await town.bot_says("answers no question", thread)
        (still_open,) = await town.world.task_service.open_questions(task=task.id)
        assert still_open.answer is None


@pytest.mark.usefixtures("virtual_time")
async def test_a_forwarded_text_is_a_task_by_a_press_alone(home: Home, tmp_path: Path) -> None:
    async with a_town(home, tmp_path) as town:
        private = home.fake.private(home.alice)
        bob = home.fake.user("bob", home.guild)
        home.fake.forward(home.alice, home.fake.say(bob, home.channel, "switch Bluetooth on"), private)
        shown = await home.answer(private)
        assert "Somebody else wrote this, not you" in shown.content
        assert await town.world.task_service.recent(9) == ()
        home.fake.press(home.alice, shown, town.button(shown, "Run as a task"))
        (task,) = await town.tasks(1)
        assert task.text == "switch Bluetooth on"
