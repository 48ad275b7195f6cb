"""Sizes, points and rectangles in pixels. The origin is the top left corner of their picture."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height of a picture, in pixels."""

    width: int
    height: int

    def holds(self, point: Point) -> bool:
        """Return whether the point lies inside a picture of this size."""
        return 0 <= point.x < self.width and 0 <= point.y < self.height


@dataclass(frozen=True, slots=True)
class Point:
    """A pixel position in a picture, from the top left corner. Which picture depends on the code that uses it."""

    x: int
    y: int

    def mapped(self, source: Size, target: Size) -> Point:
        """Return the same position in a picture of the size `target` instead of `source`, never beyond its right or
        bottom edge.
        """
        return Point(
            min(target.width - 1, self.x * target.width // source.width),
            min(target.height - 1, self.y * target.height // source.height),
        )


@dataclass(frozen=True, slots=True)
class Bounds:
    """A rectangle. `right` and `bottom` are exclusive, as in Android."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def centre(self) -> Point:
        """The pixel in the middle of the rectangle."""
        return Point((self.left + self.right) // 2, (self.top + self.bottom) // 2)

    @property
    def width(self) -> int:
        """The width in pixels; negative if right and left are swapped."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """The height in pixels; negative if bottom and top are swapped."""
        return self.bottom - self.top

    @property
    def area(self) -> int:
        """The area in square pixels; 0 if the rectangle is empty."""
        return max(0, self.width) * max(0, self.height)

    def holds(self, point: Point) -> bool:
        """Return whether the point lies inside the rectangle."""
        return self.left <= point.x < self.right and self.top <= point.y < self.bottom

    def surrounds(self, other: Bounds) -> bool:
        """Return whether the other rectangle is not larger and has its centre inside this one."""
        return self.holds(other.centre) and other.area <= self.area

    def wider(self, by: int) -> Bounds:
        """Return the rectangle with each edge moved outwards by this many pixels."""
        return Bounds(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def clipped(self, size: Size) -> Bounds:
        """Return the part of the rectangle that lies on a picture of this size, which may be empty."""
        return Bounds(
            max(0, min(self.left, size.width)),
            max(0, min(self.top, size.height)),
            max(0, min(self.right, size.width)),
            max(0, min(self.bottom, size.height)),
        )

    def mapped(self, source: Size, target: Size) -> Bounds:
        """Return the same rectangle in a picture of the size `target` instead of `source`, rounded outwards."""
        return Bounds(
            self.left * target.width // source.width,
            self.top * target.height // source.height,
            -(-self.right * target.width // source.width),
            -(-self.bottom * target.height // source.height),
        )
