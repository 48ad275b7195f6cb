"""Checks the data directory and its disk, the operator's rules, members and skills, and the console's port."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import stat
from pathlib import Path

from agent.front_matter import Refused
from agent.guards.policy import Policy, PolicyError
from bot.config.settings import Settings, SettingsError, record_url
from bot.domain.finding import Finding
from bot.domain.limits import LITTLE_ROOM
from bot.store.directory import own_files_in
from bot.store.errors import StoreError
from bot.store.housekeeping import disk_usage_of
from bot.store.store import server_of
from bot.texts import say
from devices.wording import said, sentence_of


async def findings(settings: Settings) -> list[Finding]:
    """Check the data directory, its disk, the settings file and the rules file."""
    found = await asyncio.to_thread(_findings, settings.data_dir, settings.file)
    if settings.policy_file is not None:
        found.append(await asyncio.to_thread(_rules, settings.policy_file))
    if settings.database_url.get_secret_value():
        return [*found, *await _record(settings)]
    return [*found, await asyncio.to_thread(_kept, settings)] if os.access(settings.data_dir, os.R_OK) else found


def refused_folder(folder: Refused) -> Finding:
    """Return the finding for a folder of a team member or skill that cannot be used. It is only a note, because all
    others work.
    """
    text = say("cli.skills.refused", refused=folder.folder, reason=said(folder.why))
    return Finding("files", "note", text, say("tools.mend"))


def _rules(path: Path) -> Finding:
    """Check whether the operator's rules can be used, and which shipped rules they switch off."""
    try:
        off = Policy.load(path).switched_off()
    except PolicyError as error:
        return Finding("files", "bad", said(sentence_of(error)), say("check.files.rules_fix"))
    if not off:
        return Finding("files", "good", say("check.files.rules_good", path=path))
    return Finding("files", "note", say("check.files.rules_off", path=path, rules="; ".join(off)))


async def console_port(settings: Settings) -> Finding | None:
    """Return a finding if the service could not listen at the console's address, because another program uses the port,
    for example; else None. Only meaningful while the service does not run.
    """
    host, port = settings.console_host, settings.console_port
    try:
        server = await asyncio.start_server(lambda _reader, writer: writer.close(), host, port)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        text = say("check.service.port", host=host, port=port, reason=reason)
        return Finding("service", "bad", text, say("check.service.port_fix"))
    server.close()
    await server.wait_closed()
    return None


def _findings(directory: Path, env: Path) -> list[Finding]:
    found = [_data_directory(directory), _room(directory)]
    return found if not env.exists() else [*found, _env_file(env)]


def _data_directory(path: Path) -> Finding:
    if not path.exists():
        return Finding("files", "note", say("check.files.new", path=path))
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding("files", "bad", say("check.files.unusable", path=path), say("check.files.unusable_fix"))
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        # The service that opens the directory closes it to others, or reports why it cannot.
        return Finding("files", "note", say("check.files.open", path=path), f"chmod 700 {shlex.quote(str(path))}")
    return Finding("files", "good", say("check.files.good", path=path))


def _room(path: Path) -> Finding:
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    free = shutil.disk_usage(there).free
    gigabytes = f"{free / 1e9:.1f}"
    if free < LITTLE_ROOM:
        text = say("check.files.little_room", free=gigabytes, path=path)
        return Finding("files", "bad", text, say("check.files.little_room_fix"))
    return Finding("files", "good", say("check.files.room", free=gigabytes, path=path))


def _kept(settings: Settings) -> Finding:
    kept = disk_usage_of(settings.data_dir)
    text = say(
        "check.files.kept",
        pictures=kept.pictures,
        pictures_mb=_mb(kept.pictures_size),
        days=f"{settings.keep_days:g}",
        gigabytes=f"{settings.keep_gigabytes:g}",
        database_mb=_mb(kept.database_size),
        tasks_days=f"{settings.keep_tasks_days:g}",
        checkpoints_mb=_mb(kept.checkpoints_size),
    )
    return Finding("files", "good", text)


async def _record(settings: Settings) -> list[Finding]:
    """Check whether a record in PostgreSQL can be used, how large it is, and which of its files are missing here."""
    try:
        name, size, files = await server_of(record_url(settings))
    except (StoreError, SettingsError) as error:
        return [Finding("files", "bad", said(sentence_of(error)), say("check.files.record_fix"))]
    found = [Finding("files", "good", say("check.files.record", name=name, database_mb=_mb(size)))]
    if lacks := sorted({*files} - {*await asyncio.to_thread(own_files_in, settings.data_dir)}):
        text = say("check.files.lacks", path=settings.data_dir, names=", ".join(lacks))
        found.append(Finding("files", "note", text, say("check.files.lacks_fix")))
    return found


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f}"


def _env_file(path: Path) -> Finding:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Finding("files", "bad", say("check.files.env_open", path=path), f"chmod 600 {shlex.quote(str(path))}")
    return Finding("files", "good", say("check.files.env_good", path=path))
