"""Voice notes: refused kindly, or written down at an endpoint, shown, and begun by a button alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import SecretStr

from agent.models.endpoint import EndpointSettings
from agent.models.openai_other_models import OpenAITranscriber
from agent.models.pricing import Price
from agent.questions import QuestionKind
from bot.application.services import UTC
from bot.config.settings import Settings
from bot.domain.address import Person, Place
from bot.store.totals import UsageBy, VoiceTotals
from tests.bot.chats.telegram.conftest import Home
from tests.bot.chats.telegram.test_missed import service
from tests.bot.world import World
from tests.fakes.model_server import ModelServer
from tests.fakes.model_server.hearing import Heard

KEY = "sk-voice-key-of-the-tests"
SPEECH = b"OggS" + bytes(5000)


@asynccontextmanager
async def listening(
    home: Home,
    path: Path,
    *,
    key: str = KEY,
    patience: float = 5.0,
    minute: float | None = None,
    settings: Settings | None = None,
) -> AsyncIterator[tuple[World, ModelServer]]:
    async with ModelServer(key=KEY) as endpoint:
        endpoint.ear.says = lambda _: " open settings "
        prices = {"a-model": Price(input=1_000.0, output=10_000.0)}
        place = EndpointSettings("a-model", base_url=endpoint.base_url, api_key=SecretStr(key), prices=prices)
        transcriber = OpenAITranscriber(place, minute=minute, patience=patience)
        try:
            async with service(home, path, transcriber, settings) as world:
                yield world, endpoint
        finally:
            await transcriber.close()


async def test_without_an_endpoint_it_is_refused_kindly_and_to_known_people_only(home: Home, tmp_path: Path) -> None:
    async with service(home, tmp_path):
        eve = home.fake.user("eve")
        await home.fake.say(eve, home.fake.private(eve), voice=("", SPEECH))
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        assert "Please write instead" in (await home.answer(home.private)).text
        assert home.fake.from_bot(home.fake.private(eve)) == []
        assert home.fake.called("getFile") == []


async def test_what_was_said_is_shown_and_begun_by_a_button(home: Home, tmp_path: Path) -> None:
    async with listening(home, tmp_path) as (world, endpoint):
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        shown = await home.answer(home.private)
        assert "“open settings”" in shown.text
        assert endpoint.ear.heard == [Heard("a-model", "voice.ogg", SPEECH)]
        assert await world.task_service.recent(9) == ()
        (run,) = shown.buttons
        press = await home.fake.press(home.alice, shown, run)
        await home.fake.wait_until(lambda: press.answer is not None)
        (task,) = await world.task_service.recent(9)
        assert task.text == "open settings"


async def test_a_stranger_is_not_listened_to(home: Home, tmp_path: Path) -> None:
    """Seen failing with `VoiceNoteHandler` asked before `_may_use`: the stranger's voice went to the endpoint."""
    async with listening(home, tmp_path) as (_, endpoint):
        eve = home.fake.user("eve")
        await home.fake.say(eve, home.fake.private(eve), voice=("", b"eve speaks"))
        await home.fake.say(home.alice, home.group, voice=("", b"to the others"))
        await home.fake.settled()
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        await home.answer(home.private)
        assert [heard.audio for heard in endpoint.ear.heard] == [SPEECH]
        assert home.fake.from_bot(home.group) == []


@pytest.mark.parametrize("kind", [QuestionKind.SECRET, QuestionKind.APPROVE])
async def test_it_answers_no_question(home: Home, tmp_path: Path, kind: QuestionKind) -> None:
    """Seen failing without the look at open questions: a spoken code went to the endpoint."""
    async with listening(home, tmp_path) as (world, endpoint):
        alice = Person("telegram", str(home.alice.id), "Alice")
        task = await world.working(person=alice, place=Place(home.address(home.private), private=True))
        await world.ask(task, kind)
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        assert "can't take answers by voice" in (await home.answer(home.private)).text
        assert endpoint.ear.heard == []


