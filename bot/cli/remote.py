"""Connects the command line to a running service, through its console on loopback."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from bot.cli.exits import Refused, ServiceGone
from bot.domain.incoming import Attachment
from bot.domain.task_request import TaskDraft
from bot.store.directory import service_starts
from bot.texts import say, spoken
from bot.web import handover

if TYPE_CHECKING:
    import aiohttp

CONNECT_S = 3.0
FIRST_PAUSE_S, LAST_PAUSE_S = 0.05, 0.5
"""Seconds between two attempts to reach a service that is starting."""
LINE_LIMIT = 1024 * 1024
"""Bytes of one line of events; a summary with data is far smaller."""


LATEST = "latest"
"""The API's name for the task that a command means if it names none."""


class Remote:
    """A running service, reached by the command line through its console's HTTP API."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def start(self, draft: TaskDraft, files: Sequence[Attachment] = ()) -> str:
        """Start a task and return its number. Raises Refused and ServiceGone."""
        given = [{"name": file.name, "content": await self._hand_in(file)} for file in files]
        return str((await self.send("/api/v1/tasks", files=given, **body_of(draft)))["id"])

    async def events(self, task: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the events of a task from the first one, as plain objects. Raises Refused."""
        form = {"Accept": "application/x-ndjson"}
        async with self._session.get(f"{task_path(task)}/events", headers=form) as response:
            if response.status != 200:
                raise await _refusal(response)
            async for line in response.content:
                yield json.loads(line)

    async def _hand_in(self, file: Attachment) -> str:
        async with self._session.post("/api/v1/files", data=io.BytesIO(file.data)) as response:
            if response.status != 201:
                raise await _refusal(response)
            return str((await response.json())["content"])

    async def answer(self, task: str, question: str, text: str | None) -> str:
        """Answer a question of a task; None means that no answer will come. Returns "" or the reason for a refusal."""
        import aiohttp  # noqa: PLC0415 - see running_service

        try:
            await self.send(f"{task_path(task)}/answer", question=question, text=text)
        except (Refused, ServiceGone) as why:
            return str(why)
        except aiohttp.ClientError:
            return say("cli.remote.gone")
        return ""

    async def cancel(self, task: str) -> None:
        """Cancel a task. Raises Refused and ServiceGone."""
        await self.send(f"{task_path(task)}/cancel")

    async def read(self, path: str) -> dict[str, Any]:
        """Get the JSON at a path of the API. Raises ServiceGone."""
        async with self._session.get(path) as response:
            return await _answer(response)

    async def send(self, path: str, method: str = "POST", **body: object) -> dict[str, Any]:
        """Send a request that changes something and return the JSON reply. Raises Refused and ServiceGone."""
        async with self._session.request(method, path, json=body) as response:
            if not response.ok:
                raise await _refusal(response)
            done: dict[str, Any] = {} if response.status == 204 else await response.json()
            return done

    async def change_schedule(self, verb: str, number: str) -> str:
        """Pause, resume, revoke or remove a schedule, as `verb` says, and return the text that confirms it. Raises
        Refused and ServiceGone.
        """
        path = f"/api/v1/schedules/{quote(number, safe='')}"
        if verb == "remove":
            await self.send(path, "DELETE")
            return say("schedule.removed", schedule=number)
        return str((await self.send(f"{path}/{verb}"))["told"])

    async def change_skill(self, verb: str, name: str, new: str) -> str:
        """Delete, rename or restore a skill, as `verb` says, and return the text that confirms it. `new` is the new
        name or the version. Raises Refused and ServiceGone.
        """
        path = f"/api/v1/skills/{quote(name, safe='')}"
        if verb == "restore":
            return str((await self.send(f"{path}/restore", version=new))["told"])
        if verb == "rename":
            await self.send(path, "PATCH", name=new)
            return say("skills.renamed", name=name.lower(), new=new.lower())
        # Imported here so that a list of tasks loads no skills.
        from bot.commands.skills import removed_words  # noqa: PLC0415 - see above

        return removed_words(name.lower(), (await self.send(path, "DELETE"))["planned"])

    async def draft_skill(self, task: str, name: str, given: dict[str, str] | None) -> dict[str, Any]:
        """Return the skill that would be saved from a task: its `id`, `name`, and description for a person as `told`.
        `given` has the values in the task's text that become parameters, by parameter name; with None, the service
        proposes them. Raises Refused and ServiceGone.
        """
        return await self.send("/api/v1/skills/drafts", task=task, name=name, parameters=given)

    async def save_skill(self, draft: str) -> str:
        """Save a drafted skill and return the confirmation text. Raises Refused and ServiceGone."""
        return str((await self.send(f"/api/v1/skills/drafts/{draft}/save"))["told"])

    async def screen(self, phone: str) -> bytes:
        """Return a phone's current screen as a JPEG. Raises Refused and ServiceGone."""
        async with self._session.get(f"/api/v1/phones/{quote(phone, safe='')}/screen") as response:
            if response.status != 200:
                raise await _refusal(response)
            return await response.read()

    async def questions(self) -> list[dict[str, Any]]:
        """List the open questions of all tasks. Raises ServiceGone."""
        async with self._session.get("/api/state") as response:
            asked: list[dict[str, Any]] = (await _answer(response))["questions"]
            return asked

    async def task(self, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return a task, and the list of its steps. `name` is the task's number, "" for the latest task. Raises Refused
        if there is no such task, and ServiceGone.
        """
        path = task_path(name)
        async with self._session.get(path) as response:
            if response.status != 200:
                raise await _refusal(response)
            found = _task(await response.json())
        steps = await self._listed(f"{path}/steps", limit="100")
        return found, [
            step | {"frame": step["picture"], "app": step["package"], "app_name": step["app"]} for step in steps
        ]

    async def tasks(self) -> list[dict[str, Any]]:
        """List the latest tasks, at most 100. Raises ServiceGone."""
        async with self._session.get("/api/v1/tasks", params={"limit": "100"}) as response:
            return [_task(info) for info in (await _answer(response))["data"]["items"]]

    async def log(self, lines: int, *, follow: bool) -> AsyncIterator[str]:
        """Yield the last lines of the service's log; with `follow`, new ones as well. Raises ServiceGone."""
        asked = {"lines": str(lines), "follow": "1" if follow else "0"}
        async with self._session.get("/api/logs", params=asked) as response:
            if response.status != 200:
                raise ServiceGone(await _sentence(response))
            async for line in response.content:
                yield line.decode(errors="replace")

    async def usage(self, by: str, days: int) -> list[dict[str, Any]]:
        """List the usage of the last days as rows, grouped by `by`. Raises ServiceGone."""
        return await self._listed("/api/v1/statistics", by=by, days=str(days))

    async def phones(self) -> list[dict[str, Any]]:
        """List the phones. Raises ServiceGone."""
        return await self._listed("/api/v1/phones")

    async def schedules(self) -> list[dict[str, Any]]:
        """List the schedules. Raises ServiceGone."""
        found = await self._listed("/api/v1/schedules", limit="100")
        return [one | {"schedule": one["id"], "person": one["person_name"]} for one in found]

    async def skills(self) -> list[dict[str, Any]]:
        """List the skills with the statistics of their runs. Raises ServiceGone."""
        return await self._listed("/api/v1/skills")

    async def health(self) -> dict[str, Any]:
        """Return the JSON of `/healthz`. Raises ServiceGone."""
        async with self._session.get("/healthz") as response:
            if response.content_type != "application/json":
                raise ServiceGone(await _sentence(response))
            body: dict[str, Any] = await response.json()
            return body

    async def _listed(self, path: str, **asked: str) -> list[dict[str, Any]]:
        """Read all pages of a list of the API."""
        rows: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            async with self._session.get(path, params=asked | ({"cursor": cursor} if cursor else {})) as response:
                found = (await _answer(response))["data"]
            rows += found["items"]
            cursor = found["next_cursor"]
        return rows


@asynccontextmanager
async def running_service(data_dir: Path) -> AsyncIterator[Remote | None]:
    """Yield the service that owns the data directory, or None if none answers. A service that is just starting is
    waited for.

    Raises ServiceGone if it goes away while in use.
    """
    note = await asyncio.to_thread(handover.read, data_dir)
    pause = FIRST_PAUSE_S
    while await asyncio.to_thread(service_starts, data_dir) and (note is None or not await _listens(note.url)):
        await asyncio.sleep(pause)
        pause = min(2 * pause, LAST_PAUSE_S)
        note = await asyncio.to_thread(handover.read, data_dir)
    if note is None:
        yield None
        return
    # Imported here because without a service no HTTP client is needed.
    import aiohttp  # noqa: PLC0415 - see above

    async with aiohttp.ClientSession(
        note.url,
        headers={"Authorization": f"Bearer {note.token}", "Accept-Language": spoken()},
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
        read_bufsize=LINE_LIMIT,
    ) as session:
        try:
            async with session.get("/api/sessions", timeout=aiohttp.ClientTimeout(total=CONNECT_S)) as response:
                answers = response.status == 200
        except (aiohttp.ClientError, TimeoutError):
            answers = False
        try:
            yield Remote(session) if answers else None
        except aiohttp.ClientError as error:
            raise ServiceGone(say("cli.remote.gone")) from error


def task_path(task: str) -> str:
    """Return the API path of a task by its number; "" is the latest one."""
    return f"/api/v1/tasks/{quote(task.removeprefix('#') or LATEST, safe='')}"


def body_of(draft: TaskDraft) -> dict[str, Any]:
    """Convert a task draft to the JSON that the API takes."""
    skill = {} if draft.skill is None else {"skill": draft.skill.name, "arguments": dict(draft.skill.arguments)}
    form = {} if draft.result_schema is None else {"result_schema": draft.result_schema.document}
    return {"text": draft.text, "phone": draft.device, **skill, **form, **draft.options.model_dump()}


def _task(info: dict[str, Any]) -> dict[str, Any]:
    """Return a task of the API with the command line's field names."""
    return info | {"task": info["id"], "frame": info["picture"], "person": info["person_name"]}


async def _answer(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """Return the JSON of a response. Raises ServiceGone if it is a refusal."""
    if response.status != 200:
        raise ServiceGone(await _sentence(response))
    found: dict[str, Any] = await response.json()
    return found


async def _refusal(response: aiohttp.ClientResponse) -> Refused | ServiceGone:
    """The error for a refused request: Refused if the request was at fault (4xx), ServiceGone if the service was."""
    why = await _sentence(response)
    return Refused(why) if response.status < 500 else ServiceGone(why)


async def _sentence(response: aiohttp.ClientResponse) -> str:
    try:
        told = await response.json(content_type=None)
        return str(told["message"])
    except (ValueError, TypeError, KeyError):
        return say("cli.remote.answered", status=response.status)


async def _listens(url: str) -> bool:
    host, port = urlsplit(url).hostname, urlsplit(url).port
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), CONNECT_S)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
