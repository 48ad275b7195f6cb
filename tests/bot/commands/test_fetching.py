"""file: a file from a phone by its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.outgoing import Picture, Reply
from bot.store.audit import AuditKind, Detail, FileDetail
from devices.phone import Health
from devices.storage import StoredFile
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, EVE, PRIVATE, World, a_phone, a_world

NEW = StoredFile("/sdcard/Download/report.pdf", 3, 200)
OLD = StoredFile("/sdcard/Documents/report.pdf", 4, 100)


@pytest.fixture
def stocked(world: World) -> World:
    world.phones.files = {NEW: b"new", OLD: b"older"}
    return world


def words(reply: Reply) -> str:
    assert reply.message is not None
    return f"{reply.message.heading} {reply.message.body}"


async def test_the_newest_comes_and_the_others_are_told(stocked: World) -> None:
    reply = await stocked.type("file report")
    assert reply.message is not None
    assert reply.message.files == (Picture("report.pdf", b"new"),)
    assert "Pixel /sdcard/Download/report.pdf" in words(reply)
    assert "1 older files match too: /sdcard/Documents/report.pdf" in words(reply)


async def test_what_is_not_there_is_told_with_the_folders(stocked: World) -> None:
    reply = await stocked.type("file invoice.pdf")
    assert 'No file on Pixel is called like "invoice.pdf"' in words(reply)
    assert "Download, Documents, Pictures, DCIM" in words(reply)


async def test_a_file_that_the_chat_does_not_take_is_not_fetched(stocked: World) -> None:
    large = replace(NEW, size=60 * 1024 * 1024)
    stocked.phones.files = {large: b"never read"}
    assert "has 62.9 MB; at most" in words(await stocked.type("file report"))


async def test_while_it_works_for_somebody_else_its_files_are_theirs(stocked: World) -> None:
    """Seen failing without `_require_free`."""
    task = await stocked.working()
    told = words(await stocked.type("file report", BEN))
    assert f"Pixel is busy with task {task.id} of Anna. You can get its files once that has ended." in told
    for person in (ANNA, ADA):
        reply = await stocked.type("file report", person)
        assert reply.message is not None
        assert reply.message.files


async def test_what_came_with_a_task_is_shown_where_the_task_is(world: World) -> None:
    """Seen failing with `_shown` giving all that was found."""
    task = await world.do("send this to my doctor", ANNA, PRIVATE)
    given = StoredFile(f"/sdcard/Download/OpenGUI/{task.id}-1/finding.pdf", 3, 300)
    world.phones.files = {given: b"mine"}
    for person, place in ((BEN, CHANNEL), (ANNA, CHANNEL), (ADA, CHANNEL)):
        assert "No file on Pixel" in words(await world.type("file finding", person, place))
    reply = await world.type("file finding", ANNA, PRIVATE)
    assert reply.message is not None
    assert reply.message.files
    world.phones.files = {StoredFile("/sdcard/Pictures/OpenGUI/999-1/a.png", 3, 1): b"old"}
    assert "No file on Pixel" in words(await world.type("file a.png", BEN))
    world.phones.files |= {StoredFile("/sdcard/Pictures/a.png", 3, 0): b"own"}
    assert "/sdcard/Pictures/a.png" in words(await world.type("file a.png", BEN))


async def test_a_right_for_one_phone_reaches_the_files_of_that_one(tmp_path: Path) -> None:
    """Seen failing with `services.phones.list()` in place of `open_phones` in `phone_meant`."""
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Other")) as world:
        world.phones.files = {NEW: b"new"}
        await world.type("people --device pixel allow 666", ADA)
        assert "There is no phone called" in words(await world.type("file --device Other report", EVE))
        assert words(await world.type("file report", EVE)).startswith("Pixel ")
        assert "Which phone? Pixel, Other" in words(await world.type("file report", ANNA))


async def test_a_phone_that_cannot_be_used_says_so(stocked: World) -> None:
    stocked.phones.phones = (a_phone("Old", health=Health.OFFLINE, fix="Plug it in again."),)
    assert "Plug it in again." in words(await stocked.type("file report"))


async def kept(world: World) -> list[tuple[AuditKind, str, Detail]]:
    return [(entry.kind, entry.person.id, entry.detail) for entry in await world.store.audit.page(9)]


async def test_what_was_fetched_is_in_the_audit_without_what_is_in_it(stocked: World) -> None:
    await stocked.type("file report")
    assert await kept(stocked) == [
        (AuditKind.FETCHED, ANNA.id, FileDetail(what="fetched", file="Pixel /sdcard/Download/report.pdf", size=3))
    ]
    told = words(await stocked.type("audit", ADA))
    assert "fetched a file · Pixel /sdcard/Download/report.pdf" in told
    assert "new" not in told


async def test_what_was_refused_is_in_the_audit(stocked: World) -> None:
    task = await stocked.working()
    await stocked.type("file report", BEN)
    large = replace(NEW, size=60 * 1024 * 1024)
    given = StoredFile("/sdcard/Download/OpenGUI/999-1/finding.pdf", 3, 300)
    stocked.phones.files = {large: b"never read", given: b"hers"}
    await stocked.type("file report")
    await stocked.type("file finding")
    await stocked.type("file nothing of the kind")
    assert [entry for entry in await kept(stocked) if entry[0] is AuditKind.NOT_FETCHED] == [
        (AuditKind.NOT_FETCHED, ANNA.id, FileDetail(what="hidden", file="Pixel finding")),
        (AuditKind.NOT_FETCHED, ANNA.id, FileDetail(what="large", file=f"Pixel {NEW.path}", size=large.size)),
        (AuditKind.NOT_FETCHED, BEN.id, FileDetail(what="busy", file="Pixel report", task=task.id)),
    ]


async def test_a_search_that_ended_early_says_so(stocked: World) -> None:
    stocked.phones.stopped_at = 50_000
    assert "more files than are looked at (50000 names)" in words(await stocked.type("file report"))
    assert "more files than are looked at (50000 names)" in words(await stocked.type("file invoice"))


async def test_a_detail_of_a_very_long_path_can_be_read_again(stocked: World) -> None:
    await stocked.store.audit.note(AuditKind.FETCHED, ANNA, detail=FileDetail(what="fetched", file='"' * 2000, size=3))
    (entry,) = await stocked.store.audit.page(1)
    assert isinstance(entry.detail, FileDetail)
    assert entry.detail.file == '"' * 500
