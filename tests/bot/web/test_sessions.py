"""Sessions of the console on real SQLite: over restarts, at their end, and what is kept of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from bot.store.console import ConsoleSessions, Session
from bot.store.errors import StoreError
from bot.store.sqlite.database import DATABASE_NAME, SQLiteDatabase
from bot.web.exposure import Exposure
from bot.web.passwords import Password
from bot.web.sessions import IDLE_S, LIFETIME_S, MOST, USE_KEPT_EVERY_S, Sessions, Way
from tests.bot.web.world import World, open_world

MARKS = {Way.TOKEN: b"", Way.PASSWORD: b"mark"}
PASSWORD, TOKEN = Way.PASSWORD, Way.TOKEN


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[ConsoleSessions]:
    database = await SQLiteDatabase.open(tmp_path / DATABASE_NAME)
    yield ConsoleSessions(database)
    await database.close()


class Full:
    """A disk on which nothing can be written."""

    async def all(self) -> tuple[Session, ...]:
        return ()

    async def keep(self, session: Session) -> None:
        raise StoreError(f"No room for {len(session.digest)} letters.")

    async def touch(self, digest: str, used: float) -> None:
        raise StoreError(f"No room for {len(digest)} letters and {used}.")

    async def forget(self, digests: Collection[str]) -> None:
        if digests:
            raise StoreError("No room.")


@pytest.mark.parametrize("way", [PASSWORD, TOKEN])
async def test_a_session_ends_by_idling_and_by_age(kept: ConsoleSessions, way: Way) -> None:
    now = 1e9
    sessions = Sessions(kept, lambda: now, MARKS)
    idle, used = await sessions.begin(way, "a"), await sessions.begin(way, "b")
    now += IDLE_S[way] - 1
    assert await sessions.use(used, way)
    now += 1
    assert not await sessions.use(idle, way)
    while now < 1e9 + LIFETIME_S[way]:
        digest = await sessions.use(used, way)
        assert digest
        now += IDLE_S[way] - 1
    assert not await sessions.use(used, way)
    assert not sessions.is_valid(digest)
    # Whose time is over is forgotten with the next one that begins.
    await sessions.begin(way, "c")
    assert [one.address for one in await kept.all()] == ["c"]


async def test_it_is_the_same_after_a_restart_and_no_clock_makes_it_live_for_years(kept: ConsoleSessions) -> None:
    """Seen failing, for the clock, without `abs`."""
    now = 1e9
    session = await Sessions(kept, lambda: now, MARKS).begin(PASSWORD, "203.0.113.7")
    again = Sessions(kept, lambda: now, MARKS)
    await again.load()
    digest = await again.use(session, PASSWORD)
    assert again.listed() == (Session(digest, PASSWORD, "203.0.113.7", now, now),)
    now -= 10 * LIFETIME_S[PASSWORD]
    assert not await again.use(session, PASSWORD)


async def test_its_use_is_written_down_now_and_then(kept: ConsoleSessions) -> None:
    now = 1e9
    sessions = Sessions(kept, lambda: now, MARKS)
    session = await sessions.begin(PASSWORD, "a")
    now += USE_KEPT_EVERY_S - 1
    await sessions.use(session, PASSWORD)
    assert (await kept.all())[0].used == 1e9
    now += 1
    await sessions.use(session, PASSWORD)
    assert (await kept.all())[0].used == now


async def test_it_holds_with_what_it_was_opened_with_only(kept: ConsoleSessions) -> None:
    """Seen failing with a digest of the id alone: another password had left the old sessions as they were."""
    old = Sessions(kept, lambda: 1e9, MARKS)
    by_password, by_token = await old.begin(PASSWORD, "a"), await old.begin(TOKEN, "b")
    assert not await old.use(by_password, TOKEN)
    for marks, holds in (
        (MARKS, True),
        ({Way.TOKEN: b"", Way.PASSWORD: b"another"}, False),
        ({Way.TOKEN: b""}, False),
    ):
        new = Sessions(kept, lambda: 1e9, marks)
        await new.load()
        assert bool(await new.use(by_password, PASSWORD)) is holds
        assert await new.use(by_token, TOKEN)


@pytest.mark.slow
def test_the_mark_of_a_password_is_its_settings() -> None:
    plain, other = Password.of("correct horse battery"), Password.of("correct horse battery!")
    assert plain.mark == Password.of("correct horse battery").mark
    assert len({plain.mark, other.mark, Password.of(str(plain)).mark}) == 3


async def test_there_is_an_end_to_how_many(kept: ConsoleSessions) -> None:
    now = 1e9
    sessions = Sessions(kept, lambda: now, MARKS)
    first = await sessions.begin(PASSWORD, "first")
    now += 1
    others = [await sessions.begin(PASSWORD, "a") for _ in range(MOST)]
    assert not await sessions.use(first, PASSWORD)
    assert [bool(await sessions.use(one, PASSWORD)) for one in others] == [True] * MOST
    assert len(await kept.all()) == MOST


async def test_a_full_disk_lets_people_in_and_does_not_hide_that_they_are_not_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 1e9
    sessions = Sessions(Full(), lambda: now, MARKS)
    session = await sessions.begin(PASSWORD, "a")
    now += USE_KEPT_EVERY_S
    digest = await sessions.use(session, PASSWORD)
    assert digest
    assert caplog.text.count("No room for") == 2
    assert session not in caplog.text
    with pytest.raises(StoreError):
        await sessions.end_all()
    assert not sessions.is_valid(digest)


async def cookies_of(world: World) -> dict[str, str]:
    """What the browser keeps that opened the printed address."""
    async with aiohttp.ClientSession() as caller, caller.get(world.entry, allow_redirects=False) as response:
        return {name: cookie.value for name, cookie in response.cookies.items()}


async def state(url: str, cookies: dict[str, str]) -> int:
    text = "; ".join(f"{name}={value}" for name, value in cookies.items())
    headers = {"Cookie": text}
    async with aiohttp.ClientSession(headers=headers) as caller, caller.get(f"{url}/api/state") as response:
        return response.status


async def test_what_is_kept_opens_nothing(world: World) -> None:
    """Seen failing with the id kept as it is."""
    cookies = await cookies_of(world)
    (name,) = cookies
    assert await state(world.url, cookies) == 200
    (row,) = await world.sessions.all()
    assert await state(world.url, {name: row.digest}) == 401
    assert await state(world.url, {name: world.token}) == 401
    for file in world.directory.glob("console.sqlite3*"):
        data = file.read_bytes()
        assert cookies[name].encode() not in data
        assert world.token.encode() not in data


async def test_the_token_ends_with_the_service_and_its_session_does_not(world: World) -> None:
    cookies = await cookies_of(world)
    port = URL(world.url).port or 0
    await world.console.stop()
    another = world.another(Exposure("127.0.0.1"), port)
    entry = await another.start()
    try:
        assert world.token not in entry
        assert await state(world.url, cookies) == 200
        headers = {"Authorization": f"Bearer {world.token}"}
        async with aiohttp.ClientSession(world.url, headers=headers) as caller, caller.get("/api/state") as response:
            assert response.status == 401
    finally:
        await another.stop()


async def test_the_printed_address_opened_again_begins_no_other_session(world: World) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as caller:
        for _ in range(3):
            async with caller.get(world.entry) as response:
                assert response.status == 200
    assert len(await world.sessions.all()) == 1


async def test_the_command_line_ends_them_all(world: World, client: aiohttp.ClientSession) -> None:
    first, second = await cookies_of(world), await cookies_of(world)
    async with client.get("/api/sessions") as response:
        listed = (await response.json())["sessions"]
        assert [(one["way"], one["address"], one["own"]) for one in listed] == [("token", "127.0.0.1", False)] * 2
    async with client.post("/api/sign-out", json={"others": True}) as response:
        assert await response.json() == {"ended": 2}
    assert [await state(world.url, one) for one in (first, second)] == [401, 401]
    assert await world.sessions.all() == ()
    async with client.get("/api/state") as response:
        assert response.status == 200


@pytest.mark.slow
async def test_signing_out_of_a_session_that_began_here(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as caller:
            async with caller.get(world.entry) as response:
                assert response.status == 200
            cookies = {cookie.key: cookie.value for cookie in jar}
            async with caller.post(f"{world.url}/api/sign-out", json={}, headers={"Origin": world.url}) as response:
                assert await response.json() == {"ended": 1}
        assert not list(jar)
        assert await state(world.url, cookies) == 401
        assert await world.sessions.all() == ()
