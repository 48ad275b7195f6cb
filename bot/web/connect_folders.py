"""Lets admins add and delete folders of team members and skills on the page, as a zip file or by dropping them.

The folders' contents are treated as data. A new folder gets the same checks as at the service's start before it is
moved into place. Actions that its text asks for are subject to the approval rules when they are done.
"""

from __future__ import annotations

import asyncio
import io
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from pydantic import Base64Bytes, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.front_matter import MAX_NAME, NAME, FolderRefused, Folders, read_document
from bot.application.services import Services
from bot.store.audit import AuditKind
from bot.texts import say
from bot.web.api import Body, body_of
from bot.web.connect import admin_of
from bot.web.http import RequestRefused, post
from devices.wording import said, sentence_of

MOST_FILES: Final = 50
"""Most files in one folder, as for `opengui skills import`."""
MOST_BYTES: Final = 2_000_000
"""Most bytes of all files together, unpacked."""
MOST_BODY: Final = MOST_BYTES * 3 // 2
"""Most bytes of a request, in which files are base64."""
_STAGING: Final = ".incoming-"
"""Prefix of the temporary folder for checks; the loaders ignore such names."""


@dataclass(frozen=True, slots=True)
class FolderKind:
    """One kind of folder: skills, or team members."""

    root: Path
    """The directory with the operator's own folders."""
    file: str
    """The file that every such folder must contain."""
    read: Callable[[Path], Folders[Any]]
    """Reads and checks all folders in a directory."""
    again: Callable[[], None]
    """Reloads the operator's own folders after a change."""


class SentFile(Body):
    """One file of a folder that was dropped on the page."""

    path: str = Field(min_length=1, max_length=500)
    data: Base64Bytes = Field(repr=False)


class Upload(Body):
    """A folder to add, as a zip file or as single files. With `replace`, it replaces a folder with the same name."""

    kind: Literal["members", "skills"]
    zip: Base64Bytes = Field(default=b"", repr=False)
    files: tuple[SentFile, ...] = Field(default=(), max_length=4 * MOST_FILES)
    replace: bool = False


class Unwanted(Body):
    """The name of a folder to delete."""

    kind: Literal["members", "skills"]
    name: str = Field(min_length=1, max_length=255)


class ConnectFolders:
    """Handles the requests to add and delete folders."""

    def __init__(self, services: Services, kinds: Mapping[str, FolderKind]) -> None:
        self._services = services
        self._kinds = kinds
        self._lock = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [post("/api/connect/folders", self.bring), post("/api/connect/folders/delete", self.delete)]

    async def bring(self, request: Request) -> Response:
        """Add a folder if it passes the checks. A folder that is refused changes nothing."""
        person = admin_of(request, self._services)
        upload = await body_of(request, Upload, MOST_BODY)
        kind = self._kinds[upload.kind]
        async with self._lock:
            try:
                name = await asyncio.to_thread(_bring, kind, upload)
            except FolderRefused as refused:
                raise RequestRefused(409, said(sentence_of(refused))) from None
            except OSError as error:
                raise RequestRefused(503, say("connect.folder.unwritten", why=error.strerror or "")) from None
        await self._services.store.audit.note(AuditKind.SETTING, person, detail=f"{upload.kind}/{name}: brought in")
        return JSONResponse({"name": name, "text": say(f"connect.brought.{upload.kind}", name=name)})

    async def delete(self, request: Request) -> Response:
        """Delete one of the operator's folders with all its contents."""
        person = admin_of(request, self._services)
        unwanted = await body_of(request, Unwanted)
        kind = self._kinds[unwanted.kind]
        async with self._lock:
            try:
                await asyncio.to_thread(_delete, kind, unwanted.name)
            except OSError as error:
                raise RequestRefused(503, say("connect.folder.unwritten", why=error.strerror or "")) from None
        if unwanted.kind == "skills":
            await self._services.store.skills.removed(unwanted.name)
        await self._services.store.audit.note(
            AuditKind.SETTING, person, detail=f"{unwanted.kind}/{unwanted.name}: deleted"
        )
        return JSONResponse({"text": say("connect.folder.deleted", name=unwanted.name)})


