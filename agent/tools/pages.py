"""Reading a page: what it says as Markdown, without menus, adverts and scripts."""

from __future__ import annotations

import asyncio
import codecs
import re
from dataclasses import dataclass
from typing import Final

from agent.tools.egress import Egress, Fetched, FetchFailed
from agent.tools.pdf import PdfUnread, pdf_text

MAX_HTML: Final = 300_000
"""Characters of a page without its scripts that are looked through: of a page made to take long, more take seconds."""
LEAST: Final = 200
"""A page with scripts and less text than this is made by its scripts."""
READING_S: Final = 20.0
_TEXTS: Final = frozenset({"application/json", "application/xml", "application/rss+xml", "application/atom+xml"})
_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_NO_CHARSETS: Final = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
"""Codecs of Python's own, which no page is written in; some take the square of the length."""
_SCRIPT: Final = re.compile(r"<script\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]{0,200}>([^<]{0,400})", re.IGNORECASE)
ON_THE_PHONE: Final = "Open it on the phone instead."


@dataclass(frozen=True, slots=True)
class Page:
    """What a page says, and where it was found in the end."""

    url: str
    title: str
    text: str


async def read_page(url: str, egress: Egress) -> Page:
    """The words of a page. Raises FetchFailed, with what to do instead where there is something."""
    got = await egress.fetch(url)
    if got.status >= 400:
        raise FetchFailed(f"The site answered with error {got.status}. {ON_THE_PHONE}")
    if got.media == "application/pdf" or got.body[:1024].lstrip().startswith(b"%PDF-"):
        try:
            return Page(got.url, "", await pdf_text(got.body))
        except PdfUnread as error:
            raise FetchFailed(f"{error} {ON_THE_PHONE}") from error
    if got.media in _PAGES:
        try:
            async with asyncio.timeout(READING_S):
                return await asyncio.to_thread(_words_of_html, got)
        except TimeoutError as error:
            raise FetchFailed(f"It takes too long to read. {ON_THE_PHONE}") from error
    if got.media.startswith("text/") or got.media in _TEXTS:
        return Page(got.url, "", decoded(got).strip())
    raise FetchFailed("It is no page with text.")


def decoded(got: Fetched) -> str:
    """The body as text: what is UTF-8 is, else as the site or the page says, and nothing fails for a wrong sign."""
    body = got.body
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    meta = _META.search(body[:4096])
    named = [got.charset, meta[1].decode("ascii", "replace") if meta else ""]
    for name in (*([] if body.isascii() else ["utf-8"]), *named, "utf-8"):
        try:
            if name and codecs.lookup(name).name not in _NO_CHARSETS:
                return body.decode(name)
        except (LookupError, ValueError):  # no such charset, or not in it
            continue
    return body.decode("utf-8", "replace")


def _without_scripts(html: str) -> str:
    """The page without its scripts and styles, which are most of some pages."""
    for tag in ("script", "style", "svg"):
        parts, at = [], 0
        opening, closing = re.compile(rf"<{tag}\b", re.IGNORECASE), re.compile(rf"</{tag}\s*>", re.IGNORECASE)
        while (begin := opening.search(html, at)) is not None:
            parts.append(html[at : begin.start()])
            end = closing.search(html, begin.end())
            at = len(html) if end is None else end.end()
        html = "".join((*parts, html[at:]))
    return html


def _words_of_html(got: Fetched) -> Page:
    import trafilatura  # noqa: PLC0415 - takes a quarter of a second and 28 MB, only where a page is read

    whole = decoded(got)
    html = _without_scripts(whole)[:MAX_HTML]
    found = _TITLE.search(html)
    title = " ".join(found[1].split()) if found else ""
    text = trafilatura.extract(html, output_format="markdown", include_tables=True, include_comments=False) or ""
    if len(text) < LEAST:
        all_text = trafilatura.html2txt(html, clean=True) if html else ""
        text = all_text if len(all_text) > len(text) else text
    if len(text) < LEAST and _SCRIPT.search(whole):
        raise FetchFailed(f"The page is made by its scripts, and has no text without a browser. {ON_THE_PHONE}")
    if not text.strip():
        raise FetchFailed(f"There is no text on the page. {ON_THE_PHONE}")
    return Page(got.url, title, text.strip())
