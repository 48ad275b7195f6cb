"""Backup and restore: complete while others write, and never half."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.domain.address import Person, Place
from bot.domain.right import Grant, Right, TierGift
from bot.domain.schedule import Plan, Rule, RuleKind
from bot.domain.task_request import TaskDraft
from bot.store.backup import DATABASES, MANIFEST, Copied, back_up
from bot.store.console import Session
from bot.store.database import Transaction
from bot.store.directory import DataDirectory
from bot.store.errors import DirectoryInUse, StoreCorrupt, StoreError, StoreTooNew, StoreTooOld
from bot.store.restore import ASIDE, unpacked
from bot.store.sqlite.checkpoints import CHECKPOINTS_NAME
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.sqlite.schema import migrations
from bot.store.store import Store, open_checkpoints
from tests.bot.store.conftest import ANNA, HERE, add_task

pytestmark = pytest.mark.sqlite


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
async def store(data: Path) -> AsyncIterator[Store]:
    opened = await Store.open(data)
    async with open_checkpoints(data):
        yield opened
    await opened.close()


async def texts(directory: Path) -> list[str]:
    opened = await Store.open(directory)
    try:
        return [task.id for task in await opened.tasks.recent(1000)]
    finally:
        await opened.close()


async def a_backup(store: Store, data: Path, file: Path, *, tasks: int = 1, frames: bool = False) -> None:
    for number in range(tasks):
        await add_task(store, event=str(number))
    await asyncio.to_thread(back_up, data, file, frames=frames)


def restore(directory: Path, file: Path) -> tuple[Copied, Path | None]:
    """The backup in the place of what is there, whatever it brings."""
    with unpacked(directory, file, written=WRITTEN) as backup:
        return backup.take()


WRITTEN = ("skills/", "mcp.json")


async def test_a_backup_is_whole_while_tasks_are_written(store: Store, data: Path, tmp_path: Path) -> None:
    """Each transaction writes a task and its event: a copy of the bare file would tear them apart or be damaged."""
    written = 0
    enough = asyncio.Event()

    async def write() -> None:
        nonlocal written
        while True:

            async def both(transaction: Transaction) -> None:
                rows = await transaction.fetch(
                    "INSERT INTO tasks (text, person_platform, person_id, person_name, origin, anchor, state, phone,"
                    " request, usage, created, changed)"
                    " VALUES ('x', 'web', '1', 'Anna', '[]', '', 'queued', '', '{}', '{}', 0, 0) RETURNING id"
                )
                await transaction.fetch("INSERT INTO events VALUES ('s', ?, ?, 0)", (str(rows[0][0]), rows[0][0]))

            await store.write(both)
            written += 1
            if written >= 20:
                enough.set()

    writer = asyncio.create_task(write())
    await enough.wait()
    before = written
    for number in range(3):
        await asyncio.to_thread(back_up, data, tmp_path / f"{number}.zip", frames=False)
    assert written > before, "the service went on while it was copied"
    writer.cancel()
    await asyncio.wait({writer})
    for number in range(3):
        with zipfile.ZipFile(tmp_path / f"{number}.zip") as archive:
            assert archive.testzip() is None
            copy = Path(archive.extract(DATABASE_NAME, tmp_path / str(number)))
        with closing(sqlite3.connect(copy)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert database.execute("PRAGMA foreign_key_check").fetchall() == []
            tasks, events = (
                database.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0] for name in ("tasks", "events")
            )
            assert tasks == events >= before


async def test_what_comes_back_is_what_was_there(store: Store, data: Path, tmp_path: Path) -> None:
    picture = await store.frames.save(b"a picture", suffix="jpg")
    taken = time.time() - 5 * 86400
    os.utime(data / "frames" / picture[:2] / picture, (taken, taken))
    await a_backup(store, data, tmp_path / "one.zip", tasks=2, frames=True)
    assert (tmp_path / "one.zip").stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other"
    copied, aside = await asyncio.to_thread(restore, other, tmp_path / "one.zip")
    assert (copied.frames, aside) == (1, None)
    assert await texts(other) == ["2", "1"]
    back = other / "frames" / picture[:2] / picture
    assert back.read_bytes() == b"a picture"
    assert abs(back.stat().st_mtime - taken) <= 2, "retention counts from when it was taken"
    assert sorted(path.name for path in other.iterdir() if path.is_dir()) == ["frames"]


async def test_what_was_there_is_kept_aside(data: Path, tmp_path: Path) -> None:
    store = await Store.open(data)
    async with open_checkpoints(data):
        await a_backup(store, data, tmp_path / "one.zip")
        await add_task(store, event="later")
        picture = await store.frames.save(b"a later picture", suffix="jpg")
    await store.close()
    _, aside = await asyncio.to_thread(restore, data, tmp_path / "one.zip")
    assert aside is not None
    assert aside.name.startswith(ASIDE)
    assert await texts(data) == ["1"]
    assert await texts(aside) == ["2", "1"]
    assert (data / "frames" / picture[:2] / picture).is_file()


async def test_what_people_have_written_comes_along(store: Store, data: Path, tmp_path: Path) -> None:
    """Seen failing: a service that was put back from its backup had none of its skills, members and MCP servers."""
    skill, servers = tmp_path / "SKILL.md", tmp_path / "servers"
    skill.write_text("---\nname: 付房租\n---\n")
    os.utime(skill, (0, 0))
    servers.write_text("{}")
    await add_task(store)
    written = {
        "skills/付房租/SKILL.md": skill,
        "mcp.json": servers,
        "skills/gone": tmp_path / "gone",
        "skills/\udcff": skill,
    }
    copied = await asyncio.to_thread(back_up, data, tmp_path / "one.zip", frames=False, written=written)
    assert copied.written == ("mcp.json", "skills/付房租/SKILL.md")
    other = tmp_path / "other"
    (other / "skills" / "former").mkdir(parents=True)
    (other / "agents").mkdir()
    copied, aside = await asyncio.to_thread(restore, other, tmp_path / "one.zip")
    assert copied.written == ("mcp.json", "skills/付房租/SKILL.md")
    assert (other / "skills" / "付房租" / "SKILL.md").read_text() == skill.read_text()
    assert (other / "mcp.json").stat().st_mode & 0o777 == 0o600
    assert aside is not None
    assert names_in(aside) == ["skills"], "what was there is kept aside"
    assert (other / "agents").is_dir(), "and stays where the backup has nothing of its kind"


async def test_nothing_is_restored_under_a_running_service(store: Store, data: Path, tmp_path: Path) -> None:
    """Must fail without the lock: the running service goes on writing into files that were moved away."""
    await a_backup(store, data, tmp_path / "one.zip")
    with DataDirectory(data), pytest.raises(DirectoryInUse):
        restore(data, tmp_path / "one.zip")
    assert not [name for name in names_in(data) if name.startswith(ASIDE)]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def changed(source: Path, target: Path, **contents: bytes | None) -> None:
    """The archive with some members replaced, added or (None) left out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if name not in contents:
                new.writestr(name, old.read(name))
        for name, data in contents.items():
            if data is not None:
                new.writestr(name, data)


