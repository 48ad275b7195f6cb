"""Transfers files to and from a phone's shared storage, and lists, finds, moves and creates files and folders there."""

from __future__ import annotations

import contextlib
import fnmatch
import re
import stat
import struct
import time
import unicodedata
from collections.abc import Callable, Iterator

from devices.adb.connection import Call
from devices.adb.shell import Shell, command
from devices.errors import FileRejected, PhoneError, PhoneGone
from devices.storage import (
    DOWNLOADS,
    GALLERY,
    SHARED,
    FolderEntry,
    FoundFiles,
    StoredFile,
    checked_folder,
    checked_movable,
    checked_path,
    safe_name,
)
from devices.wording import words

SHOWN = ("jpg", "jpeg", "png", "webp", "gif", "heic", "heif", "bmp", "mp4", "webm", "mov", "3gp", "mkv")
"""Filename endings that a gallery shows."""
MAX_PUSH = 100 * 1024 * 1024
SYNC_CHUNK = 64 * 1024
"""SYNC_DATA_MAX of adb's file_sync_protocol.h."""
BASE_SECONDS = 10.0
BYTES_PER_SECOND = 500_000
"""The speed of a slow Wi-Fi link, for calculating the time limit."""


async def push(shell: Shell, name: str, data: bytes, folder: str = "") -> str:
    """Write a file to the gallery or the download folder, add it to the gallery, and return its path on the phone.

    `folder` is a subfolder, "" for none. Raises FileRejected and other PhoneErrors.
    """
    if len(data) > MAX_PUSH:
        raise FileRejected(words("phone.error.push_large", size=len(data), limit=MAX_PUSH))
    kept = safe_name(name)
    root = GALLERY if kept.rpartition(".")[2].casefold() in SHOWN else DOWNLOADS
    path = "/".join((root, *((safe_name(folder),) if folder else ()), kept))
    timeout = BASE_SECONDS + len(data) / BYTES_PER_SECOND
    await shell.connection.run(
        lambda call: _send(call, path, data), timeout=timeout, doing=words("phone.doing.receiving")
    )
    await shell.run(_scan(path), doing=words("phone.doing.gallery"))
    return path


async def pull(shell: Shell, path: str, limit: int) -> bytes:
    """Return the bytes of a file of at most `limit` bytes.

    Raises FileRejected if there is no such file, it is larger, or its path may not be used; and other PhoneErrors.
    """
    checked = checked_path(path)
    timeout = BASE_SECONDS + limit / BYTES_PER_SECOND
    return await shell.connection.run(
        lambda call: _receive(call, checked, limit), timeout=timeout, doing=words("phone.doing.sending")
    )


def _request(kind: bytes, payload: bytes) -> bytes:
    return kind + struct.pack("<I", len(payload)) + payload


def _send(call: Call, path: str, data: bytes) -> None:
    """Send a file with the SEND request of adb's SYNC.TXT: path and mode, pieces of data, modification time."""
    connection = call.open("sync:")
    mode = stat.S_IFREG | 0o644
    connection.conn.sendall(_request(b"SEND", f"{path},{mode}".encode()))
    for start in range(0, len(data), SYNC_CHUNK):
        connection.conn.settimeout(call.remaining)
        connection.conn.sendall(_request(b"DATA", data[start : start + SYNC_CHUNK]))
    connection.conn.settimeout(call.remaining)
    connection.conn.sendall(b"DONE" + struct.pack("<I", int(time.time())))
    answer, length = struct.unpack("<4sI", connection.read_exact(8))
    if answer == b"FAIL":
        reason = _printable(connection.read_exact(length))
        raise FileRejected(words("phone.error.push_refused", reason=reason))
    if answer != b"OKAY":
        raise PhoneGone(words("phone.error.link_sending", serial=call.serial))


def _receive(call: Call, path: str, limit: int) -> bytes:
    connection = call.open("sync:")
    connection.conn.sendall(_request(b"STAT", path.encode()))
    _, mode, size, _ = struct.unpack("<4sIII", connection.read_exact(16))
    if not stat.S_ISREG(mode):
        raise FileRejected(words("phone.error.no_file", path=path))
    if size > limit:
        raise FileRejected(words("phone.error.pull_large", path=path, size=size, limit=limit))
    connection.conn.sendall(_request(b"RECV", path.encode()))
    data = bytearray()
    while True:
        connection.conn.settimeout(call.remaining)
        kind, length = struct.unpack("<4sI", connection.read_exact(8))
        if kind == b"DONE":
            return bytes(data)
        if kind == b"FAIL":
            reason = _printable(connection.read_exact(length))
            raise FileRejected(words("phone.error.pull_refused", reason=reason))
        if kind != b"DATA" or length > SYNC_CHUNK:
            raise PhoneGone(words("phone.error.link_reading", serial=call.serial))
        data += connection.read_exact(length)
        if len(data) > limit:  # it grew after it was measured
            raise FileRejected(words("phone.error.pull_grown", path=path, limit=limit))


def _printable(reason: bytes) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", reason.decode(errors="replace"))[:200]


FOLDERS = ("/sdcard/Download", "/sdcard/Documents", "/sdcard/Pictures", "/sdcard/DCIM")
DEPTH = 5
"""How many levels of folders are searched; a chat app's pictures are three levels deep."""
MAX_ENTRIES = 50_000
"""How many names are checked; a camera roll of ten years has some 20,000 pictures."""
FIND_SECONDS = 30.0
_ENTRY = struct.Struct("<4sIIII")
_MAX_NAME = 1024


