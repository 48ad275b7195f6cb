"""The commands `opengui backup`, `restore` and `migrate-store`, which copy the service's data: into one file, back from
one, and from SQLite files to PostgreSQL.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bot.cli.exits import OK, USAGE, Refused
from bot.cli.terminal import complain
from bot.commands.people import grant_line
from bot.config.installation import AGENTS_NAME, DOCUMENTS_NAME, MCP_NAME, SKILLS_NAME
from bot.config.settings import Settings, record_url, secret_names
from bot.config.settings_file import SETTINGS_NAME, SettingsFile
from bot.domain.address import Person, on_one_line
from bot.people.subjects import Subject
from bot.store.backup import back_up
from bot.store.directory import DataDirectory
from bot.store.errors import StoreError
from bot.store.knowledge import documents_in
from bot.store.restore import ASIDE, Brought, Waiting, unpacked
from bot.store.sqlite.database import DATABASE_NAME
from bot.texts import say, words
from bot.wiring.parts import tool_servers

WRITTEN: Final = (f"{SKILLS_NAME}/", f"{AGENTS_NAME}/", MCP_NAME, f"{DOCUMENTS_NAME}/")
"""Names of these files in a backup and in the data directory; a folder's name ends with a slash."""


def written_files(settings: Settings) -> dict[str, Path]:
    """Return the paths of these files by their names in a backup, without links and hidden files. Reads the disk."""
    data = settings.data_dir
    found = {
        f"{name}/{path.relative_to(data / name).as_posix()}": path
        for name in (SKILLS_NAME, AGENTS_NAME)
        for path in sorted((data / name).rglob("*"))
        if path.is_file() and not path.is_symlink() and not _is_hidden(path.relative_to(data / name))
    }
    if (data / MCP_NAME).is_file():
        found[MCP_NAME] = data / MCP_NAME
    if settings.knowledge_dir is not None and settings.knowledge_dir.is_dir():
        documents = settings.knowledge_dir
        found |= {
            f"{DOCUMENTS_NAME}/{path.relative_to(documents).as_posix()}": path for path in documents_in(documents)
        }
    return found


def written_lines(names: Iterable[str], folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield a pair for each kind of file: its text key, and a line for people about each skill, member, MCP server or
    document. `names` are the files' names in the backup; `folder` contains `mcp.json`.
    """
    kept = [name.split("/") for name in names]
    for key, folder_name in (("skills", SKILLS_NAME), ("members", AGENTS_NAME)):
        yield key, sorted({parts[1] for parts in kept if parts[0] == folder_name})
    yield "servers", tool_servers().listed(folder) if [MCP_NAME] in kept else []
    yield "documents", ["/".join(parts[1:]) for parts in kept if parts[0] == DOCUMENTS_NAME]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


async def backup(options: argparse.Namespace, settings: Settings) -> int:
    """Write the backup and print what it contains. Returns the exit code. Raises StoreError and SettingsError."""
    file = Path(options.file)
    written = await asyncio.to_thread(written_files, settings)
    async with _record(settings) as record:
        copied = await asyncio.to_thread(
            back_up,
            settings.data_dir,
            file,
            frames=options.frames,
            settings=SETTINGS_NAME if options.settings else "",
            written=written,
            record=record,
        )
    print(say("cli.restore.brings", file=file))
    print(f"  {say('cli.backup.databases')}")
    for key, lines in written_lines(copied.written, settings.data_dir):
        names = "" if key == "documents" or not lines else f" ({', '.join(lines)})"
        print(f"  {say(f'cli.restore.part.{key}', number=len(lines))}{names}")
    print(f"  {say('cli.backup.pictures', number=copied.frames) if options.frames else say('cli.backup.no_pictures')}")
    print(f"  {say('cli.backup.settings') if options.settings else say('cli.backup.no_settings')}")
    print(say("cli.backup.done"))
    return OK


@asynccontextmanager
async def _record(settings: Settings) -> AsyncIterator[Path | None]:
    """Yield a folder with a copy of the record from PostgreSQL, or None if the record is in the data directory."""
    if not (url := record_url(settings)):
        yield None
        return
    from bot.store.postgresql.copying import copy_out  # noqa: PLC0415 - an extra

    with TemporaryDirectory(prefix="opengui-backup-") as folder:
        await copy_out(url, Path(folder))
        yield Path(folder)


TEXT_SHOWN = 200
"""Characters of a task that are shown."""


async def restore(options: argparse.Namespace, settings: Settings) -> int:
    """Show what the backup contains, ask, restore it, and print where the former databases are kept. Returns the exit
    code. Raises StoreError and SettingsError.
    """
    file = Path(options.file)
    with unpacked(settings.data_dir, file, SETTINGS_NAME, WRITTEN) as backup:
        print(say("cli.restore.brings", file=file))
        for line in _summary(backup.brings):
            print(line)
        for key, lines in written_lines(backup.written, backup.folder):
            for line in _part(key, lines):
                print(line)
        if backup.settings is not None:
            for line in _part("console", _set_in_console(SettingsFile(backup.settings).read(), type(settings))):
                print(line)
        if not options.yes and not sys.stdin.isatty():
            return complain(say("cli.restore.unasked"))
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


def _summary(brings: Brought) -> Iterator[str]:
    yield from _part("people", map(_who, brings.people))
    yield from _part("rights", map(grant_line, brings.grants))
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


def _waiting(waiting: Waiting) -> str:
    who, text = _who(waiting.person), waiting.text[:TEXT_SHOWN]
    if waiting.when:
        return say("cli.restore.schedule", number=waiting.id, who=who, when=waiting.when, text=text)
    return say("cli.restore.task", number=waiting.id, who=who, text=text)


async def migrate_store(options: argparse.Namespace, settings: Settings) -> int:
    """Copy the record (the service's stored data) and print the number of rows per table. The SQLite files are not
    changed. Returns the exit code. Raises Refused if no PostgreSQL address is set; also SettingsError and StoreError.
    """
    del options
    url = record_url(settings)
    if not url:
        raise Refused(words("cli.migrate_store.nowhere"))
    from bot.store.postgresql.copying import THREADS, copy_in  # noqa: PLC0415 - an extra

    with DataDirectory(settings.data_dir):
        if not (settings.data_dir / DATABASE_NAME).is_file():
            raise StoreError(words("backup.missing", name=DATABASE_NAME, path=settings.data_dir))
        counts = await copy_in(settings.data_dir, url)
    for table, rows in counts.items():
        if rows:
            print(f"  {table if table != THREADS else say('cli.migrate_store.checkpoints')}: {rows:,}")
    print(say("cli.migrate_store.done", path=settings.data_dir / DATABASE_NAME))
    return OK
