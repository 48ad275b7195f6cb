"""A running service, reached through its console on loopback."""

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
"""Seconds between two looks for a service that is starting."""
LINE_LIMIT = 1024 * 1024
"""Bytes of one line of events; a summary with data is far below."""


LATEST = "latest"
"""For the API the task that is meant where none is named."""


class Remote:
    """The service's door for the command line."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def start(self, draft: TaskDraft, files: Sequence[Attachment] = ()) -> str:
        """Give a task; its number. Raises Refused and ServiceGone."""
        given = [{"name": file.name, "content": await self._hand_in(file)} for file in files]
        return str((await self.send("/api/v1/tasks", files=given, **body_of(draft)))["id"])

    async def events(self, task: str) -> AsyncIterator[dict[str, Any]]:
        """The events of a task from its first one on, as plain objects. Raises Refused."""
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
        """Answer a question of a task; None says that nobody will. "" when it was taken, else the reason why not."""
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
        """What it answers at an address of a part. Raises ServiceGone."""
        async with self._session.get(path) as response:
            return await _answer(response)

    async def send(self, path: str, method: str = "POST", **body: object) -> dict[str, Any]:
        """Have it do something; what it answers. Raises Refused and ServiceGone."""
        async with self._session.request(method, path, json=body) as response:
            if not response.ok:
                raise await _refusal(response)
            done: dict[str, Any] = {} if response.status == 204 else await response.json()
            return done

    async def change_schedule(self, verb: str, number: str) -> str:
        """Pause, resume, revoke or remove a schedule; what is told of that. Raises Refused and ServiceGone."""
        path = f"/api/v1/schedules/{quote(number, safe='')}"
        if verb == "remove":
            await self.send(path, "DELETE")
            return say("schedule.removed", schedule=number)
        return str((await self.send(f"{path}/{verb}"))["told"])

    async def change_skill(self, verb: str, name: str, new: str) -> str:
        """Delete, rename or restore a skill; what is told of that. Raises Refused and ServiceGone."""
        path = f"/api/v1/skills/{quote(name, safe='')}"
        if verb == "restore":
            return str((await self.send(f"{path}/restore", version=new))["told"])
        if verb == "rename":
            await self.send(path, "PATCH", name=new)
            return say("skills.renamed", name=name.lower(), new=new.lower())
        # Here and not above: a list of tasks needs no skills.
        from bot.commands.skills import removed_words  # noqa: PLC0415 - see above

        return removed_words(name.lower(), (await self.send(path, "DELETE"))["planned"])

    async def draft_skill(self, task: str, name: str, given: dict[str, str] | None) -> dict[str, Any]:
        """What would be saved of a task: its `id`, and as `told` for a person. Raises Refused and ServiceGone."""
        return await self.send("/api/v1/skills/drafts", task=task, name=name, parameters=given)

    async def save_skill(self, draft: str) -> str:
        """Save what was shown; what is told of that. Raises Refused and ServiceGone."""
        return str((await self.send(f"/api/v1/skills/drafts/{draft}/save"))["told"])

    async def screen(self, phone: str) -> bytes:
        """What a phone shows, as a JPEG. Raises Refused and ServiceGone."""
        async with self._session.get(f"/api/v1/phones/{quote(phone, safe='')}/screen") as response:
            if response.status != 200:
                raise await _refusal(response)
            return await response.read()

    async def questions(self) -> list[dict[str, Any]]:
        """Everything that is asked and not answered. Raises ServiceGone."""
        async with self._session.get("/api/state") as response:
            asked: list[dict[str, Any]] = (await _answer(response))["questions"]
            return asked

    async def task(self, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A task and its steps. Raises Refused when there is none of this number."""
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
        """The latest tasks, a hundred at most. Raises ServiceGone."""
        async with self._session.get("/api/v1/tasks", params={"limit": "100"}) as response:
            return [_task(info) for info in (await _answer(response))["data"]["items"]]

    async def log(self, lines: int, *, follow: bool) -> AsyncIterator[str]:
        """The last lines of its log; with `follow` those to come as well. Raises ServiceGone."""
        asked = {"lines": str(lines), "follow": "1" if follow else "0"}
        async with self._session.get("/api/logs", params=asked) as response:
            if response.status != 200:
                raise ServiceGone(await _sentence(response))
            async for line in response.content:
                yield line.decode(errors="replace")

    async def usage(self, by: str, days: int) -> list[dict[str, Any]]:
        """What was used, as rows. Raises ServiceGone."""
        return await self._listed("/api/v1/statistics", by=by, days=str(days))

    async def phones(self) -> list[dict[str, Any]]:
        """The phones. Raises ServiceGone."""
        return await self._listed("/api/v1/phones")

    async def schedules(self) -> list[dict[str, Any]]:
        """What is given again at set times. Raises ServiceGone."""
        found = await self._listed("/api/v1/schedules", limit="100")
        return [one | {"schedule": one["id"], "person": one["person_name"]} for one in found]

    async def skills(self) -> list[dict[str, Any]]:
        """The skills, with what their runs have come to. Raises ServiceGone."""
        return await self._listed("/api/v1/skills")

    async def health(self) -> dict[str, Any]:
        """What `/healthz` tells. Raises ServiceGone."""
        async with self._session.get("/healthz") as response:
            if response.content_type != "application/json":
                raise ServiceGone(await _sentence(response))
            body: dict[str, Any] = await response.json()
            return body

    async def _listed(self, path: str, **asked: str) -> list[dict[str, Any]]:
        """A list of the API, page by page."""
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
    """The service that owns the data directory, None when none answers. One that is just starting is waited for.

    Raises ServiceGone when it goes away while it is used.
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
    # Here and not above: without a service there is nobody to ask over HTTP.
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
    """Where a task is in the API, by its number; "" for the one that is meant where none is named."""
    return f"/api/v1/tasks/{quote(task.removeprefix('#') or LATEST, safe='')}"


def body_of(draft: TaskDraft) -> dict[str, Any]:
    """A task as the API takes it."""
    skill = {} if draft.skill is None else {"skill": draft.skill.name, "arguments": dict(draft.skill.arguments)}
    form = {} if draft.result_schema is None else {"result_schema": draft.result_schema.document}
    return {"text": draft.text, "phone": draft.device, **skill, **form, **draft.options.model_dump()}


def _task(info: dict[str, Any]) -> dict[str, Any]:
    """A task of the API in the words of the command line."""
    return info | {"task": info["id"], "frame": info["picture"], "person": info["person_name"]}


async def _answer(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """Its JSON. Raises ServiceGone for a refusal."""
    if response.status != 200:
        raise ServiceGone(await _sentence(response))
    found: dict[str, Any] = await response.json()
    return found


async def _refusal(response: aiohttp.ClientResponse) -> Refused | ServiceGone:
    """Why it does not do it: by what was asked (4xx), or because it cannot do it now."""
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
