"""What a shell line is made of, after parsing and before anything is expanded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Literal:
    """Text to be taken as it is. Unquoted text may be part of an operator or an assignment, quoted never."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """`$NAME`, `${NAME}` or `$?`."""

    name: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)` or backticks: the output of another line."""

    line: str
    quoted: bool = False


Part = Literal | Variable | Substitution
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    """`2>&1`, `>file`, `2>/dev/null`, `<file`. `descriptor` is the number in front, or the usual one."""

    descriptor: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """`A=1 command word … redirects`."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A pipeline and what stands in front of it: `;`, `&&` or `||`."""

    connector: str
    pipeline: tuple[Simple, ...]


class SyntaxFault(Exception):
    """The line is no shell line; the message is what mksh says after its name."""
