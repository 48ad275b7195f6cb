"""Several phones on one card, in one final message, and in questions and steps."""

from __future__ import annotations

import io
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from agent.run import Outcome
from bot.cards.card import CardFacts, render_card, render_step, render_steps
from bot.cards.final import render_final
from bot.cards.picture import sheet_picture
from bot.cards.question import render_question
from bot.domain.task import PartNow, Task, TaskState
from bot.store.frames import FrameFiles
from tests.bot.cards.test_cards import everything
from tests.bot.records import a_question, a_step, a_task, an_ended_task


@pytest.fixture
def frames(tmp_path: Path) -> FrameFiles:
    return FrameFiles(tmp_path, time.time)


def coloured(colour: tuple[int, int, int]) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (108, 240), colour).save(target, "PNG")
    return target.getvalue()


def several(number: int, *, steps: bool = True) -> tuple[Task, list[PartNow]]:
    """A task for so many phones, and how its parts stand."""
    whole = a_task(id="12", parts=number)
    parts = []
    for place in range(1, number + 1):
        part = replace(whole, id=str(12 + place), parent="12", parts=0, phone=f"p{place}", phone_name=f"Phone {place}")
        step = replace(a_step(summary="Tapped Search"), part=part.id, phone_name=part.phone_name) if steps else None
        parts.append(PartNow(part, step, None))
    return whole, parts


async def test_several_phones_have_a_line_each(frames: FrameFiles) -> None:
    whole, (first, second, third) = several(3)
    waiting = PartNow(replace(second.task, state=TaskState.QUEUED), None, 2)
    done = PartNow(replace(third.task, state=TaskState.ENDED, outcome=Outcome.SUCCEEDED), third.step, None)
    notes = {waiting.task.id: "The cable is out"}
    card = await render_card(
        whole,
        CardFacts(step=first.step, parts=[first, waiting, done]),
        frames=frames,
        now=1075.0,
        note=lambda task: notes.get(task, ""),
    )
    assert card.body.splitlines() == [
        "Working",
        "▶ 1. Phone 1 · Step 3 · Settings · Tapped Search",
        "2. Phone 2 · Queued, position 2 · The cable is out",
        "3. Phone 3 · Done",
    ]


async def test_the_longest_card_of_many_phones_fits_a_caption(frames: FrameFiles) -> None:
    whole, parts = several(40)
    whole = replace(whole, request=replace(whole.request, text="words " * 500))
    parts = [
        replace(one, step=replace(a_step(summary="long" * 500, app="app" * 200), part=one.task.id)) for one in parts
    ]
    card = await render_card(
        whole, CardFacts(step=parts[0].step, parts=parts), frames=frames, now=1e9, note=lambda _: "note " * 300
    )
    assert len(everything(card)) <= 1024
    assert "… and 24 more" in card.body


async def test_a_question_names_its_phone_and_stops_that_phone(frames: FrameFiles) -> None:
    _, (_, second) = several(2)
    message = await render_question(a_question(), second.task, frames=frames, now=1000.0)
    below = message.footer.splitlines()[0]
    assert "Task 12.2 · " in below
    assert below.endswith("· Phone 2")
    assert message.buttons[-1][0].label == "Stop Phone 2"


def test_step_messages_name_the_phone() -> None:
    _, parts = several(2)
    steps = [one.step for one in parts if one.step is not None]
    single = render_step(steps[1])
    assert single.heading == "Task 12 · Phone 2 · Step 3 · Settings"
    both = render_steps(steps, limit=1024)
    assert both.heading == "Task 12 · Steps of several phones"
    assert both.body.splitlines() == ["Phone 1 3. Tapped Search", "Phone 2 3. Tapped Search"]


async def test_the_end_shows_all_screens_with_their_numbers(frames: FrameFiles) -> None:
    whole = an_ended_task(Outcome.SUCCEEDED)
    screens = [await frames.save(coloured(colour), suffix="png") for colour in ((200, 30, 30), (30, 30, 200))]
    parts = [replace(whole, frame=None), *(replace(whole, frame=screen) for screen in screens)]
    message = await render_final(whole, frames=frames, now=9999.0, parts=parts)
    assert message.picture is not None
    with Image.open(io.BytesIO(message.picture.data)) as sheet:
        left, right = sheet.getpixel((sheet.width // 4, sheet.height // 2)), sheet.getpixel((sheet.width - 9, 9))
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    assert left[0] > left[2]
    assert right[2] > right[0]
    lost = await render_final(
        whole, frames=frames, now=9999.0, parts=[replace(whole, frame="gone"), replace(whole, frame="lost")]
    )
    assert lost.picture is None


def make_unreadable(directory: Path, reference: str) -> None:
    (stored,) = directory.rglob(reference)
    stored.unlink()
    stored.mkdir()


async def test_an_unreadable_screen_is_left_out_of_the_picture_of_all(frames: FrameFiles, tmp_path: Path) -> None:
    """Seen failing: one broken screenshot took the picture of every other phone with it, and one that the disk did not
    give back took the message."""
    red, blue = [await frames.save(coloured(each), suffix="png") for each in ((200, 0, 0), (0, 0, 200))]
    cut = await frames.save(coloured((0, 200, 0))[:-40], suffix="png")
    unread = await frames.save(coloured((0, 200, 200)), suffix="png")
    make_unreadable(tmp_path, unread)
    found = await sheet_picture(frames, {1: red, 2: cut, 3: unread, 4: blue})
    alone = await sheet_picture(frames, {1: red, 4: blue})
    assert found is not None
    assert found == alone
    assert await sheet_picture(frames, {2: cut, 3: unread}) is None
