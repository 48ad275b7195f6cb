"""Between the look at what was approved and the touch there is nothing; a window that comes up there is told."""

from __future__ import annotations

from typing import Any

from agent.effect_facts import LookedBefore, OtherWindow
from agent.events import Asked
from agent.models.base import Purpose
from agent.ports.journal import ActionKey
from agent.run import Outcome
from bot.texts import speaking
from bot.views.tasks import effect_words
from devices.virtual_phone.scenario import Moment, PopUp
from devices.virtual_phone.state import Dialog
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.ports import MemoryJournal
from tests.fakes.scripted_model import call, models, tap

FINISH = call("finish", status="success", summary="done")
MAPS = "Allow Maps to use your location?"
EVIL = "Allow EvilApp to record audio and read all SMS?"
BUTTONS = ("Deny", "Allow")


async def allowed(rig: Rig, *moments: Moment) -> tuple[Work, Any]:
    """A person allows Maps its location; the moments come after that."""
    rig.phone.state.dialogs[:] = [Dialog(MAPS, "", list(BUTTONS))]
    have, model = models([tap("Allow"), FINISH])
    work = Work(rig.agent(have), order("let Maps find me"))
    await work.until(Asked)
    for moment in moments:
        rig.phone.moments.add(moment)
    await work.answer("allow")
    return work, model


async def test_a_dialog_that_is_swapped_in_the_gap_is_told_and_ends_the_work(rig: Rig) -> None:
    """Seen failing without the look at who got the touch: the work went on as if Maps had been allowed."""
    work, model = await allowed(rig, Moment(after="input tap", before=True, then=PopUp(title=EVIL, buttons=BUTTONS)))
    end = await work.ended()
    assert rig.phone.state.dialog_answers == [f"{EVIL}: Allow"]
    assert end.outcome is Outcome.BLOCKED
    assert "appeared and got what you had approved" in end.summary
    assert "'Allow'" in end.summary
    assert len(model.asked(Purpose.ACT)) == 1
    (told,) = [each for step in work.steps for each in step.effect if isinstance(each, OtherWindow)]
    assert told.window.partition("/")[0] in end.summary


async def test_what_a_press_opens_itself_stops_nothing(rig: Rig) -> None:
    work, _ = await allowed(rig, Moment(after="input tap", then=PopUp(title="Really?", buttons=BUTTONS)))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert rig.phone.state.dialog_answers == [f"{MAPS}: Allow"]


async def test_a_phone_that_does_not_say_who_got_it_stops_nothing(rig: Rig) -> None:
    rig.phone.faults.set(hang="logcat")
    work, _ = await allowed(rig)
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert rig.phone.state.dialog_answers == [f"{MAPS}: Allow"]


async def test_how_old_the_look_was_stands_in_the_step_and_in_words(rig: Rig) -> None:
    work, _ = await allowed(rig)
    await work.ended()
    effect = next(step.effect for step in work.steps if step.mark)
    (looked,) = [each for each in effect if isinstance(each, LookedBefore)]
    assert 0 <= looked.milliseconds < 60_000
    assert f"the screen was checked at most {looked.milliseconds} ms before" in effect_words(effect, {})
    with speaking("zh"):
        assert f"操作前最多 {looked.milliseconds} 毫秒核对过画面" in effect_words(effect, {})
    assert any("checked at most" in repr(row) for row in rig.journal.rows.values())


class NotingJournal(MemoryJournal):
    """Notes how much the phone had received when an action was begun."""

    def __init__(self, received: list[Any]) -> None:
        super().__init__()
        self._received = received
        self.begun_at: list[int] = []

    async def begin(self, key: ActionKey, action: dict[str, Any], *, fence: int) -> bool:
        self.begun_at.append(len(self._received))
        return await super().begin(key, action, fence=fence)


async def test_the_journal_comes_before_the_look_and_nothing_between_look_and_touch(rig: Rig) -> None:
    """Seen failing before: the journal was written between them."""
    entries = rig.phone.journal.entries
    rig.journal = journal = NotingJournal(entries)
    work, _ = await allowed(rig)
    await work.ended()
    (begun,) = journal.begun_at
    names = [entry.name for entry in entries[begun:]]
    looks = [n for n, name in enumerate(names) if name in {"screencap", "uiautomator"}]
    touch = names.index("input")
    between = names[max(n for n in looks if n < touch) + 1 : touch]
    assert min(looks) < touch
    assert set(between) <= {"dumpsys", "grep", "echo", "date", "cat", "rm"}


async def test_without_the_same_screen_the_journal_says_that_nothing_was_sent(rig: Rig) -> None:
    rig.phone.state.dialogs[:] = [Dialog(MAPS, "", list(BUTTONS))]
    have, _ = models([tap("Allow"), call("finish", status="failure", summary="stopped")])
    work = Work(rig.agent(have), order("let Maps find me"))
    await work.until(Asked)
    rig.phone.state.dialogs[:] = [Dialog(EVIL, "", list(BUTTONS))]
    await work.answer("allow")
    await work.ended()
    assert rig.inputs() == []
    assert [row.state for row in rig.journal.rows.values()] == ["rejected"]
