"""Voice messages: refused kindly, or written down at an endpoint, shown, and begun by a button alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from agent.models.endpoint import EndpointSettings
from agent.models.openai_other_models import OpenAITranscriber
from agent.questions import QuestionKind
from tests.bot.chats.discord.conftest import Home, running
from tests.bot.chats.discord.recording import Recording
from tests.bot.chats.discord.town import Town, a_town
from tests.fakes.model_server import ModelServer
from tests.fakes.model_server.hearing import Heard

pytestmark = pytest.mark.usefixtures("virtual_time")

SPEECH = b"OggS" + bytes(5000)


@asynccontextmanager
async def listening(home: Home, path: Path) -> AsyncIterator[tuple[Town, ModelServer]]:
    async with ModelServer() as endpoint:
        endpoint.ear.says = lambda _: " open settings "
        place = EndpointSettings("a-model", base_url=endpoint.base_url, api_key=SecretStr(""))
        transcriber = OpenAITranscriber(place, minute=0.6)
        try:
            async with a_town(home, path, transcriber=transcriber) as town:
                yield town, endpoint
        finally:
            await transcriber.close()


async def test_without_an_endpoint_it_is_refused_kindly_and_to_known_people_only(home: Home, tmp_path: Path) -> None:
    eve = home.fake.user("eve", home.guild)
    async with a_town(home, tmp_path):
        home.fake.speak(eve, home.fake.private(eve), SPEECH, 5.0)
        home.fake.speak(home.alice, home.fake.private(home.alice), SPEECH, 5.0)
        assert "Please write instead" in (await home.answer(home.fake.private(home.alice))).content
        assert home.fake.from_bot(home.fake.private(eve)) == []
        assert home.fake.downloads == []


async def test_what_was_said_is_shown_begun_by_a_button_and_counted(home: Home, tmp_path: Path) -> None:
    async with listening(home, tmp_path) as (town, endpoint):
        home.fake.speak(home.alice, home.channel, b"to the others", 5.0)
        private = home.fake.private(home.alice)
        home.fake.speak(home.alice, private, SPEECH, 5.0)
        shown = await home.answer(private)
        assert "“open settings”" in shown.content
        assert endpoint.ear.heard == [Heard("a-model", "voice.ogg", SPEECH)]
        assert await town.world.task_service.recent(9) == ()
        home.fake.press(home.alice, shown, town.button(shown, "Run as a task"))
        (task,) = await town.tasks(1)
        assert task.text == "open settings"
        used = await town.world.store.usage.total(0.0, town.clock.now + 1.0)
        assert used.voice.notes == 1
        assert used.cost == pytest.approx(0.05)
        assert home.fake.from_bot(home.channel) == []


async def test_in_a_task_s_thread_it_answers_no_question(home: Home, tmp_path: Path) -> None:
    """Seen failing without the look at open questions: a spoken code went to the endpoint."""
    async with listening(home, tmp_path) as (town, endpoint):
        task = await town.working()
        await town.asks(task, kind=QuestionKind.SECRET)
        thread = await town.thread()
        home.fake.speak(home.alice, thread, SPEECH, 5.0)
        await town.bot_says("can't take answers by voice", thread)
        assert endpoint.ear.heard == []


@pytest.mark.parametrize(("size", "seconds"), [(5_000, 181.0), (6 * 1024 * 1024, 5.0)])
async def test_one_that_is_too_long_is_not_fetched(home: Home, tmp_path: Path, size: int, seconds: float) -> None:
    async with listening(home, tmp_path):
        private = home.fake.private(home.alice)
        home.fake.speak(home.alice, private, bytes(size), seconds)
        assert "too long" in (await home.answer(private)).content
        assert home.fake.downloads == []


async def test_one_that_is_gone_is_told(home: Home, tmp_path: Path) -> None:
    async with listening(home, tmp_path) as (_, endpoint):
        private = home.fake.private(home.alice)
        home.fake.speak(home.alice, private, SPEECH, 5.0)
        home.fake.forget_files()
        assert "couldn't transcribe" in (await home.answer(private)).content
        assert endpoint.ear.heard == []


async def test_it_comes_as_speech_and_not_as_a_file(home: Home, intake: Recording, tmp_path: Path) -> None:
    async with running(home, intake, tmp_path):
        home.fake.speak(home.alice, home.fake.private(home.alice), SPEECH, 5.0)
        await home.fake.wait_until(lambda: intake.messages)
    (came,) = intake.messages
    assert came.voice is not None
    assert (came.voice.seconds, came.voice.size, came.wordless, came.attachments) == (5.0, len(SPEECH), "", ())
