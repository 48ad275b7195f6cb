"""Colours by name, light and dark. Tones follow Material 3's baseline scheme."""

from __future__ import annotations

LIGHT = {
    "background": "#fdfcff",
    "surface": "#f1f0f7",
    "raised": "#e8e7f0",
    "text": "#1b1b21",
    "muted": "#5b5d69",
    "faint": "#8e909c",
    "line": "#d9d9e3",
    "primary": "#3558c9",
    "on_primary": "#ffffff",
    "container": "#dce1ff",
    "on_container": "#14296e",
    "mine": "#3558c9",
    "error": "#ba1a1a",
    "good": "#2e7d4f",
    "off_track": "#e2e1ea",
    "off_thumb": "#757780",
    "keyboard": "#e6e7ee",
    "key": "#ffffff",
    "key_dark": "#cdd1dd",
}
DARK = {
    "background": "#121318",
    "surface": "#1e2027",
    "raised": "#2a2c35",
    "text": "#e5e4ec",
    "muted": "#b3b5c2",
    "faint": "#80828e",
    "line": "#3a3c46",
    "primary": "#b7c4ff",
    "on_primary": "#0e2678",
    "container": "#2f4190",
    "on_container": "#dce1ff",
    "mine": "#3a4fa8",
    "error": "#ffb4ab",
    "good": "#7fd8a0",
    "off_track": "#33353e",
    "off_thumb": "#8e909c",
    "keyboard": "#1a1c22",
    "key": "#33353e",
    "key_dark": "#464956",
}
# The same in both themes: app icons, and what is written on pictures.
FIXED = {
    "white": "#ffffff",
    "soft_white": "#e4e8f5",
    "black": "#000000",
    "glass": "#3c4a73",
    "blue": "#2f6fed",
    "green": "#1f9d61",
    "orange": "#f08a24",
    "red": "#dc4646",
    "purple": "#7b52c7",
    "teal": "#12899a",
    "grey": "#606775",
    "pink": "#d6457f",
    "yellow": "#e5b02a",
    "emoji": "#e89c0c",
}


def colour(name: str, *, dark: bool) -> str:
    """The colour of a name as #rrggbb. Raises KeyError for an unknown one."""
    return FIXED.get(name) or (DARK if dark else LIGHT)[name]
