"""The program does without its extras: what is left starts and does a task, and each one's absence is told."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import metadata
from pathlib import Path

import aiohttp
import pytest

from bot.cli.exits import OK, UNAVAILABLE, USAGE
from bot.config.installation import MCP_NAME, install_command, lack_of
from bot.texts import LANGUAGES, speaking
from devices.extras import MODULES, Extra, is_installed
from devices.wording import said
from tests.end_to_end.service import Place, place_with
from tests.fixtures.adb import AdbServer
from tests.fixtures.checkout import as_checkout

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)
ENDS_S = 120.0


def locked(name: str) -> set[str]:
    """The packages of a lock, by their names as the index writes them."""
    return {_plain(found) for found in PINNED.findall((ROOT / name).read_text(encoding="utf-8"))}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def brought() -> Iterator[str]:
    """The modules at the top that only packages of the extras bring, and those that are looked for: the top of some is
    shared.
    """
    yield from (module for extra in Extra if extra is not Extra.VIRTUAL_PHONE for module in MODULES[extra])
    base = locked("requirements.lock")
    extra = set().union(*(locked(f"extras/{path.name}") for path in (ROOT / "extras").glob("*.lock")))
    for module, names in metadata.packages_distributions().items():
        if {_plain(name) for name in names} <= extra - base:
            yield module


def test_the_table_names_the_extras_of_the_package() -> None:
    """And each has a lock of its own, but for the one that `make run` installs, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    assert optional.keys() - {"all"} == {*Extra} == MODULES.keys()
    assert optional["all"] == [f"{project['name']}[{','.join(sorted(Extra))}]"]
    locks = {path.stem for path in (ROOT / "extras").glob("*.lock")}
    assert locks == {*Extra} - {Extra.VIRTUAL_PHONE}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"EXTRAS := {' '.join(sorted(locks))}\n" in makefile


@pytest.mark.parametrize("extra", Extra)
def test_the_modules_that_are_looked_for_are_those_of_the_extra(extra: Extra) -> None:
    assert is_installed(extra), "tests have all of them"
    lock = "requirements.lock" if extra is Extra.VIRTUAL_PHONE else f"extras/{extra}.lock"
    homes = metadata.packages_distributions()
    for module in MODULES[extra]:
        assert {_plain(name) for name in homes[module.partition(".")[0]]} & locked(lock)


@pytest.mark.parametrize("extra", Extra)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sentence_has_the_one_command(extra: Extra, language: str) -> None:
    with speaking(language):
        assert install_command(extra) in said(lack_of(extra))


def test_the_command_fits_how_the_program_was_installed(tmp_path: Path) -> None:
    """What pipx and uv install is replaced, so what is there is named with it: here, everything."""
    everything = f"'opengui-bot[{','.join(Extra)}]'"
    assert install_command(Extra.WEB, as_checkout(tmp_path) / ".venv") == "make install-web"
    assert install_command(Extra.WEB, tmp_path / "other") == "pip install 'opengui-bot[web]'"
    (tmp_path / "pipx_metadata.json").touch()
    assert install_command(Extra.WEB, tmp_path) == f"pipx install --force {everything}"
    (tmp_path / "pipx_metadata.json").unlink()
    (tmp_path / "uv-receipt.toml").touch()
    assert install_command(Extra.WEB, tmp_path) == f"uv tool install {everything}"


