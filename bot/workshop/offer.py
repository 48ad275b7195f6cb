"""Whether shell and full Python are offered here, with which workshop, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.ports.workshop import Job, Lack, Workshop, WorkshopError
from bot.workshop.client import OwnWorkshop, SocketWorkshop
from bot.workshop.probe import find_room
from bot.workshop.protocol import SOCKET

LOOK: Final = Job("shell", "echo held", seconds=5)


@dataclass(frozen=True, slots=True)
class Offer:
    """The workshop that jobs go to, or None and what is lacking. `own`: this service starts it with the first job."""

    workshop: Workshop | None
    lack: Lack | None = None
    own: OwnWorkshop | None = None


async def look_for_workshop(setting: str) -> Offer:
    """What there is: with "auto" the workshop of the unit or container where there is its socket, else one of our own
    where a room holds; with a path the workshop there; with "off" none.

    A job is really run. Nothing runs on afterwards, and where no bubblewrap is installed nothing is started at all.
    """
    if setting == "off":
        return Offer(None, Lack.OFF)
    path = SOCKET if setting == "auto" else Path(setting)
    if setting != "auto" or path.exists():
        workshop = SocketWorkshop(path)
        try:
            held = (await workshop.run(LOOK)).output == "held\n"
        except WorkshopError:
            held = False
        return Offer(workshop) if held else Offer(None, Lack.SILENT)
    room = await find_room()
    if isinstance(room, Lack):
        return Offer(None, room)
    own = OwnWorkshop()
    return Offer(own, own=own)
