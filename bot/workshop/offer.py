"""Decides whether shell and full Python are available, in which workshop, and otherwise why not."""

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
    """Find a workshop: for "auto" that of the systemd unit or container if its socket exists, else a child of this
    service if a room can be isolated; for a path the one there; for "off" none.

    A test job is really run. Nothing keeps running afterwards, and without bubblewrap nothing is started at all.
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
