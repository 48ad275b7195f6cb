"""Files between chat and phone, on a virtual phone: what may leave it, and what was really sent."""

from __future__ import annotations

import os

import pytest

from agent.events import Asked, FileFound
from agent.models.base import ModelRequest, Purpose
from agent.outcome import Outcome
from agent.questions import QuestionKind
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, models

FINISH = call("finish", status="success", summary="done")
PATH = "/sdcard/DCIM/Camera/IMG_7.JPG"
SEND = call("send_file", path=PATH)


def told(request: ModelRequest) -> str:
    assert request.scene is not None
    return " ".join(request.scene.told)


def sent(work: Work) -> list[FileFound]:
    return [event for event in work.events if isinstance(event, FileFound)]


async def test_the_bytes_that_were_asked_for_arrive(rig: Rig) -> None:
    photo = os.urandom(200_001)
    rig.phone.files.write(PATH, photo)
    have, _ = models([SEND, FINISH])
    work = Work(rig.mind(have), order("send me the newest photo"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    (found,) = sent(work)
    assert found.name == "IMG_7.JPG"
    assert await rig.frames.load(found.content) == photo == rig.phone.files.read(PATH)
    (row,) = rig.journal.rows.values()
    assert (row.state, row.action["path"]) == ("done", PATH)
    assert "200001 bytes" in row.effect


async def test_a_file_that_nobody_asked_for_waits_with_its_whole_path(rig: Rig) -> None:
    """Seen failing with `file_question` returning None: the file is then sent at once."""
    path = "/sdcard/Download/" + "a long folder name/" * 4 + "passwords.txt"
    rig.phone.files.write(path, b"hunter2")
    detour = path.replace("/Download/", "/DCIM/../Download/")
    have, _ = models([call("send_file", path=detour), FINISH])
    work = Work(rig.mind(have), order("open settings"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert f"File: {path}" in question.detail
    assert (sent(work), rig.journal.rows) == ([], {})
    await work.answer("allow")
    await work.ended()
    (found,) = sent(work)
    assert await rig.frames.load(found.content) == b"hunter2"
    assert len(rig.journal.rows) == 1


async def test_a_denied_file_stays(rig: Rig) -> None:
    rig.phone.files.write(PATH, b"x")
    have, model = models([SEND, FINISH])
    work = Work(rig.mind(have), order("open settings"))
    await work.until(Asked)
    await work.answer("deny")
    await work.ended()
    assert (sent(work), rig.journal.rows) == ([], {})
    assert "did not allow it" in told(model.asked(Purpose.ACT)[1])


@pytest.mark.parametrize("path", ["/data/data/com.bank/x.db", "/sdcard/../data/x", "/sdcard/Android/data/com.bank/x"])
async def test_what_is_not_in_shared_storage_is_not_even_asked_about(rig: Rig, path: str) -> None:
    """Seen failing with `checked_path` returning what it is given: the phone is then asked for the file."""
    have, model = models([call("send_file", path=path), FINISH])
    work = Work(rig.mind(have), order("send me the file"))
    await work.ended()
    assert (sent(work), rig.journal.rows) == ([], {})
    assert not [entry for entry in rig.phone.journal.entries if "RECV" in entry.argv or path in entry.argv]
    assert "was not sent" in told(model.asked(Purpose.ACT)[1])


async def test_a_file_that_is_not_there_is_told(rig: Rig) -> None:
    have, model = models([SEND, FINISH])
    work = Work(rig.mind(have), order("send me the photo"))
    await work.ended()
    assert sent(work) == []
    assert [row.state for row in rig.journal.rows.values()] == ["rejected"]
    assert "There is no file" in told(model.asked(Purpose.ACT)[1])