async def find(shell: Shell, name: str, *, most: int = MAX_ENTRIES) -> FoundFiles:
    """Find files in shared storage by path, name, pattern such as `*.pdf`, or part of a name, newest first.

    A part of a name counts only if no file has exactly this name, with or without its ending. After `most` names no
    further folder is searched. Raises FileRejected for an empty name or a path outside shared storage, and other
    PhoneErrors.
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
    """List regular files in and below the folders, without hidden ones, with LIST of adb's SYNC.TXT on one stream. Also
    return how many names were seen if folders are left over, otherwise 0.
    """
    connection = call.open("sync:")
    files: list[StoredFile] = []
    left = [(folder, depth) for folder in reversed(folders)]
    seen = 0
    while left and seen < most:
        folder, deeper = left.pop()
        connection.conn.settimeout(call.remaining)
        connection.conn.sendall(_request(b"LIST", folder.encode()))
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
    """Yield name, mode, size and modification time of each entry; a missing folder has none."""
    while True:
        kind, mode, size, modified, length = _ENTRY.unpack(read(_ENTRY.size))
        if kind == b"DONE":
            return
        if kind != b"DENT" or length > _MAX_NAME:
            raise PhoneGone(words("phone.error.link_listing", serial=call.serial))
        yield read(length).decode(errors="replace"), mode, size, modified


async def list_folder(shell: Shell, folder: str) -> tuple[FolderEntry, ...]:
    """Return the entries of a folder, folders first and sorted by name, without hidden ones. Raises FileRejected and
    other PhoneErrors.
    """
    path = checked_folder(folder)
    if not stat.S_ISDIR(await _mode(shell, path)):
        raise FileRejected(words("phone.error.no_folder", path=path))
    return await shell.connection.run(
        lambda call: _entries_of(call, path), timeout=FIND_SECONDS, doing=words("phone.doing.finding")
    )


async def move(shell: Shell, path: str, to: str, *, replace: bool) -> str:
    """Move a file or folder and return its new path, which is inside `to` if that is a folder.

    With `replace`, a file at `to` is overwritten, and a folder there is refused. Raises FileRejected and other
    PhoneErrors.
    """
    source, target = checked_movable(path), checked_folder(to)
    if not await _mode(shell, source):
        raise FileRejected(words("phone.error.nothing_there", path=source))
    if stat.S_ISDIR(await _mode(shell, target)):
        if replace:
            raise FileRejected(words("phone.error.already_there", path=target))
        target = f"{target}/{source.rpartition('/')[2]}"
    target = checked_movable(target)
    if f"{target}/".startswith(f"{source}/"):
        raise FileRejected(words("phone.error.into_itself", path=source))
    there = await _mode(shell, target)
    if stat.S_ISDIR(there) or (there and not replace):
        raise FileRejected(words("phone.error.already_there", path=target))
    await _done(shell, command("mv", "-f" if replace else "-n", source, target), target)
    try:
        stays = await _mode(shell, source)
    except PhoneError as lost:
        lost.uncertain = True
        raise
    if stays:  # `mv -n` does not report a name that was taken in the meantime
        raise FileRejected(words("phone.error.already_there", path=target))
    with contextlib.suppress(PhoneError):  # the file is moved even if the gallery is not updated
        for each in (source, target):
            await shell.run(_scan(each), doing=words("phone.doing.gallery"))
    return target


async def make_folder(shell: Shell, path: str) -> str:
    """Create a folder and its parents, and return its path. Raises FileRejected and other PhoneErrors."""
    folder = checked_path(path)
    if await _mode(shell, folder):
        raise FileRejected(words("phone.error.already_there", path=folder))
    await _done(shell, command("mkdir", "-p", folder), folder)
    return folder


async def _done(shell: Shell, line: str, path: str) -> None:
    result = await shell.run(line, doing=words("phone.doing.moving"))
    if problem := result.failure:
        raise FileRejected(words("phone.error.not_moved", path=path, reason=_printable(problem.encode())))


async def _mode(shell: Shell, path: str) -> int:
    """Return the mode of a path, 0 if nothing is there. Raises FileRejected if any part except the root is a link,
    because it may lead anywhere.
    """
    root = next(root for root in SHARED if f"{path}/".startswith(root))
    names = path.removeprefix(root.rstrip("/")).strip("/").split("/")
    ways = ["/".join((root.rstrip("/"), *names[:number])) for number in range(1, len(names) + 1)]
    modes = await shell.connection.run(
        lambda call: _modes(call, ways), timeout=BASE_SECONDS, doing=words("phone.doing.finding")
    )
    if any(map(stat.S_ISLNK, modes)):
        raise FileRejected(words("phone.error.linked", path=path))
    return modes[-1]


def _modes(call: Call, paths: list[str]) -> list[int]:
    """Return the modes of paths with STAT of adb's SYNC.TXT, which does not follow links."""
    connection = call.open("sync:")
    modes: list[int] = []
    for path in paths:
        connection.conn.settimeout(call.remaining)
        connection.conn.sendall(_request(b"STAT", path.encode()))
        modes.append(struct.unpack("<4sIII", connection.read_exact(16))[1])
    return modes


def _entries_of(call: Call, folder: str) -> tuple[FolderEntry, ...]:
    connection = call.open("sync:")
    connection.conn.sendall(_request(b"LIST", f"{folder}/".encode()))
    found = [
        FolderEntry(name, stat.S_ISDIR(mode), size, modified)
        for name, mode, size, modified in _entries(call, connection.read_exact)
        if not name.startswith(".")
    ]
    return tuple(sorted(found, key=lambda each: (not each.is_folder, each.name.casefold())))


def _scan(path: str) -> str:
    """Return the command line that adds a file to the gallery."""
    return command("am", "broadcast", "-a", "android.intent.action.MEDIA_SCANNER_SCAN_FILE", "-d", f"file://{path}")
