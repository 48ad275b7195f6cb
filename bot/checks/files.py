"""Files, room on the disk, and the console's port."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from pathlib import Path

from bot.checks.finding import Finding
from bot.settings import Settings
from bot.store.housekeeping import kept_in
from bot.store.keeping import LITTLE_ROOM


async def findings(settings: Settings) -> list[Finding]:
    """The data directory, its disk and the file of settings."""
    found = await asyncio.to_thread(_findings, settings.data_dir, Path(".env"))
    return [*found, await asyncio.to_thread(_kept, settings)] if os.access(settings.data_dir, os.R_OK) else found


async def console_port(settings: Settings) -> Finding | None:
    """Whether another program has the console's port; to be asked while the service does not run."""
    host, port = settings.console_host, settings.console_port
    try:
        server = await asyncio.start_server(lambda _reader, writer: writer.close(), host, port)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        text = f"The web console cannot listen at {host}:{port}: {reason}."
        return Finding("service", "bad", text, "End the other program, or set CONSOLE_PORT to another port.")
    server.close()
    await server.wait_closed()
    return None


def _findings(directory: Path, env: Path) -> list[Finding]:
    found = [_data_directory(directory), _room(directory)]
    return found if not env.exists() else [*found, _env_file(env)]


def _data_directory(path: Path) -> Finding:
    if not path.exists():
        text = f"The data directory {path} does not exist yet; it is made at the first start."
        return Finding("files", "note", text)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        text = f"The data directory {path} cannot be used."
        return Finding("files", "bad", text, "Give it to this user, or set DATA_DIR.")
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Finding("files", "bad", f"Others can read the data directory {path}.", f"chmod 700 {path}")
    return Finding("files", "good", f"Data directory {path}")


def _room(path: Path) -> Finding:
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    free = shutil.disk_usage(there).free
    text = f"{free / 1e9:.1f} GB free for {path}"
    if free < LITTLE_ROOM:
        return Finding("files", "bad", f"Only {text}.", "Make room, or set DATA_DIR to a larger disk.")
    return Finding("files", "good", text)


def _kept(settings: Settings) -> Finding:
    kept = kept_in(settings.data_dir)
    pictures = f"{kept.pictures} pictures and files, {_mb(kept.pictures_size)}"
    bounds = f"{settings.keep_days:g} days, at most {settings.keep_gigabytes:g} GB"
    tasks = f"tasks, {_mb(kept.database_size)} (steps and messages: {settings.keep_tasks_days:g} days)"
    text = f"Kept: {pictures} ({bounds}); {tasks}; checkpoints, {_mb(kept.checkpoints_size)}"
    return Finding("files", "good", text)


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _env_file(path: Path) -> Finding:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Finding("files", "bad", "Others can read .env, which may hold tokens.", "chmod 600 .env")
    return Finding("files", "good", ".env is readable by you alone.")
