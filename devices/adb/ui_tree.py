"""Reads a phone's accessibility tree within a time limit, and parses the XML of `uiautomator dump` into elements."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from xml.parsers import expat

from devices.adb.fastlane.lane import FastLane
from devices.adb.shell import Shell
from devices.errors import PhoneTimeout
from devices.geometry import Bounds, Size
from devices.measuring import measured
from devices.phone import Element, is_slider, is_wheel
from devices.wording import words

logger = logging.getLogger(__name__)


MAX_ELEMENTS = 5000
"""The maximum number of elements, more than anybody reads; it limits hostile pages."""

_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
# Some apps put characters into their texts that XML 1.0 forbids, halves of signs included, and uiautomator writes them
# out, by themselves or as references.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]+)|([0-9]+));")
_EDITABLE = ("EditText", "AutoCompleteTextView", "SearchAutoComplete", "TextInputEditText")


class NoHierarchy(ValueError):
    """The output of `uiautomator dump` is not a complete hierarchy."""


def parse(output: str, size: Size) -> tuple[Element, ...]:
    """Return the visible elements that have words or a use, in tree order, from the output of `uiautomator dump`.

    There may be text before and after the XML (uiautomator prints where it wrote to). Bounds are clipped to the screen
    of `size`; nodes outside it are left out. Raises NoHierarchy. A document type is refused, because it could make the
    parser read files or grow without limit.
    """
    start, end = output.find("<hierarchy"), output.rfind("</hierarchy>")
    if start < 0:
        raise NoHierarchy(output.strip()[:120] or "nothing was printed")
    if end < 0:
        if output.rstrip().endswith("/>") and "<node" not in output:
            return ()
        raise NoHierarchy("the hierarchy is incomplete")
    found: list[Element] = []

    def began(name: str, attributes: dict[str, str]) -> None:
        if name == "node" and len(found) < MAX_ELEMENTS and (element := _element(attributes, size)) is not None:
            found.append(element)

    parser = expat.ParserCreate()
    parser.StartElementHandler = began
    try:
        parser.Parse(_allowed(output[start : end + len("</hierarchy>")]), True)
    except expat.ExpatError as broken:
        raise NoHierarchy(f"the hierarchy is broken: {broken}") from broken
    return tuple(found)


def _allowed(written: str) -> str:
    """Return the XML without forbidden characters and references to them."""

    def kept(reference: re.Match[str]) -> str:
        code = int(reference[1], 16) if reference[1] else int(reference[2])
        return reference[0] if code <= sys.maxunicode and code and not _FORBIDDEN.match(chr(code)) else ""

    return _FORBIDDEN.sub("", _REFERENCE.sub(kept, written))


def _element(attributes: dict[str, str], size: Size) -> Element | None:
    numbers = _BOUNDS.fullmatch(attributes.get("bounds", ""))
    if numbers is None or attributes.get("visible-to-user") == "false":
        return None
    left, top, right, bottom = map(int, numbers.groups())
    bounds = Bounds(left, top, right, bottom).clipped(size)
    if not bounds.area:
        return None

    def yes(name: str) -> bool:
        return attributes.get(name) == "true"

    class_name = attributes.get("class", "")
    element = Element(
        bounds=bounds,
        text=attributes.get("text", ""),
        description=attributes.get("content-desc", ""),
        hint=attributes.get("hint", ""),
        resource_id=attributes.get("resource-id", ""),
        class_name=class_name,
        package=attributes.get("package", ""),
        clickable=yes("clickable"),
        long_clickable=yes("long-clickable"),
        checkable=yes("checkable"),
        checked=yes("checked"),
        editable=class_name.endswith(_EDITABLE) or yes("editable"),
        password=yes("password"),
        focused=yes("focused"),
        scrollable=yes("scrollable"),
        enabled=attributes.get("enabled", "true") == "true",
        selected=yes("selected"),
    )
    useful = element.label or element.clickable or element.long_clickable or element.checkable
    holds_value = is_slider(element) or is_wheel(element)
    return element if useful or element.editable or element.scrollable or holds_value else None


FIRST_LIMIT = 4.0
"""Seconds for a phone's first tree, which shows its speed. Starting a VM and waiting for a screen without events
(uiautomator waits for one second of that) takes one to three.
"""
LEAST_LIMIT = 1.5
MOST_LIMIT = 4.0
_HEADROOM = 1.5
SLOW = 0.8
"""Seconds from which a tree counts as slow. `uiautomator dump` waits for a second without events (AOSP DumpCommand), so
it is always slow; the fast lane never is.
"""
_MISSES = 3
_SKIPPED = 4
"""After three misses in a row (a video, a game), only every fifth observation asks again."""

_TO_TERMINAL = "uiautomator dump --compressed /dev/tty"
_FILE = "/data/local/tmp/opengui-tree.xml"
_TO_FILE = f"uiautomator dump --compressed {_FILE} >/dev/null && cat {_FILE}; rm -f {_FILE}"


class Trees:
    """Reads the accessibility trees of one phone, one at a time, because a second uiautomator kills the first.

    While the fast lane (the server on the phone) is open, it reads them; plain adb then cannot, because UiAutomation
    has one user.
    """

    def __init__(self, shell: Shell, lane: FastLane, *, first_limit: float = FIRST_LIMIT) -> None:
        """Create the reader. `first_limit` is the time limit in seconds of the first tree through plain adb."""
        self._shell = shell
        self._lane = lane
        self._limit = first_limit
        self._took = 0.0
        """Seconds that the last tree took without the fast lane."""
        self._misses = 0
        self._skip = 0
        self._by_file = False
        self._last: tuple[str, Size, tuple[Element, ...]] | None = None
        """The last tree as it was written, and its elements."""

    @property
    def late(self) -> bool:
        """Whether the next tree must wait until the fast lane (the server on the phone) is open, which takes a second
        or more.
        """
        return self._lane.opening

    @property
    def slow(self) -> bool:
        """Whether the next tree will take a second or more, so that only code that needs it should wait."""
        return not self._lane.open and self._took >= SLOW

    @measured("tree")
    async def read(self, size: Size, *, insist: bool = False) -> tuple[Element, ...] | None:
        """Return the elements on a screen of this size; None if they did not arrive in time or completely, or if the
        phone was not asked because it failed to tell them several times in a row.

        `insist` asks even then, and may wait longer. Raises PhoneGone and PhoneUnavailable.
        """
        if self._skip and not insist and not self._lane.open:
            self._skip -= 1
            return None
        async with self._lane.automation():
            written = await self._lane.tree()
            if written is not None:
                return await self._fast(written, size)
            return await self._read(size, MOST_LIMIT if insist else self._limit)

    async def quick(self, size: Size) -> tuple[Element, ...] | None:
        """Return the elements if the fast lane (the server on the phone) is open and can read them at once; otherwise
        None.
        """
        if not self._lane.open:
            return None
        async with self._lane.automation():
            written = await self._lane.tree()
        return None if written is None else await self._fast(written, size)

    async def _read(self, size: Size, limit: float) -> tuple[Element, ...] | None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            output = await self._shell.raw(
                _TO_FILE if self._by_file else _TO_TERMINAL, timeout=limit, doing=words("phone.doing.elements")
            )
            elements = await self._parsed(output.decode(errors="replace"), size)
        except PhoneTimeout:
            self._missed(f"nothing within {limit:.1f} s")
            return None
        except NoHierarchy as none:
            if "/dev/tty" in str(none) or "ENXIO" in str(none):
                self._by_file = True
            self._missed(str(none))
            return None
        self._misses = 0
        self._took = loop.time() - began
        self._limit = min(MOST_LIMIT, max(LEAST_LIMIT, self._took * _HEADROOM))
        return elements

    async def _fast(self, written: str, size: Size) -> tuple[Element, ...] | None:
        try:
            return await self._parsed(written, size)
        except NoHierarchy as none:
            self._missed(str(none))
            return None

    async def _parsed(self, written: str, size: Size) -> tuple[Element, ...]:
        """Parse a tree, reusing the last result if it is equal: a still screen is read twice per step."""
        if self._last is not None and self._last[:2] == (written, size):
            return self._last[2]
        elements = await asyncio.to_thread(parse, written, size)
        self._last = (written, size, elements)
        return elements

    def _missed(self, why: str) -> None:
        self._misses += 1
        logger.info("no elements from %s: %s", self._shell.connection.serial, why)
        if self._misses >= _MISSES:
            self._skip = _SKIPPED


def focused_text(elements: tuple[Element, ...] | None) -> str | None:
    """Return the content of the focused field, as bullets for a password; None if no field has the focus."""
    field = next((each for each in elements or () if each.focused and each.editable), None)
    return None if field is None else field_text(field)


def field_text(field: Element) -> str:
    """Return the text of a field: bullets of equal length for a password, "" if it shows only its hint."""
    text = "" if field.text == field.hint else field.text
    return "•" * len(text) if field.password else text
