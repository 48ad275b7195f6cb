"""The files of the page, as they lie in the package."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from aiohttp import web

INDEX = "index.html"
MARK_LENGTH = 32
"""Hexadecimal digits."""
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class File:
    """A file of the page. `mark` is another one when its content is: browsers ask with it, and load nothing twice."""

    data: bytes
    media: str
    mark: str


def page_files() -> dict[str, File]:
    """The page's files by name, from the package; blocks on the disk. The mark of index.html is that of all of them."""
    folder = resources.files("bot.chats.web") / "page"
    names = sorted(file.name for file in folder.iterdir() if Path(file.name).suffix in TYPES)
    files = {}
    whole = hashlib.sha256()
    for name in names:
        data = (folder / name).read_bytes()
        whole.update(data)
        files[name] = File(data, TYPES[Path(name).suffix], hashlib.sha256(data).hexdigest()[:MARK_LENGTH])
    return files | {INDEX: replace(files[INDEX], mark=whole.hexdigest()[:MARK_LENGTH])}


def serve(file: File) -> Callable[[web.Request], Awaitable[web.Response]]:
    """What answers with the file."""

    async def served(request: web.Request) -> web.Response:
        return answer(request, file)

    return served


def answer(request: web.Request, file: File) -> web.Response:
    """The file, or that the browser has it already."""
    known = any(tag.value == file.mark for tag in request.if_none_match or ())
    response = web.Response(status=304) if known else web.Response(body=file.data, content_type=file.media)
    if not known:
        response.charset = "utf-8"
    response.headers["Cache-Control"] = "no-cache"
    response.etag = file.mark
    return response