@pytest.mark.parametrize(
    ("contents", "wrong"),
    [
        ({DATABASE_NAME: b"no database " * 400}, StoreCorrupt),
        ({DATABASE_NAME: None}, StoreCorrupt),
        ({MANIFEST: b"[]"}, StoreCorrupt),
        ({MANIFEST: b'{"format": 2}'}, StoreTooNew),
        ({MANIFEST: b"[" * 60_000}, StoreCorrupt),
        ({MANIFEST: b'{"format": 1}' + b" " * 64 * 1024}, StoreCorrupt),
        ({"../outside": b"x"}, StoreCorrupt),
        ({"frames/ab/../../console.json": b"x"}, StoreCorrupt),
        ({"skills/../console.json": b"x"}, StoreCorrupt),
        ({"skills/a/.git/config": b"x"}, StoreCorrupt),
        ({"mcp.json/x": b"x"}, StoreCorrupt),
        ({"plugins/x.py": b"x"}, StoreCorrupt),
    ],
    ids=[
        "damaged",
        "missing",
        "no manifest",
        "another format",
        "nested",
        "endless",
        "a way out",
        "another way out",
        "a way out of a folder",
        "a hidden folder",
        "a folder with the name of a file",
        "a folder of nobody",
    ],
)
async def test_a_file_that_is_no_backup_changes_nothing(
    store: Store, data: Path, tmp_path: Path, contents: dict[str, bytes | None], wrong: type[StoreError]
) -> None:
    """Must fail without the check of names: the file outside is then written."""
    await a_backup(store, data, tmp_path / "one.zip")
    changed(tmp_path / "one.zip", tmp_path / "two.zip", **contents)
    other = tmp_path / "other"
    with pytest.raises(wrong, match="Nothing was changed"):
        restore(other, tmp_path / "two.zip")
    assert names_in(other) == ["lock"]
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("signature", "at", "value"),
    [(b"PK\1\2", 8, 1), (b"PK\1\2", 10, 99), (b"PK\1\2", 14, 0)],
    ids=["encrypted", "packed otherwise", "on the day 0"],
)
async def test_an_archive_that_we_never_write_is_refused_in_a_sentence(
    store: Store, data: Path, tmp_path: Path, signature: bytes, at: int, value: int
) -> None:
    """By a byte of each entry of its directory. Seen failing without `_is_ours`: each ended in a trace."""
    await a_backup(store, data, tmp_path / "one.zip")
    archive = bytearray((tmp_path / "one.zip").read_bytes())
    found = archive.find(signature)
    while found >= 0:
        archive[found + at] = value
        found = archive.find(signature, found + 1)
    (tmp_path / "two.zip").write_bytes(archive)
    with pytest.raises(StoreCorrupt, match="Nothing was changed"):
        restore(tmp_path / "other", tmp_path / "two.zip")
    assert names_in(tmp_path / "other") == ["lock"]


