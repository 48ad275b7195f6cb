"""A model with eyes: it writes one note, and decides by what is on the screen, whatever happened before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.models.base import ModelReply, ModelRequest, Models, Purpose
from agent.scene import ScreenElement
from devices.geometry import Size
from tests.agent.graph.rig import Rig
from tests.fakes.scripted_model import ScriptedModel, call, models

NOTE = "milk & 2 eggs"
MOST_CALLS = 25


@dataclass
class Writer:
    """Opens the notes, touches "New note", types the title, and finishes when it reads it there.

    `by_icon`: it opens the notes by a touch. `meanwhile` is
    called once, while the model thinks about the screen on which `moment` says so.
    """

    text: str = NOTE
    by_icon: bool = False
    moment: str = ""
    meanwhile: Callable[[], None] = lambda: None
    told: list[str] = field(default_factory=list)
    secure: list[bool] = field(default_factory=list)
    spaces: set[Size] = field(default_factory=set)

    def models(self) -> tuple[Models, ScriptedModel]:
        """The model for all roles."""
        return models([self.answer] * MOST_CALLS)

    def answer(self, request: ModelRequest) -> ModelReply:
        """The next action."""
        assert request.purpose is Purpose.ACT
        scene = request.scene
        assert scene is not None
        self.told.extend(scene.notices)
        self.secure.append(scene.screen.secure)
        self.spaces.add(scene.screen.space)
        lines = scene.screen.elements or ()
        if scene.screen.covered:
            return call("read_words", app=scene.screen.app)
        reply, moment = self._decide(lines)
        if moment == self.moment:
            self.moment = ""
            self.meanwhile()
        return reply

    def _decide(self, lines: tuple[ScreenElement, ...]) -> tuple[ModelReply, str]:
        dialog = _named(lines, "Not now")
        if dialog is not None:
            return call("tap", element=dialog.id), "dialog"
        if _named(lines, self.text) is not None:
            return call("finish", status="success", summary="written"), "written"
        title = next((line for line in lines if line.role == "field"), None)
        if title is not None:
            return call("type", element=title.id, text=self.text, clear=True), "typing"
        new = _named(lines, "New note")
        if new is not None:
            return call("tap", element=new.id), "touching"
        icon = _named(lines, "Notes")
        if self.by_icon and icon is not None:
            return call("tap", element=icon.id), "opening"
        return call("open_app", name="Notes"), "opening"


def _named(lines: tuple[ScreenElement, ...], label: str) -> ScreenElement | None:
    return next((line for line in lines if line.text == label), None)


def nothing_was_sent_twice(rig: Rig) -> None:
    """No receipt reached the phone twice, and every receipt belongs to one action that the journal has."""
    receipts = Counter(entry.receipt for entry in rig.phone.journal.entries if entry.receipt)
    assert [receipt for receipt, times in receipts.items() if times > 1] == []
    actions = {key.receipt for key in rig.journal.rows}
    assert {receipt.rpartition(".")[0] for receipt in receipts} <= actions