def _bring(kind: FolderKind, upload: Upload) -> str:
    """Unpack the folder next to the others, check it, move it into place, and return its name. Raises RequestRefused,
    FolderRefused and OSError.
    """
    files = _without_wrapping(_unzipped(upload.zip) if upload.zip else _dropped(upload.files), kind.file)
    kind.root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=kind.root) as place:
        staging = Path(place)
        folder = staging / "folder"
        for path, data in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        name = str(read_document(staging, folder, kind.file).head.get("name", ""))
        if len(name) <= MAX_NAME and NAME.fullmatch(name) is not None:
            folder = folder.rename(staging / name)
        read = kind.read(staging)
        if read.refused:
            raise RequestRefused(409, said(read.refused[0].why))
        goal = kind.root / name
        if goal.exists() and not upload.replace:
            raise RequestRefused(412, say("connect.folder.there", name=name))
        if goal.is_symlink():
            raise _refused("link", file=name)
        _move(folder, goal, staging)
    kind.again()
    return name


def _move(folder: Path, goal: Path, staging: Path) -> None:
    """Move a folder into place. The former one goes to `staging`, which will be deleted, only once the new one is in
    place. Raises OSError; the former one is then back in its place, or next to it under a hidden name.
    """
    former = goal.rename(staging.with_suffix(".former")) if goal.exists() else None
    try:
        folder.rename(goal)
    except OSError:
        if former is not None:
            former.rename(goal)
        raise
    if former is not None:
        former.rename(staging / ".former")


def _delete(kind: FolderKind, name: str) -> None:
    """Delete a folder. Raises RequestRefused and OSError."""
    own = {path.name: path for path in kind.root.iterdir()} if kind.root.is_dir() else {}
    folder = own.get(name)
    if folder is None or name.startswith(".") or folder.is_symlink() or not folder.is_dir():
        raise _refused("not_own", name=name)
    shutil.rmtree(folder)
    kind.again()


def _dropped(files: Iterable[SentFile]) -> dict[PurePosixPath, bytes]:
    found = {_inside(file.path): bytes(file.data) for file in files}
    if sum(map(len, found.values())) > MOST_BYTES:
        raise _refused("much", most=MOST_BYTES // 1_000_000)
    return found


def _unzipped(data: bytes) -> dict[PurePosixPath, bytes]:
    """Unpack a zip. The sizes that it declares are not trusted: no more than the limit is unpacked."""
    found: dict[PurePosixPath, bytes] = {}
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > 4 * MOST_FILES:
                raise _refused("many", most=MOST_FILES)
            for entry in entries:
                path = _inside(entry.filename)
                if stat.S_ISLNK(entry.external_attr >> 16):
                    raise _refused("link", file=path.name)
                with archive.open(entry) as packed:
                    found[path] = packed.read(left + 1)
                left -= len(found[path])
                if left < 0:
                    raise _refused("much", most=MOST_BYTES // 1_000_000)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise _refused("no_zip") from error
    return found


def _refused(why: str, **values: object) -> RequestRefused:
    return RequestRefused(409, say(f"connect.folder.{why}", **values))


def _inside(name: str) -> PurePosixPath:
    """Return a path that stays below the folder. Raises RequestRefused."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name or not name.isprintable() or not path.parts:
        raise _refused("link", file=name[:100])
    return path


def _without_wrapping(files: Mapping[PurePosixPath, bytes], file: str) -> dict[PurePosixPath, bytes]:
    """Return the files below the folder that contains `file`, by their path in it and without the hidden ones that some
    systems add. Raises RequestRefused.
    """
    shown = {path: data for path, data in files.items() if not any(part.startswith((".", "__")) for part in path.parts)}
    homes = [path.parent for path in shown if path.name == file]
    if not homes:
        raise _refused("no_file", file=file)
    home = min(homes, key=lambda path: len(path.parts))
    if any(home not in other.parents and other != home for other in homes):
        raise _refused("several", file=file)
    found = {path.relative_to(home): data for path, data in shown.items() if home in path.parents}
    if len(found) > MOST_FILES:
        raise _refused("many", most=MOST_FILES)
    return found