class Base:
    """A machine on which no module of these extras can be loaded."""

    def __init__(self, place: Place, absent: Iterator[str]) -> None:
        self._place = place
        self.data = place.data
        self._customized = place.directory / "customized"
        self._customized.mkdir()
        # Loaded by each interpreter that is started below, before anything else.
        code = f"import sys\nsys.modules.update(dict.fromkeys({sorted({*absent})!r}))\n"
        (self._customized / "sitecustomize.py").write_text(code, encoding="utf-8")

    async def start(self, *arguments: str, stderr: int, **more: str) -> asyncio.subprocess.Process:
        """Start `opengui` with these."""
        environment = self._place.environment(more)
        environment["PYTHONPATH"] = f"{self._customized}{os.pathsep}{environment['PYTHONPATH']}"
        code = "import sys; from bot.cli import main; sys.exit(main())"
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", code, *arguments),
            cwd=self._place.directory,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )

    async def run(self, *arguments: str, **more: str) -> tuple[int | None, str, str]:
        """The exit code of a command, its standard output and its standard error."""
        process = await self.start(*arguments, stderr=asyncio.subprocess.PIPE, **more)
        async with asyncio.timeout(ENDS_S):
            out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()

    async def rows(self, *arguments: str, **more: str) -> list[dict[str, object]]:
        """The lines that a command prints as JSON."""
        _, out, _ = await self.run(*arguments, "--json", **more)
        return [json.loads(line) for line in out.splitlines()]

    @asynccontextmanager
    async def serving(self, **more: str) -> AsyncIterator[tuple[str, str]]:
        """What the service has said until it was ready, and the address of its console."""
        process = await self.start("run", stderr=asyncio.subprocess.STDOUT, **more)
        assert process.stdout is not None
        log, console = "", ""
        try:
            async with asyncio.timeout(ENDS_S):
                while not console:
                    line = (await process.stdout.readline()).decode()
                    assert line, log
                    log += line
                    console = line.removeprefix("Console: ").strip() if line.startswith("Console: ") else ""
            yield log, console
        finally:
            process.terminate()
            await process.communicate()


@pytest.fixture
async def base(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Base]:
    async with place_with(adb_server, tmp_path) as place:
        place.data.mkdir(mode=0o700)
        yield Base(place, brought())


async def _asked(address: str, token: str) -> tuple[int, str]:
    """What is answered to the holder of this token: the status, and the sentence."""
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session,
        session.post(address, json={}) as answer,
    ):
        return answer.status, json.loads(await answer.text())["message"]


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_service_without_extras_does_a_task_and_tells_what_is_missing(base: Base) -> None:
    """Seen failing with `import pydantic_monty` at the top of `agent/tools/computing.py`."""
    servers = base.data / MCP_NAME
    servers.write_text(json.dumps({"mcpServers": {"home": {"command": "true"}}}), encoding="utf-8")
    servers.chmod(0o600)
    chats = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_ALLOWED_USER_IDS": "U1"}
    chats |= {"FEISHU_APP_ID": "cli_1", "FEISHU_APP_SECRET": "s", "FEISHU_ALLOWED_USER_IDS": "ou_1"}
    async with base.serving(OTLP_ENDPOINT="http://127.0.0.1:9", **chats) as (log, console):
        assert said(lack_of(Extra.OTEL)) in log
        assert said(lack_of(Extra.MCP)) in log
        assert said(lack_of(Extra.SLACK)) in log
        assert said(lack_of(Extra.FEISHU)) in log
        code, _, err = await base.run("do", "open settings")
        assert code == OK, err
        origin, _, own = console.partition("/?token=")
        assert await _asked(f"{origin}/api/connect/phones/invitation", own) == (409, said(lack_of(Extra.QR)))
        token = (await base.run("token", "add", "editor"))[1].strip()
        assert await _asked(f"{origin}/mcp", token) == (501, said(lack_of(Extra.MCP)))
        code, _, err = await base.run("mcp", OPENGUI_TOKEN=token)
        assert code == UNAVAILABLE
        assert said(lack_of(Extra.MCP)) in err
    lacking = {row["tool"]: row["lacks"] for row in await base.rows("tools") if row.get("lacks")}
    assert (
        lacking.items()
        >= {
            "calculate": Extra.COMPUTING.value,
            "python": Extra.COMPUTING.value,
            "web_search": Extra.WEB.value,
            "read_page": Extra.WEB.value,
        }.items()
    )
    offered = [row["tool"] for row in await base.rows("tools", SEARXNG_URL="http://127.0.0.1:9") if row.get("offered")]
    assert "web_search" in offered, "by a service that the settings name"
    findings = " ".join(str(row["text"]) for row in await base.rows("doctor"))
    for extra in (Extra.COMPUTING, Extra.MCP, Extra.WEB):
        assert said(lack_of(extra)) in findings


@pytest.mark.slow
async def test_what_needs_an_extra_to_start_says_so_and_starts_nothing(base: Base) -> None:
    fleet = said(lack_of(Extra.FLEET))
    code, _, err = await base.run("run", FLEET_URL="nats://127.0.0.1:9")
    assert code == USAGE
    assert f"FLEET_URL is set, and nothing was started: {fleet}" in err
    code, _, err = await base.run("host")
    assert code == USAGE
    assert fleet in err
