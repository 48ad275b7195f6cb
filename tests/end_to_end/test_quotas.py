"""Quotas and settings that change, on a running service: what a person in Discord sees of them."""

from __future__ import annotations

from simcord.backend.models import User

from tests.end_to_end.brain import FINISH, brain, call, tap
from tests.end_to_end.service import Place
from tests.fakes.discord import TOKEN, FakeDiscord
from tests.fakes.model_server import ModelServer

LIMIT = 60.0
LONG = (call("open_app", name="Settings"), tap("Bluetooth"), *(call("scroll", direction="down") for _ in range(5)))


async def test_a_quota_stops_work_and_what_an_admin_sets_counts_for_the_next_task(place: Place) -> None:
    async with FakeDiscord() as fake, ModelServer(brain(*LONG, FINISH)) as model:
        guild = fake.guild()
        alice, ada = fake.user("alice", guild), fake.user("ada", guild)
        settings = {
            "DISCORD_BOT_TOKEN": TOKEN,
            "DISCORD_API_BASE": fake.api_base,
            "DISCORD_ALLOWED_USER_IDS": str(alice.id),
            "DISCORD_ADMIN_USER_IDS": str(ada.id),
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "old-vl",
            "TIERS": '{"basic": {"steps": 3}}',
            "DEFAULT_TIER": "basic",
        }

        async def said(who: User, text: str, words: str) -> str:
            """Write in private, and wait for an answer with these words."""
            private = fake.private(who)
            fake.say(who, private, text)

            def found() -> list[str]:
                return [one.content for one in fake.from_bot(private) if words in one.content]

            await fake.wait_until(found, timeout=LIMIT)
            return found()[-1]

        async with place.service(**settings):
            await fake.connected()
            final = await said(alice, "!opengui do --quick look around", "quota is used up")
            assert "of 3 steps (tier basic)" in final, "it is told at the next look, which may be one step later"
            assert "resets at" in final
            assert "Nothing was started" in await said(alice, "!opengui do --quick again", "Nothing was started")
            assert "of 3 steps" in await said(alice, "!opengui usage", "Today, tier basic")
            assert {request.model for request in model.requests} == {"old-vl"}
            await said(ada, "!opengui set model new-vl", "new-vl")
            await said(ada, "!opengui set tier.basic.steps 50", "50")
            await said(alice, "!opengui do --quick finish it", "It is done.")
            assert model.requests[-1].model == "new-vl"
        async with place.service(**settings):
            await fake.connected()
            assert "environment: old-vl" in await said(ada, "!opengui set model", "set by")
