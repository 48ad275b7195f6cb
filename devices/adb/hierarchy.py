"""The XML that `uiautomator dump` prints, turned into elements."""

from __future__ import annotations

import re
from xml.parsers import expat

from devices.geometry import Bounds, Size
from devices.phone import Element

MAX_ELEMENTS = 5000
"""A screen with more nodes is not one that anybody reads; a bound for hostile pages."""

_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
# Characters that XML 1.0 forbids, halves of signs included; some apps put them into their texts and uiautomator
# writes them out.
_FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|&#(?:x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F])|0*(?:[0-8]|1[124-9]|2\d|3[01]));"
)
_EDITABLE = ("EditText", "AutoCompleteTextView", "SearchAutoComplete", "TextInputEditText")


class NoHierarchy(ValueError):
    """What was printed is no hierarchy, or not all of one."""


def parse(output: str, size: Size) -> tuple[Element, ...]:
    """The visible elements that say or do something, in the order of the tree.

    `output` may have words before and after the XML (uiautomator says where it wrote to). Bounds are clipped to the
    screen of `size`; what lies outside is left out, and so are nodes without a word and without a use.
    Raises NoHierarchy. A document type is refused: it could make the parser read files or grow without end.
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
        if name == "node" and len(found) < MAX_ELEMENTS:
            element = _element(attributes, size)
            if element is not None:
                found.append(element)

    parser = expat.ParserCreate()
    parser.StartElementHandler = began
    try:
        parser.Parse(_FORBIDDEN.sub("", output[start : end + len("</hierarchy>")]), True)
    except expat.ExpatError as broken:
        raise NoHierarchy(f"the hierarchy is broken: {broken}") from broken
    return tuple(found)


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
    return element if useful or element.editable or element.scrollable else None
