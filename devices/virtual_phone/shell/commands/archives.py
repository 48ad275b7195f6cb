"""`unzip`: AOSP system/core/libziparchive, ziptool (its options are Info-ZIP's)."""

from __future__ import annotations

import io
import zipfile

from devices.virtual_phone.apks import archive_at
from devices.virtual_phone.apps import APPS
from devices.virtual_phone.shell.call import Call, Family

LABELS = {app.package: app.label for app in APPS}


async def unzip(call: Call) -> int:
    """`unzip -p ARCHIVE NAME`: one part to standard output; nothing else is there."""
    if call.phone.faults.no_unzip:
        call.complain("/system/bin/sh: unzip: inaccessible or not found")
        return 127
    if len(call.arguments) != 3 or call.arguments[0] != "-p":
        call.complain("unzip: only -p ARCHIVE NAME is known")
        return 1
    path, name = call.arguments[1:]
    data = archive_at(path, LABELS) or call.phone.files.read(path)
    if data is None:
        call.complain(f"unzip: couldn't open {path}: I/O error")
        return 1
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            call.send(archive.read(name))
    except zipfile.BadZipFile:
        call.complain(f"unzip: couldn't open {path}: Invalid file")
        return 1
    except KeyError:
        call.complain(f"unzip: couldn't find {name}")
        return 1
    return 0


FAMILY: Family = {"unzip": unzip}
