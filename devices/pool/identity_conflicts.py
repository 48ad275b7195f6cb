"""Distinguishes phones that report the same identity, such as emulators made from one image."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from devices.adb.driver import AdbPhone
from devices.adb.following import Link
from devices.adb.identity import Identity, identify
from devices.adb.shell import Shell
from devices.errors import PhoneError

logger = logging.getLogger(__name__)


async def id_of(
    identity: Identity, link: Link, phones: Mapping[str, AdbPhone], works: Callable[[AdbPhone], bool]
) -> str:
    """Return the stable id of the phone behind a new link: its android_id, with something behind it if a different
    phone has it; the serial at adb if it reports no android_id.

    Copies of a phone are distinguished by the serial number on the phone. If that was copied too, both phones are
    asked at the same time, provided that `works` says that the known one can be used: a phone on two links reports the
    same boot id. `phones` are the known phones by id.
    """
    if not identity.android_id:
        return link[1]
    taken: list[str] = []
    for behind in ("", f"@{identity.serial}", f"@{link[1]}"):
        phone_id = f"{identity.android_id}{behind}"
        known = phones.get(phone_id)
        if known is None or await _same(identity, link, known, works=works(known)):
            break
        taken.append(known.info.name)
    if taken:
        logger.warning("%s reports the same identity as %s but is a different phone", phone_id, " and ".join(taken))
    return phone_id


async def _same(identity: Identity, link: Link, known: AdbPhone, *, works: bool) -> bool:
    if (known.connection.address, known.connection.serial) == link:
        return True
    if known.number and identity.serial and known.number != identity.serial:
        return False
    try:
        return not works or identity.same_phone(await identify(Shell(known.connection)))
    except PhoneError as away:
        logger.debug("%s is not there any more: %s", known.info.name, away)
        return True
