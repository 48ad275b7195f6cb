"""What happens to the phone while a model thinks about its screen, and who else uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agent.events import Asked, TaskEnded
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.ports.stores import GivenFile
from agent.questions import QuestionKind
from agent.run import Outcome
from devices.adb.connection import Connection
from devices.adb.fastlane.server import OnPhoneServer
from devices.adb.server import ServerAddress
from devices.adb.shell import Shell
from devices.geometry import Size
from devices.phone import Health
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.screen.nodes import Node
from tests.agent.graph.rig import LIMIT, Rig, Work, order, rig_on
from tests.fakes.scripted_model import call, models
from tests.faults.phones.conftest import bring_the_jar
from tests.faults.phones.writer import Writer, nothing_was_sent_twice
from tests.fixtures.adb import AdbServer

FINISH = call("finish", status="success", summary="done")
OTHER = "Something else came to the front after that look"


async def written(rig: Rig, writer: Writer) -> str:
    """The note is written all the same; gives what the model was told."""
    have, _ = writer.models()
    end = await Work(rig.agent(have), order("write a note")).ended()
    nothing_was_sent_twice(rig)
    assert end.outcome is Outcome.SUCCEEDED, (end.summary, writer.told)
    assert rig.phone.truth.fields["title"] == writer.text
    assert not writer.moment, "it did not happen"
    return " ".join(writer.told)


def node(rig: Rig, words: str) -> Node:
    return next(node for node in rig.phone.scene().root.walk() if words in {node.text, node.description, node.hint})


def new_note(rig: Rig) -> None:
    """The first look of a run finds a new note open: there is no earlier one that could be taken for settled."""
    for words in ("Notes", "New note"):
        rig.phone.hand.tap(node(rig, words).bounds.centre)


MEANWHILE: dict[str, tuple[Callable[[Rig], None], str]] = {
    "a pop-up comes up": (
        lambda rig: rig.phone.pop_up("Update", "Install the new version?", ("Install", "Not now")),
        OTHER,
    ),
    "the phone is turned upside down": (lambda rig: rig.phone.rotate(2), "The phone was turned"),
    "the phone is unfolded": (lambda rig: rig.phone.state.resize(1840, 2208), "The screen has another size"),
    "somebody opens the clock": (lambda rig: rig.phone.windows.launch("clock"), f"{OTHER}: com.android.deskclock"),
    "somebody opens the shade": (lambda rig: setattr(rig.phone.state, "shade", True), OTHER),
    "somebody switches the screen off": (lambda rig: rig.phone.windows.sleep(), "The screen went off"),
    "somebody locks it": (lambda rig: rig.phone.windows.lock(), OTHER),
}


@pytest.mark.parametrize("moment", ["opening", "typing"])
@pytest.mark.parametrize("what", MEANWHILE)
async def test_what_comes_between_look_and_act_is_not_touched(rig: Rig, what: str, moment: str) -> None:
    """Seen failing without `_check_front`: the touch met the pop-up, the text went nowhere."""
    happens, says = MEANWHILE[what]
    if moment == "typing":
        new_note(rig)
    writer = Writer(by_icon=True, moment=moment, meanwhile=lambda: happens(rig))
    assert says in await written(rig, writer)
    if what == "a pop-up comes up":
        assert rig.phone.truth.dialog_answers == ("Update: Not now",), "it was answered by looking at it"


OTHER_DISPLAYS: dict[str, Callable[[Rig], None]] = {
    "a virtual display comes": lambda rig: rig.phone.faults.set(virtual_display=True),
    "a virtual display goes": lambda rig: rig.phone.faults.set(virtual_display=False),
    "a cover lights up": lambda rig: rig.phone.faults.set(two_displays=True, second_lit=True),
    "a cover goes dark": lambda rig: rig.phone.faults.set(second_lit=False),
    "a cover and a virtual display": lambda rig: rig.phone.faults.set(
        two_displays=True, second_lit=True, virtual_display=True
    ),
}


@pytest.mark.parametrize("moment", ["opening", "touching", "typing"])
@pytest.mark.parametrize("what", OTHER_DISPLAYS)
async def test_displays_that_come_and_go_move_nothing(adb_rig: Rig, what: str, moment: str) -> None:
    """Through a real adb server: touches, texts, apps and pictures stay those of the default display."""
    rig = adb_rig
    if "goes" in what:
        rig.phone.faults.set(virtual_display=True, two_displays=True, second_lit=True)
    writer = Writer(moment=moment, meanwhile=lambda: OTHER_DISPLAYS[what](rig))
    assert await written(rig, writer) == ""
    assert len(writer.spaces) == 1, "every picture is of the same screen"


async def test_somebody_else_touches_the_phone(rig: Rig) -> None:
    """In the same window: nobody can tell, but what came of it is seen, and the text is not doubled."""

    def type_too() -> None:
        rig.phone.hand.tap(node(rig, "Title").bounds.centre)
        rig.phone.hand.type("mine")

    new_note(rig)
    await written(rig, Writer(moment="typing", meanwhile=type_too))


async def test_somebody_elses_uiautomator_leaves_the_picture(adb_rig: Rig, adb_server: AdbServer) -> None:
    """Android's UiAutomation has one user: there are no elements then, and that ends nothing."""
    rig = adb_rig
    bring_the_jar(rig)
    theirs = OnPhoneServer(Shell(Connection(ServerAddress(adb_server.host, adb_server.port), rig.phone.address)))
    await theirs.launch()
    at = node(rig, "Notes").bounds.centre

    def touch(request: ModelRequest) -> ModelReply:
        assert request.scene is not None
        place = at.mapped(Size(1080, 2400), request.scene.screen.space)
        return call("tap", x=place.x, y=place.y)

    have, model = models([touch, FINISH])
    end = await Work(rig.agent(have), order("open the notes")).ended()
    assert end.outcome is Outcome.SUCCEEDED
    scene = model.asked(Purpose.ACT)[0].scene
    assert scene is not None
    assert scene.screen.elements is None
    assert scene.screen.image is not None
    assert rig.phone.truth.app == "notes"
    assert rig.phone.uiautomator.running, "theirs was left alone"
    theirs.cut()


