"""Phones that tell one identity and are two: copies of one installation, such as emulators made from one image."""

from __future__ import annotations

import logging

from devices.adb.driver import AdbPhone
from devices.adb.following import Link
from devices.adb.identity import Identity, identify
from devices.adb.shell import Shell
from devices.errors import PhoneError

logger = logging.getLogger(__name__)


async def id_of(identity: Identity, link: Link, known: AdbPhone | None, *, works: bool) -> str:
    """The stable id of the phone behind a new link: its android_id, unless the phone that is `known` by it is another.

    The number on the phone tells copies apart. Where that was copied, too, both are asked at the same time, as long as
    the first one `works`: a phone that hangs on two links has started once.
    """
    android_id = identity.android_id or link[1]
    if known is None or (known.connection.address, known.connection.serial) == link:
        return android_id
    if known.number and identity.serial and known.number != identity.serial:
        return _other(f"{android_id}@{identity.serial}", known)
    try:
        if works and not identity.same_phone(await identify(Shell(known.connection))):
            return _other(f"{android_id}@{link[1]}", known)
    except PhoneError as away:
        logger.debug("%s is not there any more: %s", known.info.name, away)
    return android_id


def _other(phone_id: str, known: AdbPhone) -> str:
    logger.warning("%s tells the same identity as %s and is another phone", phone_id, known.info.name)
    return phone_id