@pytest.mark.parametrize("fault", ["long", "large", "old", "download", "endpoint", "odd", "silent", "key"])
async def test_what_cannot_be_heard_is_told(
    home: Home, tmp_path: Path, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-another-key-0123456789" if fault == "key" else KEY
    async with listening(home, tmp_path, key=key) as (world, endpoint):
        replies: dict[str, str | web.Response] = {
            "endpoint": web.Response(status=500),
            "odd": web.json_response({"text": 7}),
            "silent": "",
        }
        endpoint.ear.says = lambda _: replies.get(fault, "open settings")
        if fault == "download":
            home.fake.faults.fail("download", 404, "Not Found")
        data = {"long": bytes(181_000), "large": bytes(6 * 1024 * 1024)}.get(fault, SPEECH)
        await home.fake.say(home.alice, home.private, voice=("", data), age=3600 if fault == "old" else 0)
        words = {"long": "too long", "large": "too long", "old": "was down", "silent": "any words"}
        assert words.get(fault, "couldn't transcribe") in (await home.answer(home.private)).text
        assert await world.task_service.recent(9) == ()
        assert key not in caplog.text


async def test_an_endpoint_that_hangs_is_given_up(home: Home, tmp_path: Path) -> None:
    async with listening(home, tmp_path, patience=0.1) as (_, endpoint):
        endpoint.ear.awake.clear()
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        assert "couldn't transcribe" in (await home.answer(home.private)).text


@pytest.mark.parametrize(
    ("used", "minute", "seconds", "cost"),
    [
        (None, 0.6, 5.0, 0.05),
        ({"type": "duration", "seconds": 30}, 0.6, 30.0, 0.3),
        ({"type": "tokens", "input_tokens": 20, "output_tokens": 3, "total_tokens": 23}, None, 5.0, 0.05),
        ({"type": "tokens", "input_tokens": 20, "output_tokens": 3, "total_tokens": 23}, 0.6, 5.0, 0.05),
        (None, None, 5.0, None),
        ({"type": "duration", "seconds": "long"}, 0.6, 5.0, 0.05),
        ({"type": "duration", "seconds": -3}, 0.6, 5.0, 0.05),
        ({"type": "tokens", "input_tokens": True, "output_tokens": None}, None, 5.0, None),
        (7, 0.0, 5.0, 0.0),
    ],
)
async def test_what_listening_costs_is_kept_whatever_the_endpoint_tells(
    home: Home, tmp_path: Path, used: object, minute: float | None, seconds: float, cost: float | None
) -> None:
    async with listening(home, tmp_path, minute=minute) as (world, endpoint):
        endpoint.ear.used = used
        endpoint.ear.says = lambda _: ""
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        assert "any words" in (await home.answer(home.private)).text
        (row,) = await world.store.usage.grouped(UsageBy.MODEL, 0.0, world.clock.now + 1.0, UTC)
        assert (row.key, row.totals.voice.notes, row.totals.voice.seconds) == ("a-model", 1, seconds)
        assert row.totals.voice.cost == (None if cost is None else pytest.approx(cost))


async def test_it_counts_in_the_money_of_the_day_and_has_its_own_line_in_usage(home: Home, tmp_path: Path) -> None:
    """Seen failing without `admit_voice`: the second recording went to the endpoint."""
    tiers = Settings.model_validate({"tiers": {"basic": {"cost": 0.05}}, "default_tier": "basic"})
    async with listening(home, tmp_path, minute=0.6, settings=tiers) as (world, endpoint):
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        await home.answer(home.private)
        await home.fake.say(home.alice, home.private, voice=("", b"more"))
        refused = (await home.answer(home.private, 2)).text
        assert "0.05 of 0.05 in cost (tier basic)" in refused
        assert "Please write it" in refused
        assert [heard.audio for heard in endpoint.ear.heard] == [SPEECH]
        assert len(home.fake.called("getFile")) == 1
        await home.fake.say(home.alice, home.private, "/do open settings")
        assert "quota is used up" in (await home.answer(home.private, 3)).text
        for by, label in (("day", "1970-01-12"), ("person", "Alice"), ("phone", "spoken to the bot")):
            count = len(home.fake.from_bot(home.private))
            await home.fake.say(home.alice, home.private, f"/usage {by}")
            shown = (await home.answer(home.private, count + 1)).text
            assert f"{label}\n  1 voice note · 5 s · cost 0.0500\n" in shown
            assert "Total: 1 voice note · 5 s · cost 0.0500" in shown
        noted = [(entry.kind, entry.detail) for entry in await world.store.audit.page(9)]
        assert ("over_quota", "cost 0.05/0.05 basic") in noted
        world.clock.advance(86_400.0)
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        await home.fake.wait_until(lambda: len(endpoint.ear.heard) == 2)


async def test_in_a_tier_that_is_not_defined_any_more_nobody_is_listened_to(home: Home, tmp_path: Path) -> None:
    gone = Settings.model_construct(tiers={}, default_tier="gone")
    async with listening(home, tmp_path, settings=gone) as (world, endpoint):
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        assert "no longer defined" in (await home.answer(home.private)).text
        assert endpoint.ear.heard == []
        assert (await world.store.usage.total(0.0, world.clock.now + 1.0)).voice == VoiceTotals()


async def test_while_a_code_is_asked_for_elsewhere_nobody_is_listened_to(home: Home, tmp_path: Path) -> None:
    """Seen failing without `secrets_asked` in `VoiceNoteHandler.heard`: a spoken code went to the endpoint."""
    async with listening(home, tmp_path) as (world, endpoint):
        alice = Person("telegram", str(home.alice.id), "Alice")
        task = await world.working(person=alice, place=Place(home.address(home.group)))
        await world.ask(task, QuestionKind.SECRET)
        await home.fake.say(home.alice, home.private, voice=("", SPEECH))
        assert "can't take answers by voice" in (await home.answer(home.private)).text
        assert endpoint.ear.heard == []
