"""The phone's shared storage put in order by a model: what is done, what is asked, and what is out of reach."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agent.events import Asked, FileFound
from agent.models.base import Purpose
from agent.questions import QuestionKind
from tests.agent.graph.rig import LIMIT, Rig, Work, order
from tests.agent.graph.test_field_text import GIVE_UP, read
from tests.agent.graph.test_main import FINISH
from tests.fakes.scripted_model import call, calls, models

FOLDER = "/sdcard/Documents"


def commands(rig: Rig) -> list[str]:
    """What was changed in the files, as the phone received it."""
    return [" ".join(entry.argv) for entry in rig.phone.journal.entries if entry.name in {"mv", "mkdir", "rm"}]


async def test_files_are_listed_moved_and_renamed(rig: Rig) -> None:
    rig.phone.files.write(f"{FOLDER}/plan (1).txt", b"plan", modified=1_760_000_000)
    rig.phone.files.write(f"{FOLDER}/old/it's.txt", b"old")
    asked, model = models(
        [
            call("files", do="list", path=f"{FOLDER}/../Documents"),
            call("files", do="make_folder", path=f"{FOLDER}/kept/2026"),
            call("files", do="move", path=f"{FOLDER}/plan (1).txt", to=f"{FOLDER}/kept/2026"),
            call("files", do="move", path=f"{FOLDER}/old", to=f"{FOLDER}/older"),
            FINISH,
        ]
    )
    work = Work(rig.agent(asked), order("put my documents in order"))
    await work.ended()
    told = model.asked(Purpose.ACT)
    assert read(told[1]).splitlines() == [
        f"{FOLDER}:",
        "old/",
        "plan (1).txt (4 bytes, 2025-10-09 08:53 UTC)",
    ]
    assert f"it is now {FOLDER}/kept/2026/plan (1).txt" in told[3].messages[-1].text
    assert rig.phone.files.read(f"{FOLDER}/kept/2026/plan (1).txt") == b"plan"
    assert rig.phone.files.read(f"{FOLDER}/older/it's.txt") == b"old"
    assert not any(isinstance(event, Asked) for event in work.events)


async def test_a_file_of_that_name_is_only_replaced_after_a_yes(rig: Rig) -> None:
    """Seen failing with `mv -f` for every move and no look at the new name, and with the gate of `replace` left out."""
    rig.phone.files.write(f"{FOLDER}/a.txt", b"a")
    rig.phone.files.write(f"{FOLDER}/b.txt", b"b")
    move = {"do": "move", "path": f"{FOLDER}/a.txt", "to": f"{FOLDER}/b.txt"}
    asked, model = models([call("files", **move), call("files", **move, replace=True), FINISH])
    work = Work(rig.agent(asked), order("call a.txt b.txt"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert "delete the file that has that name there" in question.text
    assert f"{FOLDER}/b.txt" in question.text
    assert "There is already something called" in model.asked(Purpose.ACT)[1].messages[-1].text
    assert rig.phone.files.read(f"{FOLDER}/b.txt") == b"b"
    await work.answer("allow")
    await work.ended()
    assert rig.phone.files.read(f"{FOLDER}/b.txt") == b"a"
    assert rig.phone.files.read(f"{FOLDER}/a.txt") is None


@pytest.mark.parametrize("to", [f"{FOLDER}/kept", f"{FOLDER}/kept/", "/sdcard"])
async def test_what_is_replaced_is_named(rig: Rig, to: str) -> None:
    """A person reads the path of what is deleted. Seen failing with a file that is replaced in the folder `to`."""
    name = "a.txt"
    for folder in (FOLDER, f"{FOLDER}/kept", "/sdcard"):
        rig.phone.files.write(f"{folder}/{name}", folder.encode())
    asked, _ = models([call("files", do="move", path=f"{FOLDER}/{name}", to=to, replace=True), GIVE_UP])
    work = Work(rig.agent(asked), order("put it there"))
    await work.until(Asked)
    await work.answer("allow")
    await work.ended()
    assert commands(rig) == []


async def test_a_file_is_moved_to_the_top_of_shared_storage(rig: Rig) -> None:
    """Seen failing with a new path that has to lie below it."""
    rig.phone.files.write(f"{FOLDER}/a.txt", b"a")
    asked, _ = models([call("files", do="move", path=f"{FOLDER}/a.txt", to="/sdcard"), FINISH])
    await Work(rig.agent(asked), order("put it there")).ended()
    assert rig.phone.files.read("/sdcard/a.txt") == b"a"


async def test_a_folder_that_cannot_be_listed_is_no_uncertain_deed(rig: Rig) -> None:
    """Seen failing with the list of a folder taken for a change: the task is said to be done in part."""
    asked, model = models([call("files", do="list", path=FOLDER), GIVE_UP])
    rig.phone.faults.set(hang="sync")
    work = Work(rig.agent(asked), order("which documents are there?"))
    async with asyncio.timeout(LIMIT):
        while not rig.journal.rows:
            await asyncio.sleep(0)
        while next(entry.state for entry in rig.journal.rows.values()) not in {"rejected", "uncertain"}:
            await rig.phone.drop_link()
            await asyncio.sleep(0)
    rig.phone.faults.set(hang="")
    ended = await work.ended()
    assert "The folder could not be listed" in model.asked(Purpose.ACT)[1].messages[-1].text
    assert [entry.state for entry in rig.journal.rows.values()] == ["rejected"]
    assert ended.summary == "It cannot be done."


@pytest.mark.parametrize(
    "arguments",
    [
        {"do": "list", "path": "/data/local/tmp"},
        {"do": "list", "path": "/sdcard/../data"},
        {"do": "list", "path": "/sdcard/Android/data"},
        {"do": "list", "path": "/storage/1A2B-3C4D/DCIM"},
        {"do": "move", "path": f"{FOLDER}/a.txt", "to": "/data/local/tmp/a.txt"},
        {"do": "move", "path": f"{FOLDER}/a.txt", "to": f"{FOLDER}/../../../data/a.txt"},
        {"do": "move", "path": f"{FOLDER}/a.txt", "to": "/sdcard/android/DATA/com.bank/a.txt"},
        {"do": "move", "path": "/sdcard/Android", "to": f"{FOLDER}/Android"},
        {"do": "move", "path": "/sdcard/tmp/data", "to": "/sdcard/Android"},
        {"do": "move", "path": "/sdcard/tmp", "to": "/sdcard/ANDROID"},
        {"do": "move", "path": "/sdcard/tmp", "to": "/sdcard/tmp/data/tmp"},
        {"do": "move", "path": f"{FOLDER}/link/a.txt", "to": f"{FOLDER}/c.txt"},
        {"do": "move", "path": f"{FOLDER}/a.txt", "to": f"{FOLDER}/link"},
        {"do": "make_folder", "path": f"{FOLDER}/link/new"},
        {"do": "make_folder", "path": "/sdcard/Android/obb/new"},
        {"do": "list", "path": f"{FOLDER}/link"},
    ],
)
async def test_nothing_outside_of_shared_storage_is_reached(rig: Rig, arguments: dict[str, str]) -> None:
    """Seen failing without `checked_movable` and without the look for links."""
    files = rig.phone.files
    files.write(f"{FOLDER}/a.txt", b"a")
    files.write("/sdcard/tmp/data/x", b"x")
    if arguments["to" if "to" in arguments else "path"] != "/sdcard/ANDROID":
        files.make("/sdcard/Android/data")
    files.write(f"{FOLDER}/link/a.txt", b"of another place")
    files.links.add(f"{FOLDER}/link")
    asked, model = models([call("files", **arguments), GIVE_UP])
    await Work(rig.agent(asked), order("put my documents in order")).ended()
    assert "Not done" in model.asked(Purpose.ACT)[1].messages[-1].text
    assert commands(rig) == []
    assert "<read>" not in model.asked(Purpose.ACT)[1].messages[-1].text.partition("Told to you")[0]


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("sent", ["/sdcard/Documents/report.txt", "/storage/emulated/0/documents/report.txt"])
async def test_a_new_name_is_no_word_of_the_task(rig: Rig, sent: str, at_once: bool) -> None:
    """A file that nobody has asked for is called like one that was. Seen failing without the names that a run gives,
    and, where both are in one answer, with a gate that judges by the state before it.
    """
    rig.phone.files.write(f"{FOLDER}/passwords.txt", b"hunter2")
    rig.phone.files.write("/storage/emulated/0/documents/report.txt", b"other")
    move = ("files", {"do": "move", "path": f"{FOLDER}/passwords.txt", "to": f"{FOLDER}/report.txt"})
    send = ("send_file", {"path": sent})
    answers = [calls(move, send)] if at_once else [calls(move), calls(send)]
    asked, _ = models([*answers, FINISH])
    work = Work(rig.agent(asked), order("send me report.txt"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert "report.txt" in question.detail
    await work.answer("deny")
    await work.ended()
    assert not any(isinstance(event, FileFound) for event in work.events)


async def _drop(rig: Rig, work: Work) -> Work:
    """The link breaks before the phone has confirmed the move."""
    await rig.phone.drop_link()
    return work


async def _die(rig: Rig, work: Work) -> Work:
    """The process dies before anything of the step is stored, and another one goes on."""
    await work.kill()
    return Work(rig.agent(models([call("send_file", path=f"{FOLDER}/kept/passwords.txt"), FINISH])[0]), work.order)


@pytest.mark.parametrize("what", [_drop, _die])
@pytest.mark.parametrize("to", [f"{FOLDER}/kept/passwords.txt", f"{FOLDER}/x/../kept"])
async def test_a_move_that_is_uncertain_gives_a_new_name_as_well(
    rig: Rig, to: str, what: Callable[[Rig, Work], Awaitable[Work]]
) -> None:
    """Seen failing with the new names of finished moves alone."""
    rig.phone.files.write(f"{FOLDER}/passwords.txt", b"hunter2")
    rig.phone.files.make(f"{FOLDER}/kept")
    moved = asyncio.Event()

    def change() -> None:
        if rig.phone.files.read(f"{FOLDER}/kept/passwords.txt"):
            moved.set()

    rig.phone.files.changed = change
    asked, _ = models(
        [
            call("files", do="move", path=f"{FOLDER}/passwords.txt", to=to),
            call("send_file", path=f"{FOLDER}/kept/passwords.txt"),
            FINISH,
        ]
    )
    work = Work(rig.agent(asked), order("send me passwords.txt"))
    async with asyncio.timeout(LIMIT):
        await moved.wait()
    work = await what(rig, work)
    assert (await work.until(Asked)).question.kind is QuestionKind.APPROVE
    await work.answer("deny")
    await work.ended()
    assert not any(isinstance(event, FileFound) for event in work.events)


async def test_names_of_files_do_not_leave_unasked(rig: Rig) -> None:
    """Seen failing with names that count as words of no app."""
    rig.phone.files.write(f"{FOLDER}/Zanzibar quokka harbour.pdf", b"x")
    leave = call("open_url", url="https://example.org/?q=Zanzibar+quokka+harbour")
    asked, _ = models([call("files", do="list", path=FOLDER), leave, FINISH])
    work = Work(rig.agent(asked), order("which documents are there?"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    await work.answer("no")
    await work.ended()
