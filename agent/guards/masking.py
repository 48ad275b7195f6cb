"""Secrets that were typed must not be seen again: not in pictures, lists, read-backs or effects."""

from __future__ import annotations

from dataclasses import replace

from PIL import ImageDraw

from devices.phone import Element, Observation

BULLET = "•"
COVER = (120, 120, 120)


class Mask:
    """Knows the secrets typed in a run, in memory only, and covers them wherever they would show."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def add(self, value: str) -> None:
        """From now on this value is covered."""
        if value:
            self._values.add(value)

    def text(self, text: str) -> str:
        """The text with every secret in it replaced by bullets."""
        for value in self._values:
            text = text.replace(value, BULLET * 6)
        return text

    def observation(self, seen: Observation) -> Observation:
        """The observation with secrets gone from the elements, and their places painted over in the picture."""
        if not self._values:
            return seen
        hidden = [e for e in seen.elements or () if self._shows(e)]
        image = seen.image
        if image is not None and (hidden or seen.elements is None):
            image = image.copy()
            draw = ImageDraw.Draw(image)
            for element in hidden:
                area = element.bounds.clipped(seen.size)
                draw.rectangle((area.left, area.top, area.right, area.bottom), fill=COVER)
            if seen.elements is None:
                # Nobody can tell where the secret stands: better no picture than a secret in it.
                image = None
        elements = None if seen.elements is None else tuple(self._covered(e) for e in seen.elements)
        focused = None if seen.focused_text is None else self.text(seen.focused_text)
        return replace(seen, image=image, elements=elements, focused_text=focused)

    def _shows(self, element: Element) -> bool:
        return any(
            value in words for value in self._values for words in (element.text, element.description, element.hint)
        )

    def _covered(self, element: Element) -> Element:
        if not self._shows(element):
            return element
        return replace(
            element,
            text=self.text(element.text),
            description=self.text(element.description),
            hint=self.text(element.hint),
        )
