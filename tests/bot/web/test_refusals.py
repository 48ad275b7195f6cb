"""Each refusal over HTTP has one form, {code, message, details}; below /v1 it is the one that OpenAI's clients read."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from agent.members.loading import Team
from agent.skills.library import load_skills
from bot.chats.installed import installed, model_of
from bot.config.settings import load_settings
from bot.domain.right import Right
from bot.runtime.run_config import RunConfigs
from bot.store.errors import StoreAway
from bot.web.connect import Connect
from bot.web.connect_folders import ConnectFolders, FolderKind
from bot.web.connect_phones import ConnectPhones
from bot.web.http import BODY_LIMIT, post
from bot.web.sign_in import WRONG_ALLOWED
from tests.bot.web.test_connect import Network
from tests.bot.web.v1.world import ApiWorld, open_api
from tests.bot.world import World

pytestmark = pytest.mark.slow

LARGE = b" " * (BODY_LIMIT + 1)
WRONG_WAYS: dict[str, dict[str, Any]] = {
    "nobody": {"json": {}},
    "a token that holds no more": {"json": {}, "secret": "ogt_" + "x" * 40},
    "another page": {"json": {}, "headers": {"Origin": "https://evil.example"}},
    "another host": {"json": {}, "headers": {"Host": "evil.example"}},
    "too few rights": {"json": {}, "secret": "use"},
    "no JSON": {"data": b"{", "secret": "admin", "headers": {"Content-Type": "application/json"}},
    "a form that fits nothing": {"json": {"x": 1}, "secret": "admin"},
    "text": {"data": b"x", "secret": "admin", "headers": {"Content-Type": "text/plain"}},
    "too much": {"data": LARGE, "secret": "admin", "headers": {"Content-Type": "application/json"}},
    "the operator without JSON": {"data": b"{", "secret": "start", "headers": {"Content-Type": "application/json"}},
    "the operator": {"json": {"x": 1}, "secret": "start"},
}


async def broken(_: Request) -> Response:
    raise RuntimeError


async def full(_: Request) -> Response:
    raise StoreAway("no space")


def all_that_admins_have(world: World) -> Sequence[BaseRoute]:
    configs = RunConfigs(world.services.live.now, lambda _request, _away: None)
    online: Any = lambda _: None  # noqa: E731 - nobody is asked
    connect = Connect(world.services, installed(), online=online, team=Team, members=Path(), model=configs)
    kind = FolderKind(Path("x"), "SKILL.md", lambda root: load_skills(root, shipped=False), lambda: None)
    return [
        *connect.routes(),
        *ConnectPhones(world.services, Network()).routes(),
        *ConnectFolders(world.services, {"skills": kind}).routes(),
        *(post(path, handler, None) for path, handler in (("/api/broken", broken), ("/v1/broken", broken))),
        *(post(path, handler, None) for path, handler in (("/api/full", full), ("/v1/full", full))),
    ]


@pytest.fixture
async def api(real_world: None, tmp_path: Path) -> AsyncIterator[ApiWorld]:  # noqa: ARG001
    (tmp_path / "service.env").write_text(f"DATA_DIR={tmp_path}\n", encoding="utf-8")
    settings = load_settings(tmp_path / "service.env", model_of(installed()))
    async with open_api(tmp_path, settings=settings, more=all_that_admins_have) as opened:
        yield opened


async def document_of(api: ApiWorld) -> dict[str, Any]:
    async with api.session.get(api.url.with_path("/docs/openapi.json")) as response:
        found: dict[str, Any] = await response.json()
        return found


def wrongly_asked(api: ApiWorld, document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """A method, a path and a way: each path as it is served and otherwise, and some that there are not."""
    paths = {route.path: route.methods or {"POST"} for route in api.console.routes if isinstance(route, Route)}
    paths |= {f"/api/v1{path}": {method.upper() for method in ways} for path, ways in document["paths"].items()}
    paths |= {path: {"GET", "POST"} for path in ("/api/x", "/api/v1/x", "/v1/x", "/mcp/x", "/x", "/page/x", "/docs/x")}
    for path, methods in paths.items():
        named = re.sub(r"{[^}]*}", "1", path)
        yield from ((method, named, name) for method in sorted(methods - {"HEAD"}) for name in WRONG_WAYS)
        yield from (("PUT", named, name) for name in ("nobody", "a form that fits nothing", "the operator"))


async def test_every_refusal_has_one_form(api: ApiWorld) -> None:
    secrets = {"start": api.start, "use": await api.token("use"), "admin": await api.token("admin", Right.ADMIN)}
    met: set[tuple[int, str]] = set()
    for method, path, name in wrongly_asked(api, await document_of(api)):
        way = WRONG_WAYS[name]
        sent = {key: value for key, value in way.items() if key in {"json", "data"}}
        headers = dict(way.get("headers", {}))
        if "secret" in way:
            headers["Authorization"] = f"Bearer {secrets.get(way['secret'], way['secret'])}"
        try:
            # A connection for each: whatever refuses without reading the body closes its own.
            async with aiohttp.request(method, api.url.with_path(path), headers=headers, **sent) as answer:
                told = await answer.read() if answer.status >= 400 else b""
        except aiohttp.ClientOSError:
            assert name == "too much", "only what is too large to be read may find the connection closed"
            continue
        if not told:
            continue
        where = (name, method, path, answer.status, told)
        assert answer.content_type == "application/json", where
        found = json.loads(told)
        if path == "/mcp" and "jsonrpc" in found:
            met.add((answer.status, "MCP"))
            continue
        kind = "OpenAI" if re.match("/v1(/|$)", path) else ""
        if kind:
            assert set(found) == {"error"}, where
            found = found["error"]
        assert set(found) == ({"message", "type", "param", "code"} if kind else {"code", "message", "details"}), where
        assert re.fullmatch("[a-z_]+", found["code"]), where
        assert found["message"].strip(), where
        met.add((answer.status, kind))
    every = {400, 401, 403, 404, 405, 409, 413, 415, 422, 500, 503}
    assert every <= {status for status, kind in met if not kind}
    assert {400, 401, 403, 404, 405, 415, 500, 503} <= {status for status, kind in met if kind == "OpenAI"}
    assert not await api.world.task_service.active()


async def test_who_guesses_too_often_is_told_so_in_the_same_form(api: ApiWorld) -> None:
    await api.token("use")
    for _ in range(WRONG_ALLOWED + 1):
        async with api.session.post(api.url.with_path("/api/sign-in"), json={"password": "x" * 20}) as answer:
            status, found = answer.status, await answer.json()
    assert (status, found["code"], set(found)) == (429, "too_many", {"code", "message", "details"})


@pytest.mark.parametrize("said", ["NONSENSE\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"])
async def test_what_is_no_request_is_refused_in_the_same_form(api: ApiWorld, said: str) -> None:
    reader, writer = await asyncio.open_connection(api.url.host, api.url.port)
    writer.write(said.encode())
    async with asyncio.timeout(10):
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert head.startswith(b"HTTP/1.1 400")
    assert re.search(rb"{.*}", body)
    found = json.loads((re.search(rb"{.*}", body) or [b""])[0])
    assert (found["code"], set(found)) == ("bad_request", {"code", "message", "details"})


async def test_the_document_has_the_version_of_the_program(api: ApiWorld) -> None:
    assert (await document_of(api))["info"]["version"] == version("opengui-bot")
