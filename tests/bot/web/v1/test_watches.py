"""Watches and schedules of skills over the API: what was understood is shown, and nothing is read before a yes."""

from __future__ import annotations

from tests.bot.web.v1.test_people import Browser
from tests.bot.web.v1.world import ApiWorld
from tests.bot.world import ANNA, BEN

SCHEDULES = "/api/v1/schedules"


async def test_a_watch_is_shown_and_begins_with_resume(api: ApiWorld) -> None:
    secret = await api.token("ci")
    wish = {"rule": "every 2h", "text": "open Shop, read the price", "tell_me_when": "the price is below $50"}
    made = (await api.ask(secret, "POST", "/schedules", wish)).body
    assert made["paused"]
    assert made["text"] == "open Shop, read the price"
    assert made["watch"]["result"] == {"name": "price", "type": "number", "unit": "$"}
    assert (made["watch"]["condition"]["compare"], made["watch"]["condition"]["limit"]) == ("below", "50")
    assert made["last"] is None
    assert (made["readings"]["when"], made["readings"]["value"]) == ("it is below 50 $", "")
    assert "below 50 $" in made["told"]
    assert not (await api.ask(secret, "POST", f"/schedules/{made['id']}/resume")).body["paused"]
    (listed,) = (await api.ask(secret, "GET", "/schedules")).body["data"]["items"]
    assert listed["watch"]["condition"]["compare"] == "below"


async def test_words_in_another_language_are_watched(api: ApiWorld) -> None:
    secret = await api.token("ci")
    wish = {"rule": "every 2h", "text": "打开商店，读取价格", "tell_me_when": "价格低于50"}
    made = (await api.ask(secret, "POST", "/schedules", wish)).body
    assert (made["watch"]["condition"]["compare"], made["watch"]["condition"]["limit"]) == ("below", "50")


async def test_everybody_sees_and_changes_their_own(api: ApiWorld) -> None:
    anna = await Browser.enter(api, await api.token("anna", owner=ANNA))
    ben = await Browser.enter(api, await api.token("ben", owner=BEN))
    wish = {"rule": "every 30m", "text": "open Shop", "tell_me_when": "the price is below 5"}
    made = (await anna.ask("POST", SCHEDULES, wish)).body
    assert (await ben.ask("GET", SCHEDULES)).body["data"]["items"] == []
    assert (await ben.ask("DELETE", f"{SCHEDULES}/{made['id']}")).status == 404
    assert (await anna.ask("POST", f"{SCHEDULES}/{made['id']}/resume", {})).body["paused"] is False
    assert (await anna.ask("DELETE", f"{SCHEDULES}/{made['id']}")).status == 204
    assert (await anna.ask("GET", SCHEDULES)).body["data"]["items"] == []


async def test_a_schedule_follows_a_skill(api: ApiWorld) -> None:
    secret = await api.token("ci")
    wish = {"rule": "every day 07:30", "skill": "clear-notifications"}
    made = (await api.ask(secret, "POST", "/schedules", wish)).body
    assert (made["options"]["skill"], made["options"]["arguments"], made["watch"]) == (
        "clear-notifications",
        {},
        None,
    )
    unknown = await api.ask(secret, "POST", "/schedules", {"rule": "every 2h", "skill": "nowhere"})
    assert unknown.status == 409
    nothing = await api.ask(secret, "POST", "/schedules", {"rule": "every 2h"})
    assert nothing.status == 422
