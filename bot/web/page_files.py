"""Serves the files of the console's page, which are in the package, and its texts in the visitor's language."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.texts import catalogue, language_of
from bot.web.http import get

INDEX = "index.html"
MARK_LENGTH = 32
"""Hexadecimal digits of a mark."""
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class File:
    """A file of the page. `mark` is a digest of its content, so that browsers download it again only when it has
    changed.
    """

    data: bytes
    media: str
    mark: str


@cache
def page_files() -> dict[str, File]:
    """Read the page's files and return them by name. Blocks on the disk the first time; the result is cached. The mark
    of index.html depends on all files.
    """
    folder = resources.files("bot.web") / "page"
    names = sorted(file.name for file in folder.iterdir() if Path(file.name).suffix in TYPES)
    read = {name: (folder / name).read_bytes() for name in names}
    read = _gathered(read)
    whole = hashlib.sha256()
    files = {}
    for name, data in read.items():
        whole.update(data)
        files[name] = File(data, TYPES[Path(name).suffix], hashlib.sha256(data).hexdigest()[:MARK_LENGTH])
    return files | {INDEX: replace(files[INDEX], mark=whole.hexdigest()[:MARK_LENGTH])}


_STYLES = re.compile(rb'(?: *<link rel="stylesheet" href="/page/([\w.]+)">\n)')
_IMPORT = re.compile(rb'^import \{ (.+) \} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(rb"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_STATE = b'  <link rel="preload" href="/api/state" as="fetch" crossorigin>\n'


def _gathered(read: dict[str, bytes]) -> dict[str, bytes]:
    """Combine files so that a browser gets the page soonest: all styles in one, all modules in one, and the state
    preloaded. Fifty modules would be fifty requests, six at a time.
    """
    index = read[INDEX]
    styles = [found[1].decode() for found in _STYLES.finditer(index)]
    read["page.css"] = b"".join(read[name] for name in styles)
    links = _STATE + b'  <link rel="stylesheet" href="/page/page.css">\n'
    first = index.index(b'  <link rel="stylesheet"')
    index = index[:first] + links + _STYLES.sub(b"", index[first:])
    modules = _modules(read, "app.js", {})
    return {name: data for name, data in read.items() if name not in modules} | {
        INDEX: index,
        "app.js": b"\n".join(modules.values()),
    }


def _modules(read: Mapping[str, bytes], name: str, before: dict[str, bytes]) -> dict[str, bytes]:
    """Return the module and its imports in order, each as a function that returns its exports. Circular imports raise
    ValueError, because neither module could be first.
    """
    if before.get(name) == b"":
        raise ValueError(f"{name} is imported by what it imports itself.")
    if name in before:
        return before
    before[name] = b""
    text, needs = read[name], b""
    for names, other in _IMPORT.findall(text):
        before = _modules(read, other.decode(), before)
        needs += b"const { %b } = $%b;\n" % (names, other.partition(b".")[0])
    exports = b", ".join(_EXPORT.findall(text))
    body = needs + _EXPORT.sub(b"", _IMPORT.sub(b"", text))
    if left := re.search(rb"^(?:import|export)\b.*", body, re.MULTILINE):
        raise ValueError(f"{name} imports or exports in a form that is not known here: {left[0].decode()}")
    del before[name]  # it comes after what it needs
    before[name] = b"const $%b = await (async () => {\n%breturn { %b };\n})();" % (
        name.partition(".")[0].encode(),
        body,
        exports,
    )
    return before


async def answer(request: Request, file: File) -> Response:
    """Return the file as a response, or 304 if the browser already has this version."""
    headers = {"Cache-Control": "no-cache", "ETag": f'"{file.mark}"'}
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")}
    if headers["ETag"] in known:
        return Response(status_code=304, headers=headers)
    return Response(file.data, headers=headers | {"Content-Type": file.media})


AREAS = ("page.", "count.", "outcome.")
"""Texts that the page itself may use; all others come from the service as finished sentences."""


class PageTexts:
    """Handles requests for the page's texts. `setting` is a language of the text catalogue, or "auto" for the browser's
    language.
    """

    def __init__(self, setting: str) -> None:
        self._setting = setting

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles. They need no token, because the page must be able to say that
        one is missing.
        """
        return [get("/page/words.json", self.words, None)]

    async def words(self, request: Request) -> Response:
        """Return the language, and the texts in it that the page needs, by key, with their placeholders."""
        language = self.language(request)
        words = {**catalogue(), **catalogue(language)}
        words = {key: text for key, text in words.items() if key.startswith(AREAS)}
        headers = {"Cache-Control": "no-cache", "Vary": "Accept-Language"}
        return JSONResponse({"language": language, "words": words}, headers=headers)

    def language(self, request: Request) -> str:
        """Return the language for the browser that sent this request."""
        return language_of(self._setting, locale_of(request))


def locale_of(request: Request) -> str:
    """Return the browser's preferred locale, such as "zh-CN"; "" if it names none."""
    return request.headers.get("Accept-Language", "").split(",")[0].split(";")[0].strip()
