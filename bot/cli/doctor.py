"""`opengui doctor`: looks at everything once, and says how to mend what is wrong."""

from __future__ import annotations

import argparse
import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import aiohttp

from agent.models.endpoint import EndpointSettings
from bot.cli.devices import device_rows
from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import running_service
from bot.endpoints import dialect_of, model_settings
from bot.settings import Settings, SettingsError
from bot.store.errors import DirectoryInUse

PATIENCE_S = 5.0
MARKS = {"good": "✓", "note": "·", "bad": "✗"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `fix` is what to do, empty where nothing is to be done."""

    verdict: Literal["good", "note", "bad"]
    text: str
    fix: str = ""


async def doctor(options: argparse.Namespace, settings: Settings) -> int:
    """Print every finding; the exit code is 0 when nothing is bad."""
    del options
    bad = 0
    async for finding in _findings(settings):
        bad += finding.verdict == "bad"
        print(f"{MARKS[finding.verdict]} {finding.text}")
        if finding.fix:
            print(f"    → {finding.fix}")
    print("All is well." if not bad else f"{bad} to mend.")
    return OK if not bad else UNAVAILABLE


async def _findings(settings: Settings) -> AsyncIterator[Finding]:
    yield Finding("good", f"Python {sys.version.split()[0]}")
    yield await asyncio.to_thread(_data_directory, settings.data_dir)
    secret = await asyncio.to_thread(_env_file, Path(".env"))
    if secret is not None:
        yield secret
    async with running_service(settings.data_dir) as remote:
        yield Finding("note", "The service is running." if remote is not None else "The service is not running.")
    async for finding in _phones(settings):
        yield finding
    yield await _model(settings)
    yield _chat("Discord", bool(settings.discord_bot_token.get_secret_value()), settings.discord_refusal())
    yield _chat("Telegram", bool(settings.telegram_bot_token.get_secret_value()), settings.telegram_refusal())


def _data_directory(path: Path) -> Finding:
    if not path.exists():
        return Finding("note", f"The data directory {path} does not exist yet; it is made at the first start.")
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding("bad", f"The data directory {path} cannot be used.", "Give it to this user, or set DATA_DIR.")
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Finding("bad", f"Others can read the data directory {path}.", f"chmod 700 {path}")
    return Finding("good", f"Data directory {path}")


def _env_file(path: Path) -> Finding | None:
    if not path.exists():
        return None
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Finding("bad", "Others can read .env, which may hold tokens.", "chmod 600 .env")
    return Finding("good", ".env is readable by you alone.")


async def _phones(settings: Settings) -> AsyncIterator[Finding]:
    try:
        rows = await device_rows(settings)
    except DirectoryInUse as busy:
        yield Finding("bad", str(busy))
        return
    if not rows:
        yield Finding("bad", "No phone is attached.", "Plug one in with USB debugging on, or set VIRTUAL_PHONES=1.")
    for row in rows:
        kind = "virtual phone" if row["virtual"] else "phone"
        if row["state"] == "ready":
            yield Finding("good", f"{kind.capitalize()} {row['name']} ({row['serial']}) is ready.")
        else:
            verdict: Literal["note", "bad"] = "note" if row["usable"] else "bad"
            yield Finding(verdict, f"{kind.capitalize()} {row['name']}: {row['state']}. {row['reason']}", row["fix"])


async def _model(settings: Settings) -> Finding:
    endpoints = model_settings(settings)
    if endpoints.offline:
        return Finding(
            "note",
            "No model is set: the offline pilot works.",
            "For a real one set VLM_API_KEY, VLM_BASE_URL, VLM_MODEL.",
        )
    try:
        dialect_of(settings)
    except SettingsError as error:
        return Finding("bad", str(error))
    if not settings.vlm_model:
        return Finding("bad", "VLM_MODEL is not set.", "Name the model that your endpoint serves.")
    return await _reached(endpoints.vision)


async def _reached(endpoint: EndpointSettings) -> Finding:
    """Whether the endpoint answers its list of models; no token is spent."""
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    url = f"{endpoint.url.rstrip('/')}/models"
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE_S)) as session,
            session.get(url, headers=headers) as response,
        ):
            status = response.status
    except (aiohttp.ClientError, TimeoutError):
        return Finding("bad", f"The model endpoint {endpoint.host} does not answer.", "Check VLM_BASE_URL.")
    if status in {401, 403}:
        return Finding("bad", f"{endpoint.host} does not accept the key.", "Check VLM_API_KEY.")
    return Finding("good", f"The model endpoint {endpoint.host} answers; the model is {endpoint.model}.")


def _chat(name: str, token: bool, refusal: str) -> Finding:
    if not token:
        return Finding("note", f"{name} is not set up.", f"Set {name.upper()}_BOT_TOKEN and its lists to use it.")
    if refusal:
        return Finding("bad", f"{name} has a token but will not start.", refusal)
    return Finding("good", f"{name} has a token and lists.")
