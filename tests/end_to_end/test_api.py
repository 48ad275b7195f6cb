"""The examples of docs/api.md, run as they stand against `opengui run`; and a stream that goes on after kill -9."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import aiohttp
import yaml

from tests.end_to_end.brain import FINISH, brain, call, tap
from tests.end_to_end.service import Place
from tests.fakes.model_server import ModelServer

DOCUMENT = Path(__file__).parents[2] / "docs" / "api.md"


def examples(language: str) -> list[str]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


async def token(place: Place, *options: str) -> str:
    code, out, err = await place.opengui("token", "add", *options)
    assert code == 0, err
    return out.strip()


async def test_every_example_of_the_document_works(place: Place, tmp_path: Path) -> None:
    async with place.service(LOG_LEVEL="DEBUG") as service:
        secret = await token(place, "home", "--right", "operate", "--right", "approve")
        unusable = await place.opengui("token", "add", "A B")
        assert (unusable[0], unusable[1]) == (64, "")
        url = service.console.partition("/?")[0]
        listed = await place.opengui("tokens")
        assert "home: approve" in listed[1]
        assert secret not in listed[1]
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {secret}"}) as caller,
            caller.get(f"{url}/api/v1/phones") as answer,
        ):
            phone = (await answer.json())["data"]["items"][0]["id"]
        environment = {
            "OPENGUI_URL": url,
            "OPENGUI_TOKEN": secret,
            "OPENGUI_PHONE": phone,
            "PATH": "/usr/bin:/bin",
        }

        def run(*command: str) -> str:
            done = subprocess.run(
                command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
            )
            return done.stdout

        given, begun, sent, found, touched = examples("sh")
        task = json.loads(await asyncio.to_thread(run, "sh", "-ec", given))
        assert (task["state"], task["text"]) == ("queued", "open Settings")
        conversation = json.loads(await asyncio.to_thread(run, "sh", "-ec", begun))
        assert conversation["system_prompt"] == "Answer in one short sentence."
        (tmp_path / "note.txt").write_text("Buy milk.", encoding="utf-8")
        file = json.loads(await asyncio.to_thread(run, "sh", "-ec", sent))
        assert (file["name"], bool(file["content"])) == ("note.txt", True)
        waited, followed = examples("python")
        assert "succeeded" in await asyncio.to_thread(run, sys.executable, "-c", waited)
        told = await asyncio.to_thread(run, sys.executable, "-c", followed)
        assert told.startswith("thinking_start")
        assert "done {" in told
        told = await asyncio.to_thread(run, "sh", "-ec", found)
        assert '"open Settings"' in told, told
        told = await asyncio.to_thread(run, "sh", "-ec", touched)
        assert '"app"' in told, told
        assert "code" not in told, told
        assert (tmp_path / "screen.jpg").read_bytes().startswith(b"\xff\xd8")
        (automation,) = examples("yaml")
        wish = yaml.load(automation.replace("!secret opengui_token", '""'), yaml.SafeLoader)
        command = wish["rest_command"]["phone_task"]
        body = command["payload"].replace("{{ text }}", "open Settings")
        async with aiohttp.ClientSession() as caller:
            headers = {"Authorization": f"Bearer {secret}", "Content-Type": command["content_type"]}
            path = command["url"].partition("8765")[2]
            async with caller.request(command["method"], url + path, data=body, headers=headers) as answer:
                assert answer.status == 201
        assert secret not in service.log
        await service.says(answer.headers["X-Request-Id"])
        assert (await place.opengui("token", "revoke", "home"))[0] == 0


async def test_a_stream_is_taken_up_again_after_a_kill(place: Place) -> None:
    actions = (call("open_app", name="Settings"), tap("Bluetooth"), FINISH)
    async with ModelServer(brain(*actions)) as model:
        settings = {"VLM_BASE_URL": model.base_url, "VLM_MODEL": "a-vl"}
        seen: list[int] = []

        async def read(url: str, secret: str, conversation: str, stop: str) -> None:
            headers = {"Authorization": f"Bearer {secret}", "Last-Event-ID": str(seen[-1]) if seen else ""}
            timeout = aiohttp.ClientTimeout(total=60)
            async with (
                aiohttp.ClientSession(headers=headers, timeout=timeout) as caller,
                caller.get(f"{url}/api/v1/conversations/{conversation}/events") as stream,
            ):
                async for line in stream.content:
                    name, _, value = line.decode().strip().partition(": ")
                    if name == "id":
                        seen.append(int(value))
                    if name == "event" and value == stop:
                        await stream.content.readline()
                        return

        async with place.service(**settings) as service:
            url = service.console.partition("/?")[0]
            secret = await token(place, "home")
            async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {secret}"}) as caller:
                async with caller.post(f"{url}/api/v1/conversations", json={}) as answer:
                    conversation = (await answer.json())["id"]
                wish = {"text": "look around", "quick": True}
                async with caller.post(f"{url}/api/v1/conversations/{conversation}/messages", json=wish) as answer:
                    task = (await answer.json())["task"]
            await read(url, secret, conversation, "process_step")
            await service.kill()
        async with place.service(**settings) as service:
            url = service.console.partition("/?")[0]
            async with (
                aiohttp.ClientSession(headers={"Authorization": f"Bearer {secret}"}) as caller,
                caller.post(f"{url}/api/v1/tasks/{task}/resume", json={}) as answer,
            ):
                # At work again by itself it needs no word.
                assert answer.status in {200, 409}, await answer.text()
            await read(url, secret, conversation, "done")
        assert seen == list(range(1, len(seen) + 1))
