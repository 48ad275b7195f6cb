"""Looks for files by name in the folders of a phone's shared storage where people find theirs."""

from __future__ import annotations

import fnmatch
import stat
import struct
import unicodedata
from collections.abc import Callable, Iterator

from devices.adb.connection import Call
from devices.adb.shell import Shell
from devices.errors import FileRejected, PhoneGone
from devices.storage import FoundFiles, StoredFile, checked_path
from devices.wording import words

FOLDERS = ("/sdcard/Download", "/sdcard/Documents", "/sdcard/Pictures", "/sdcard/DCIM")
DEPTH = 5
"""Folders below each of those: a chat app's pictures lie three deep."""
MAX_ENTRIES = 50_000
"""Names that are looked at: a camera roll of ten years has some 20,000 pictures."""
FIND_SECONDS = 30.0
_ENTRY = struct.Struct("<4sIIII")
_MAX_NAME = 1024


async def find(shell: Shell, name: str, *, most: int = MAX_ENTRIES) -> FoundFiles:
    """The files that this means, newest first: a path, a name, a pattern such as `*.pdf`, or a part of a name.

    A part of a name counts only when no name is just that, first with and then without its ending. Raises FileRejected
    for a path outside of shared storage, and other PhoneErrors. After `most` names no further folder is looked at.
    """
    wanted = _folded(name.strip())
    if "/" in wanted:
        path = checked_path(name.strip() if name.strip().startswith("/") else f"/sdcard/{name.strip()}")
        folder, _, last = path.rpartition("/")
        found, _ = await _listed(shell, (folder,), 0, most)
        return _newest([each for each in found if each.name == last])
    if not wanted:
        raise FileRejected(words("phone.error.unnamed_file"))
    listed, stopped_at = await _listed(shell, FOLDERS, DEPTH, most)
    known = [(each, _folded(each.name)) for each in listed]
    if set(wanted) & set("*?"):
        return _newest([each for each, called in known if fnmatch.fnmatchcase(called, wanted)], stopped_at)
    for fits in (
        lambda called: called == wanted,
        lambda called: called.rpartition(".")[0] == wanted,
        lambda called: wanted in called,
    ):
        if found := [each for each, called in known if fits(called)]:
            return _newest(found, stopped_at)
    return FoundFiles((), stopped_at)


def _newest(found: list[StoredFile], stopped_at: int = 0) -> FoundFiles:
    return FoundFiles(tuple(sorted(found, key=lambda each: each.modified, reverse=True)), stopped_at)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


async def _listed(shell: Shell, folders: tuple[str, ...], depth: int, most: int) -> tuple[list[StoredFile], int]:
    return await shell.connection.run(
        lambda call: _walk(call, folders, depth, most), timeout=FIND_SECONDS, doing=words("phone.doing.finding")
    )


def _walk(call: Call, folders: tuple[str, ...], depth: int, most: int) -> tuple[list[StoredFile], int]:
    """Regular files in and below the folders, hidden ones left out; LIST of adb's SYNC.TXT, on one stream. And how many
    names were seen when folders are left that nobody looked into, otherwise 0.
    """
    connection = call.open("sync:")
    files: list[StoredFile] = []
    left = [(folder, depth) for folder in reversed(folders)]
    seen = 0
    while left and seen < most:
        folder, deeper = left.pop()
        encoded = folder.encode()
        connection.conn.settimeout(call.remaining)
        connection.conn.sendall(b"LIST" + struct.pack("<I", len(encoded)) + encoded)
        for name, mode, size, modified in _entries(call, connection.read_exact):
            seen += 1
            if name.startswith("."):
                continue
            if stat.S_ISDIR(mode) and deeper:
                left.append((f"{folder}/{name}", deeper - 1))
            elif stat.S_ISREG(mode):
                files.append(StoredFile(f"{folder}/{name}", size, modified))
    return files, seen if left else 0


def _entries(call: Call, read: Callable[[int], bytes]) -> Iterator[tuple[str, int, int, int]]:
    """Name, mode, size and time of change of each entry; a folder that is not there has none."""
    while True:
        kind, mode, size, modified, length = _ENTRY.unpack(read(_ENTRY.size))
        if kind == b"DONE":
            return
        if kind != b"DENT" or length > _MAX_NAME:
            raise PhoneGone(words("phone.error.link_listing", serial=call.serial))
        yield read(length).decode(errors="replace"), mode, size, modified
