"""Whether shell and full Python are offered here, with which workshop, and why not."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agent.ports.workshop import Job, Lack, WorkshopError
from bot.part import WorkshopOffer
from bot.workshop import SOCKET
from bot.workshop.client import OwnWorkshop, SocketWorkshop
from bot.workshop.probe import find_room

LOOK: Final = Job("shell", "echo held", seconds=5)


async def look_for_workshop(setting: str) -> WorkshopOffer:
    """What there is: with "auto" the workshop of the unit or container where there is its socket, else one of our own
    where a room holds; with a path the workshop there; with "off" none.

    A job is really run. Nothing runs on afterwards, and where no bubblewrap is installed nothing is started at all.
    """
    if setting == "off":
        return WorkshopOffer(None, Lack.OFF)
    path = SOCKET if setting == "auto" else Path(setting)
    if setting != "auto" or path.exists():
        workshop = SocketWorkshop(path)
        try:
            held = (await workshop.run(LOOK)).output == "held\n"
        except WorkshopError:
            held = False
        return WorkshopOffer(workshop) if held else WorkshopOffer(None, Lack.SILENT)
    room = await find_room()
    if isinstance(room, Lack):
        return WorkshopOffer(None, room)
    own = OwnWorkshop()
    return WorkshopOffer(own, close=own.close)
