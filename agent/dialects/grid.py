"""Converts the coordinates that a model writes to pixels of the sent image.

Fractions of the screen such as (0.5, 0.42) are refused: no dialect asks for them, and (0, 1) or (1, 1) would be
ambiguous. Other decimals are accepted and rounded down.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent.actions import PointTarget
from agent.dialects.base import BadReply
from devices.geometry import Point, Size

PER_MILLE = 1000

_MARKS = re.compile(r"<\|[a-z_]+\|>|</?(?:point|bbox|box)(?:_2d)?>")
_BY_NAME = re.compile(r"\{?\s*+['\"]?x['\"]?\s*+[:=]([^:=]*?)[\s,]['\"]?y['\"]?\s*+[:=]([^:=}]*+)\}?", re.IGNORECASE)
_NUMBERS = re.compile(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?(?:[\s,]+[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?)*")
_POINT, _BOX = 2, 4
_ENDLESS = 1e9
"""Numbers this large are never meant, and arithmetic with them could overflow."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A coordinate system: pixels of `space`, or thousandths of its width and height.

    `last` is the highest thousandth that the model was told; 1000 is always accepted, because these models write it for
    the far edge. `whole` is the number that the model's makers divide by: value v on a side of n pixels is pixel min(n
    - 1, floor(v * n / whole)).
    """

    space: Size
    thousandths: bool
    last: int = PER_MILLE
    whole: int = PER_MILLE

    def target(self, value: object, what: str) -> PointTarget:
        """Parse a point from a text, a list, a list of lists or an object with x and y: two numbers, or four for a box,
        whose centre is used.

        `what` names the action in errors. Raises BadReply if it is not a point or lies outside the picture.
        """
        numbers = tuple(_numbers(value))
        if len(numbers) not in {_POINT, _BOX}:
            raise BadReply(f"{what} needs a point: two numbers, x and y.")
        if all(0 <= number <= 1 for number in numbers) and any(isinstance(number, float) for number in numbers):
            raise BadReply(f"The point of {what} looks like fractions of the screen. {self._range}")
        columns, rows = numbers[0::2], numbers[1::2]
        x, y = sum(columns) / len(columns), sum(rows) / len(rows)
        across, down = self._limits
        inside = all(0 <= column <= across for column in columns) and all(0 <= row <= down for row in rows)
        target = (
            PointTarget(x=self._pixel(x, self.space.width), y=self._pixel(y, self.space.height)) if inside else None
        )
        if target is None or not self.space.holds(Point(target.x, target.y)):
            raise BadReply(f"The point ({x:g}, {y:g}) of {what} is outside the screenshot. {self._range}")
        return target

    def place(self, value: object, what: str) -> PointTarget | None:
        """Parse a point that may be missing, as `target` does; None if it is."""
        return None if value is None or value == "" else self.target(value, what)

    def written(self, point: Point) -> str:
        """Return a position in pixels in the form in which the model would write it."""
        if not self.thousandths:
            return f"({point.x},{point.y})"
        x = (2 * point.x + 1) * self.whole // (2 * self.space.width)
        y = (2 * point.y + 1) * self.whole // (2 * self.space.height)
        return f"({x},{y})"

    @property
    def _limits(self) -> tuple[int, int]:
        """The highest numbers of a box; its far edge may be just outside."""
        return (PER_MILLE, PER_MILLE) if self.thousandths else (self.space.width, self.space.height)

    @property
    def _range(self) -> str:
        across, down = (self.last, self.last) if self.thousandths else (self.space.width - 1, self.space.height - 1)
        return f"x must be from 0 to {across} and y from 0 to {down}."

    def _pixel(self, value: float, size: int) -> int:
        if not self.thousandths:
            return math.floor(value)
        return min(size - 1, math.floor(value * size / self.whole))


def number(value: object) -> int | float | None:
    """Return a number that is given as a number or as text; None for anything else, including True, False and numbers
    of a thousand million or more.
    """
    if isinstance(value, str):
        found = _NUMBERS.fullmatch(value.strip())
        read = tuple(_numbers(value)) if found else ()
        return read[0] if len(read) == 1 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) < _ENDLESS else None


def _numbers(value: object, depth: int = 0) -> Iterator[int | float]:
    """Yield all numbers of a place; none, or too many, if it contains anything else."""
    if isinstance(value, Mapping):
        value = (value["x"], value["y"]) if value.keys() == {"x", "y"} else ()
    if isinstance(value, str):
        bare = _MARKS.sub(" ", unicodedata.normalize("NFKC", value))
        if by_name := _BY_NAME.fullmatch(bare.strip()):
            bare = f"{by_name[1]} {by_name[2]}"
        bare = re.sub(r"[()\[\]]", " ", bare).strip(" \t\r\n,")
        if _NUMBERS.fullmatch(bare):
            for digits in re.split(r"[\s,]+", bare):
                yield float(digits) if "." in digits else int(digits)
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, (list, tuple)) and not depth:
                yield from _numbers(item, depth + 1)
            elif (read := number(item)) is not None:
                yield read
            elif isinstance(item, str) and (place := tuple(_numbers(item))):
                yield from place
            else:
                yield from (0,) * (_BOX + 1)
