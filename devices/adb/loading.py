"""Whether a screen only says that the real one is on its way."""

from __future__ import annotations

from devices.phone import Element

WORDS = frozenset(
    {"loading", "please wait", "just a moment", "one moment", "wait a moment"}
    | {"加载中", "正在加载", "请稍候", "请稍等", "载入中"}
)
BAR = "android.widget.ProgressBar"
"""A circle that turns, or a bar without a number; one that moves is seen by itself."""
MOST_LABELS = 6
"""What else such a screen has: a title, a way back, an address. A player or a list with a bar in it has more."""


def loads(elements: tuple[Element, ...] | None) -> bool:
    """Whether there is a sign of loading and little beside it."""
    if not elements:
        return False
    signs = [e for e in elements if e.class_name == BAR or e.label.strip(" .…").casefold() in WORDS]
    labels = {e.label for e in elements if e.label}
    return bool(signs) and len(labels) <= MOST_LABELS
