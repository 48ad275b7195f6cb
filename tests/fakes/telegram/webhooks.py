"""setWebhook: updates are posted one after the other, and again until they are taken."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.fakes.telegram.checks import Form
from tests.fakes.telegram.polling import Polling
from tests.fakes.telegram.refusals import bad

AGAIN_SECONDS = 0.02
HEADER = "X-Telegram-Bot-Api-Secret-Token"


@dataclass
class Webhooks:
    """The webhook of the bot. Addresses on loopback need no https here."""

    polling: Polling
    changed: Callable[[], None]
    url: str = ""
    secret: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    """What was answered to each delivery; 0 for no answer."""
    error: str = ""
    _delivering: asyncio.Task[None] | None = None

    async def set(self, form: Form) -> bool:
        url = str(form["url"])
        if url and not url.startswith(("https://", "http://127.0.0.1")):
            raise bad("bad webhook: An HTTPS URL must be provided for webhook")
        self.url, self.secret = url, str(form.get("secret_token", ""))
        self.options = {name: value for name, value in form.items() if name != "secret_token"}
        self.polling.webhook = bool(url)
        if "allowed_updates" in form:
            self.polling.allow(json.loads(form["allowed_updates"]))
        if url and self._delivering is None:
            self._delivering = asyncio.create_task(self._deliver())
        return True

    async def delete(self, _form: Form) -> bool:
        self.url, self.polling.webhook = "", False
        return True

    async def info(self, _form: Form) -> dict[str, Any]:
        made: dict[str, Any] = {"url": self.url, "has_custom_certificate": False}
        made["pending_update_count"] = len(self.polling.queue)
        if self.error:
            made |= {"last_error_date": int(time.time()), "last_error_message": self.error}
        return made

    async def stop(self) -> None:
        if self._delivering is not None:
            self._delivering.cancel()
            await asyncio.gather(self._delivering, return_exceptions=True)

    async def post(self, update: object, secret: str | None = None, *, raw: bytes | None = None) -> int:
        """Post this once; the status, 0 when nobody answers. `secret` in place of the right one."""
        body = io.BytesIO(json.dumps(update).encode() if raw is None else raw)
        headers = {HEADER: self.secret if secret is None else secret}
        try:
            async with aiohttp.ClientSession() as session, session.post(self.url, data=body, headers=headers) as answer:
                return answer.status
        except aiohttp.ClientError:
            return 0

    async def _deliver(self) -> None:
        while True:
            if not self.url or not self.polling.queue:
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            update = self.polling.queue[0]
            status = await self.post(update)
            self.statuses.append(status)
            if status == 200:
                self.polling.queue.remove(update)
            else:
                self.error = f"Wrong response from the webhook: {status}" if status else "Connection refused"
                await asyncio.sleep(AGAIN_SECONDS)
            self.changed()