async def test_a_secure_screen_is_told_and_its_elements_are_used(rig: Rig) -> None:
    have, model = models([call("open_app", name="Vault"), call("key", key="back"), FINISH])
    assert (await Work(rig.agent(have), order("look")).ended()).outcome is Outcome.SUCCEEDED
    scene = model.asked(Purpose.ACT)[1].scene
    assert scene is not None
    assert scene.screen.secure
    assert scene.screen.image is None
    assert any("id:close" in line.text for line in scene.screen.elements or ())
    assert not any("Recovery" in line.text for line in scene.screen.elements or ())


async def test_the_adb_server_is_killed_and_starts_again(own_adb: AdbServer) -> None:
    """While a model thinks: whatever is asked of the phone next fails, until the pool has its server again."""
    async with rig_on(own_adb) as rig:
        kills: list[asyncio.Task[None]] = []
        writer = Writer(moment="touching", meanwhile=lambda: kills.append(asyncio.create_task(_kill(own_adb))))
        await written(rig, writer)
        assert kills
        assert kills[0].done()


async def _kill(adb: AdbServer) -> None:
    await adb.run("-P", str(adb.port), "kill-server")


async def test_adbd_hangs_for_a_while(rig: Rig) -> None:
    """One look takes too long; the next one finds the phone again."""

    def hang() -> None:
        rig.phone.faults.set(hang="*")
        asyncio.get_running_loop().call_later(5.5, lambda: rig.phone.faults.set(hang=""))

    assert "Not done" in await written(rig, Writer(by_icon=True, moment="opening", meanwhile=hang))


async def test_android_hangs_for_good(rig: Rig) -> None:
    """Its services do not answer any more; each look is given up in time, and after the third one the run."""
    writer = Writer(by_icon=True, moment="opening", meanwhile=lambda: rig.phone.faults.set(hang="dumpsys"))
    have, _ = writer.models()
    end = await Work(rig.agent(have), order("write a note")).ended()
    rig.phone.faults.set(hang="")
    assert end.outcome is Outcome.FAILED
    assert "did not answer in time" in end.summary
    assert not [line for line in rig.inputs() if line.startswith("input")]


async def test_a_full_storage_takes_no_file_and_says_so(rig: Rig) -> None:
    rig.phone.faults.set(storage_full=True)
    content = await rig.frames.save(b"x" * 100, suffix="pdf")
    have, model = models([FINISH])
    given = order("send this").model_copy(update={"files": (GivenFile(name="a.pdf", content=content),)})
    end = await Work(rig.agent(have), given).ended()
    assert end.outcome is Outcome.BLOCKED
    assert "No space left on device" in end.summary
    assert "Make room on the phone" in end.summary
    assert model.requests == []


@pytest.mark.parametrize(
    ("state", "health", "says"),
    [
        (LinkState.UNAUTHORIZED, Health.UNAUTHORIZED, "Allow USB debugging"),
        (LinkState.OFFLINE, Health.OFFLINE, "Start the virtual phone"),
    ],
)
async def test_a_phone_that_cannot_be_used_at_the_start(rig: Rig, state: LinkState, health: Health, says: str) -> None:
    await rig.phone.set_link(state)
    await known_as(rig, health)
    have, model = models([FINISH])
    end = await Work(rig.agent(have), order("anything")).ended()
    assert end.outcome is Outcome.BLOCKED
    assert says in end.summary
    assert model.requests == []
    assert rig.inputs() == []


async def test_a_pin_between_two_steps_is_a_question(rig: Rig) -> None:
    writer = Writer(moment="touching", meanwhile=lambda: rig.phone.windows.lock("1234"))
    have, _ = writer.models()
    work = Work(rig.agent(have), order("write a note"))
    asked = await work.until(Asked)
    assert asked.question.kind is QuestionKind.TAKE_OVER
    rig.phone.state.locked = False
    await work.answer("done")
    end: TaskEnded = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    nothing_was_sent_twice(rig)


async def known_as(rig: Rig, health: Health) -> None:
    async with asyncio.timeout(LIMIT):
        while rig.phones.list()[0].health is not health:
            await rig.phones.wait_for_change()