async def test_what_the_disk_does_not_hold_is_not_begun(store: Store, data: Path, tmp_path: Path) -> None:
    """Empty pictures that say they are gigabytes. Seen failing without the look at the disk."""
    await a_backup(store, data, tmp_path / "one.zip")
    most = 0xFFFFFFFE
    number = shutil.disk_usage(tmp_path).free // most + 1
    claims = {f"frames/ab/ab{each:062x}.png": b"" for each in range(number)}
    changed(tmp_path / "one.zip", tmp_path / "two.zip", **claims)
    archive = bytearray((tmp_path / "two.zip").read_bytes())
    found = archive.find(b"PK\1\2")
    while found >= 0:
        if archive[found + 46 : found + 53] == b"frames/":
            archive[found + 24 : found + 28] = most.to_bytes(4, "little")
        found = archive.find(b"PK\1\2", found + 1)
    (tmp_path / "two.zip").write_bytes(archive)
    with pytest.raises(StoreError, match="No space"):
        restore(tmp_path / "other", tmp_path / "two.zip")
    assert names_in(tmp_path / "other") == ["lock"]


async def test_a_backup_of_a_later_program_is_refused(store: Store, data: Path, tmp_path: Path) -> None:
    await a_backup(store, data, tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        copy = archive.extract(DATABASE_NAME, tmp_path)
    with closing(sqlite3.connect(copy)) as database:
        database.execute(f"PRAGMA user_version = {migrations()[-1][0] + 1}")
        changed(tmp_path / "one.zip", tmp_path / "two.zip", **{DATABASE_NAME: database.serialize()})
    with pytest.raises(StoreTooNew, match="later version"):
        restore(tmp_path / "other", tmp_path / "two.zip")


@pytest.mark.parametrize("name", DATABASES)
async def test_a_backup_of_before_the_first_release_is_refused(
    store: Store, data: Path, tmp_path: Path, name: str
) -> None:
    """Its number may be higher than ours. Seen failing without the look at the id: "Install the later version"."""
    await a_backup(store, data, tmp_path / "one.zip")
    file = forged(tmp_path, name, "PRAGMA application_id = 0", f"PRAGMA user_version = {migrations()[-1][0] + 58}")
    with pytest.raises(StoreTooOld, match=f"{name} was made by a version before 0\\.1\\.0 .* nothing was changed"):
        restore(tmp_path / "other", file)
    assert names_in(tmp_path / "other") == ["lock"]


@pytest.mark.usefixtures("store")
async def test_data_of_before_the_first_release_is_not_backed_up(data: Path, tmp_path: Path) -> None:
    """Seen failing without the look at the id: there was a backup that cannot be restored."""
    with closing(sqlite3.connect(data / DATABASE_NAME)) as database:
        database.execute("PRAGMA application_id = 0")
    with pytest.raises(StoreTooOld):
        back_up(data, tmp_path / "one.zip", frames=False)
    assert names_in(tmp_path) == ["data"]


async def test_an_archive_cut_short_and_no_archive_are_refused(store: Store, data: Path, tmp_path: Path) -> None:
    await a_backup(store, data, tmp_path / "one.zip")
    whole = (tmp_path / "one.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreCorrupt, match="damaged"):
        restore(tmp_path / "other", tmp_path / "cut.zip")
    with pytest.raises(StoreError, match="There is no file"):
        restore(tmp_path / "other", tmp_path / "none.zip")


async def test_a_backup_never_writes_over_a_file_and_leaves_no_half_one(
    store: Store, data: Path, tmp_path: Path
) -> None:
    await a_backup(store, data, tmp_path / "one.zip")
    with pytest.raises(StoreError, match="already exists"):
        back_up(data, tmp_path / "one.zip", frames=False)
    with pytest.raises(StoreError, match="could not be written"):
        back_up(data, tmp_path / "no" / "folder.zip", frames=False)
    with pytest.raises(StoreError, match="There is no"):
        back_up(tmp_path, tmp_path / "two.zip", frames=False)
    assert names_in(tmp_path) == ["data", "one.zip"]


async def test_a_damaged_database_makes_no_backup(data: Path, tmp_path: Path) -> None:
    for name in DATABASES:
        (data / name).write_bytes(b"SQLite format 3\x00" + bytes(5000))
    with pytest.raises(StoreError):
        back_up(data, tmp_path / "one.zip", frames=False)
    assert not (tmp_path / "one.zip").exists()


async def test_what_is_in_it_is_told(store: Store, data: Path, tmp_path: Path) -> None:
    await a_backup(store, data, tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        about = json.loads(archive.read(MANIFEST))
    assert about["version"] == migrations()[-1][0]


async def test_a_backup_signs_nobody_in(store: Store, data: Path, tmp_path: Path) -> None:
    """Seen failing without `_sign_out`: a session that had ended since was there again."""
    await store.sessions.keep(Session("digest-of-a-session", "password", "203.0.113.7", 1.0, 1.0))
    await a_backup(store, data, tmp_path / "kept.zip")
    assert len(await store.sessions.all()) == 1
    with zipfile.ZipFile(tmp_path / "kept.zip") as archive:
        archive.extract(DATABASE_NAME, tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as copy:
        assert copy.execute("SELECT COUNT(*) FROM console_sessions").fetchone() == (0,)


def forged(tmp_path: Path, name: str, *statements: str) -> Path:
    """The backup one.zip with SQL of somebody else's run on one of its databases."""
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        copy = archive.extract(name, tmp_path)
    with closing(sqlite3.connect(copy)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    changed(tmp_path / "one.zip", tmp_path / "two.zip", **{name: Path(copy).read_bytes()})
    return tmp_path / "two.zip"


async def test_nobody_is_signed_in_and_no_press_waits_after_a_restore(store: Store, data: Path, tmp_path: Path) -> None:
    """Seen failing before: who had the file in hand had a session of their own in it, and the service took it."""
    await a_backup(store, data, tmp_path / "one.zip")
    offer = (1, "x", "web", "1", "", "", "[]", 1, "1", "", "do harm", "[]", 9e9)
    missed = ("web", "1", "", "", "[]", 1, "1", "", "go home", "", "do", "{}", "do harm", "[]", 9e9)
    file = forged(
        tmp_path,
        DATABASE_NAME,
        "INSERT INTO console_sessions VALUES ('digest', 'token', '203.0.113.7', 9e9, 9e9, '')",
        f"INSERT INTO offers VALUES {offer}",
        "INSERT INTO missed (person_platform, person_id, person_name, person_language, place_address, place_private,"
        f" event, message, text, prefix, call_name, call_options, call_rest, files, written) VALUES {missed}",
    )
    restore(tmp_path / "other", file)
    with closing(sqlite3.connect(tmp_path / "other" / DATABASE_NAME)) as database:
        for table in ("console_sessions", "offers", "missed"):
            assert database.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,), table


async def test_a_record_from_a_backup_is_another_one(store: Store, data: Path, tmp_path: Path) -> None:
    """Seen failing (the same word) with the word restored."""
    before = await store.task_events.epoch()
    assert await store.task_events.epoch() == before
    await a_backup(store, data, tmp_path / "one.zip")
    restore(tmp_path / "other", tmp_path / "one.zip")
    restored = await Store.open(tmp_path / "other")
    try:
        assert await restored.task_events.epoch() not in {"", before}
    finally:
        await restored.close()


@pytest.mark.parametrize("name", DATABASES)
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER evil AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
        "CREATE VIEW evil AS SELECT * FROM {table}",
        "CREATE TABLE evil (x)",
        "CREATE VIRTUAL TABLE evil USING fts5 (x)",
        "CREATE INDEX evil ON {table} (hex({column}))",
        "ALTER TABLE {table} ADD COLUMN evil TEXT AS ('1')",
        "ALTER TABLE {table} ADD COLUMN evil TEXT",
        "DROP TABLE {table}",
    ],
    ids=lambda statement: " ".join(statement.split()[:2]).lower(),
)
async def test_what_is_no_part_of_our_databases_is_not_taken(
    store: Store, data: Path, tmp_path: Path, name: str, statement: str
) -> None:
    """Seen failing before: each of them was restored, and the service opened it."""
    await a_backup(store, data, tmp_path / "one.zip")
    table, column = ("writes", "type") if name == CHECKPOINTS_NAME else ("refusals", "kind")
    file = forged(tmp_path, name, statement.format(table=table, column=column))
    with pytest.raises(StoreCorrupt, match=f"{name} differs from what this program creates .*Nothing was changed"):
        restore(tmp_path / "other", file)
    assert names_in(tmp_path / "other") == ["lock"]


async def test_something_of_ours_that_was_written_otherwise_is_not_taken(
    store: Store, data: Path, tmp_path: Path
) -> None:
    """A check that is run at each row, under the name of our own table; remarks that look like the end of it."""
    await a_backup(store, data, tmp_path / "one.zip")
    for old, new in (
        ("count INTEGER NOT NULL", "count INTEGER NOT NULL CHECK (abs(count) > 0)"),
        ("count INTEGER NOT NULL", "count INTEGER NOT NULL DEFAULT ('--' || 1\n || '')"),
        ("count INTEGER NOT NULL", "count INTEGER NOT NULL /* */ DEFAULT 1"),
    ):
        file = forged(
            tmp_path,
            DATABASE_NAME,
            "PRAGMA writable_schema = ON",
            f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new.replace(chr(39), chr(39) * 2)}')",
        )
        with pytest.raises(StoreCorrupt, match="table 'refusals'"):
            restore(tmp_path / "other", file)


async def test_blanks_and_remarks_make_no_difference(store: Store, data: Path, tmp_path: Path) -> None:
    """A remark in a migration may be written better one day."""
    await a_backup(store, data, tmp_path / "one.zip")
    change = "replace(sql, 'count INTEGER', '-- How often.\n  count    INTEGER')"
    statements = ("PRAGMA writable_schema = ON", f"UPDATE sqlite_schema SET sql = {change}")
    restore(tmp_path / "other", forged(tmp_path, DATABASE_NAME, *statements))


async def test_what_it_brings_is_known_before_it_is_taken(store: Store, data: Path, tmp_path: Path) -> None:
    await add_task(store, event="first")
    grant, gift = Grant("discord", "42", Right.ADMIN, phone="pixel"), TierGift("discord", "7", "gold", guild="1")
    other = Person("telegram", "9", "Anna")
    await store.write(lambda transaction: store.grants.give(transaction, grant))
    await store.write(lambda transaction: store.tiers.give(transaction, gift))
    await store.write(lambda transaction: store.links.join(transaction, ANNA, other))
    await store.moves.move(HERE, "elsewhere", now=1.0)
    plan = Plan(ANNA, Place(HERE), "2", Rule(RuleKind.EVERY, "3600", "UTC"), "every 1h", TaskDraft("water the plants"))
    await store.schedules.add(plan, now=1.0, due=2.0)
    await asyncio.to_thread(back_up, data, tmp_path / "one.zip", frames=False)
    with unpacked(tmp_path / "other", tmp_path / "one.zip") as backup:
        brings = backup.brings
    assert names_in(tmp_path / "other") == ["lock"], "nothing was taken"
    assert (brings.people, brings.grants, brings.tiers) == ((ANNA,), (grant,), (gift,))
    assert brings.links == ((other, ANNA),)
    assert brings.moves == (("web", "main", "elsewhere"),)
    assert [(one.person, one.when, one.text) for one in brings.schedules] == [(ANNA, "every 1h", "water the plants")]
    assert [(one.id, one.person, one.text) for one in brings.tasks] == [("1", ANNA, "open the browser")]
