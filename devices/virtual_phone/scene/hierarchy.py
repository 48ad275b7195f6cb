"""The screen as `uiautomator dump` writes it.

Form and attribute order: AOSP frameworks/base/cmds/uiautomator, AccessibilityNodeInfoDumper.java. With
--compressed, nodes without meaning are left out, as Android does for views not important for accessibility.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.sax.saxutils import quoteattr

from devices.virtual_phone.scene.compose import Scene
from devices.virtual_phone.screen.nodes import Node

# What stripInvalidXMLChars replaces by a dot.
INVALID = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufddf\ufffe\uffff]")


def dump(
    scene: Scene, *, rotation: int, compressed: bool, hints: bool = False, told_id: Callable[[str], str] = str
) -> str:
    """The whole document, on one line; `hints` are told by uiautomator2 alone, `told_id` is what is told as an id."""
    nodes = "".join(
        _node(node, index, scene.package, hints, told_id) for index, node in enumerate(_kept(scene.root, compressed))
    )
    declaration = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{declaration}<hierarchy rotation="{rotation}">{nodes}</hierarchy>'


def _kept(node: Node, compressed: bool) -> list[Node]:  # passed on in the recursion
    """The node with its kept children, or only those when the node itself is left out."""
    children = [kept for child in node.children for kept in _kept(child, compressed)]
    meant = node.clickable or node.checkable or node.text or node.description or node.scroll or node.long_clickable
    if not node.told or (compressed and not meant):
        return children
    if node.bounds.right <= node.bounds.left or node.bounds.bottom <= node.bounds.top:
        return []
    copy = Node(**{name: getattr(node, name) for name in NODE_FIELDS})
    copy.children = children
    return [copy]


NODE_FIELDS = tuple(name for name in Node.__slots__ if name not in {"children", "paint"})


def _node(node: Node, index: int, package: str, hints: bool, told_id: Callable[[str], str]) -> str:
    box = node.bounds
    identifier = f"{package}:id/{told}" if (told := told_id(node.identifier)) else ""
    values: tuple[tuple[str, str | int | bool], ...] = (
        ("index", index),
        ("text", node.text),
        ("resource-id", identifier),
        ("class", node.role),
        ("package", package),
        ("content-desc", node.description),
        ("checkable", node.checkable),
        ("checked", node.checked),
        ("clickable", node.clickable),
        ("enabled", node.enabled),
        ("focusable", node.focusable),
        ("focused", node.focused),
        ("scrollable", bool(node.scroll)),
        ("long-clickable", node.long_clickable),
        ("password", node.password),
        ("selected", node.selected),
        *((("hint", node.hint),) if hints else ()),
        ("bounds", f"[{box.left},{box.top}][{box.right},{box.bottom}]"),
    )
    written = " ".join(f"{name}={_attribute(value)}" for name, value in values)
    inside = "".join(_node(child, position, package, hints, told_id) for position, child in enumerate(node.children))
    return f"<node {written}>{inside}</node>" if inside else f"<node {written} />"


def _attribute(value: str | int | bool) -> str:  # the values of XML attributes
    if isinstance(value, bool):
        return '"true"' if value else '"false"'
    text = INVALID.sub(".", str(value)).replace("\n", "&#10;")
    quoted = quoteattr(text, {'"': "&quot;"}).replace("&amp;#10;", "&#10;")
    return quoted if quoted.startswith('"') else f'"{quoted[1:-1]}"'
