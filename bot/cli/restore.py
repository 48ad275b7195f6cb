"""The `opengui restore` command: replaces the service's data with a backup, after showing what it contains."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from bot.cli.exits import OK, USAGE
from bot.cli.written import WRITTEN, written_lines
from bot.config.places import DOCUMENTS_NAME
from bot.config.record import record_url
from bot.config.settings import Settings, secret_names
from bot.config.settings_file import SETTINGS_NAME, SettingsFile
from bot.domain.address import Person, on_one_line
from bot.domain.right import Grant
from bot.people.subjects import Subject
from bot.store.restore import ASIDE, Brought, Waiting, unpacked
from bot.texts import say

TEXT_SHOWN = 200
"""Characters of a task that are shown."""


async def restore(options: argparse.Namespace, settings: Settings) -> int:
    """Show what the backup contains, ask, restore it, and print where the former databases are kept. Returns the exit
    code. Raises StoreError and SettingsError.
    """
    file = Path(options.file)
    with unpacked(settings.data_dir, file, SETTINGS_NAME, WRITTEN) as backup:
        print(say("cli.restore.brings", file=file))
        for line in _told(backup.brings):
            print(line)
        for key, lines in written_lines(backup.written, backup.folder):
            for line in _part(key, lines):
                print(line)
        if backup.settings is not None:
            for line in _part("console", _set_in_console(SettingsFile(backup.settings).read(), type(settings))):
                print(line)
        if not options.yes and not sys.stdin.isatty():
            print(say("cli.failed", prog="opengui", why=say("cli.restore.unasked")), file=sys.stderr)
            return USAGE
        if not options.yes and not _agreed():
            print(say("cli.restore.left"))
            return USAGE
        # Lets a Ctrl-C at the question take effect here, whatever was typed after it.
        await asyncio.sleep(0)
        url = record_url(settings)
        former = None if not url else await _restore_to(url, backup.folder, settings.data_dir)
        copied, aside = backup.take(record=not url)
    print(say("cli.restore.done", path=settings.data_dir, number=copied.frames))
    documents = settings.data_dir / DOCUMENTS_NAME
    if any(name.startswith(f"{DOCUMENTS_NAME}/") for name in copied.written) and settings.knowledge_dir != documents:
        print(say("cli.restore.documents", path=documents))
    for path in filter(None, (former, aside)):
        print(say("cli.restore.aside", path=path))
    return OK


async def _restore_to(url: str, folder: Path, directory: Path) -> Path:
    """Replace the record in PostgreSQL after copying it; returns the folder with the copy. Raises StoreError, in which
    case the record is unchanged.
    """
    from bot.store.postgresql.copying import copy_in, copy_out  # noqa: PLC0415 - an extra
    from bot.store.postgresql.database import PostgresDatabase  # noqa: PLC0415 - the same

    await (await PostgresDatabase.open(url)).close()  # the tables of an empty database
    former = directory / f"{ASIDE}{datetime.now(UTC):%Y%m%d-%H%M%S-%f}-postgresql"
    former.mkdir(mode=0o700)
    await copy_out(url, former)
    await copy_in(folder, url, replaces=True)
    return former


def _set_in_console(values: Mapping[str, str], model: type[Settings]) -> Iterator[str]:
    """The lines of the backup's settings file, with secrets hidden."""
    hidden = secret_names(model)
    yield from (f"{name.upper()} = {'••••••' if name in hidden else value}" for name, value in sorted(values.items()))


def _agreed() -> bool:
    try:
        return input(f"{say('cli.restore.ask')} ").strip().lower() in {"y", "yes", "是"}
    except EOFError:
        print()
        return False


def _told(brings: Brought) -> Iterator[str]:
    yield from _part("people", map(_who, brings.people))
    yield from _part("rights", map(_right, brings.grants))
    yield from _part("links", (" = ".join(map(_who, accounts)) for accounts in brings.links))
    yield from _part("moves", (f"{platform}: {old} → {new}" for platform, old, new in brings.moves))
    tiers = ((Subject(gift.platform, gift.id, gift.guild), gift.tier) for gift in brings.tiers)
    yield from _part("tiers", (f"{subject}: {tier}" for subject, tier in tiers))
    yield from _part("settings", (f"{name} = {value}" for name, value in brings.settings))
    yield from _part("schedules", map(_waiting, brings.schedules))
    yield from _part("tasks", map(_waiting, brings.tasks))


def _part(name: str, lines: Iterable[str]) -> Iterator[str]:
    """A heading with its lines, also if there are none. Text from the backup can neither break nor reverse a line."""
    kept = list(lines)
    yield say(f"cli.restore.part.{name}", number=len(kept))
    yield from (f"  {on_one_line(line)}" for line in kept)


def _who(person: Person) -> str:
    return say("link.account", name=person.name or person.id, who=Subject.of_person(person))


def _right(grant: Grant) -> str:
    who = Subject.of(grant)
    if grant.phone:
        return say("people.grant_phone", who=who, right=grant.right, phone=grant.phone)
    return say("people.grant", who=who, right=grant.right)


def _waiting(waiting: Waiting) -> str:
    who, text = _who(waiting.person), waiting.text[:TEXT_SHOWN]
    if waiting.when:
        return say("cli.restore.schedule", number=waiting.id, who=who, when=waiting.when, text=text)
    return say("cli.restore.task", number=waiting.id, who=who, text=text)
