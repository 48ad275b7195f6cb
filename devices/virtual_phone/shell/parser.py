"""Parses shell lines as POSIX describes them (IEEE 1003.1, Shell Command Language, 2.2 Quoting and 2.3 Tokens).

Compound commands, here-documents, arithmetic and globs are left out, as nothing needs them. Error texts are those of
mksh (external/mksh/src/lex.c and syn.c).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

BLANKS = " \t"
OPERATORS = ("&&", "||", ";", "\n", "|", "&")
REDIRECTS = (">>", ">&", "<&", ">", "<")
# Characters that a backslash escapes inside double quotes (POSIX 2.2.3).
ESCAPED_IN_DOUBLE = '$`"\\\n'
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Literal:
    """Literal text. Unquoted text may be part of an operator or an assignment, quoted text never."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in a word: `$NAME`, `${NAME}` or `$?`."""

    name: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """A command substitution in a word (`$(…)` or backticks): the output of another line."""

    line: str
    quoted: bool = False


Part = Literal | Variable | Substitution
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection: `2>&1`, `>file`, `2>/dev/null`, `<file`. `descriptor` is the number in front of it, or the
    default one.
    """

    descriptor: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command: assignments, words and redirections, as in `A=1 command word >file`."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A pipeline of commands, and the connector in front of it: `;`, `&&` or `||`."""

    connector: str
    pipeline: tuple[Simple, ...]


class SyntaxFault(Exception):
    """The line is not a valid shell line; the message is what mksh prints after its name."""


@lru_cache(maxsize=512)
def parse(line: str) -> tuple[Step, ...]:
    """Parse a line into its steps. Raises SyntaxFault."""
    return _Parser(line).steps()


class _Parser:
    def __init__(self, line: str) -> None:
        self._text = line
        self._at = 0

    def steps(self) -> tuple[Step, ...]:
        found: list[Step] = []
        connector = ";"
        while True:
            self._skip_blanks()
            while connector == ";" and self._peek() == "\n":
                self._at += 1
                self._skip_blanks()
            if self._at >= len(self._text):
                if connector != ";":
                    raise self._unexpected()
                return tuple(found)
            found.append(Step(connector, self._pipeline()))
            operator = self._operator()
            connector = operator if operator in {"&&", "||"} else ";"

    def _pipeline(self) -> tuple[Simple, ...]:
        commands = [self._simple()]
        while self._text.startswith("|", self._at) and not self._text.startswith("||", self._at):
            self._at += 1
            commands.append(self._simple())
        return tuple(commands)

    def _simple(self) -> Simple:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self._skip_blanks()
            if self._at >= len(self._text) or self._operator_here():
                break
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            word = self._word()
            assignment = None if words else _as_assignment(word)
            if assignment is not None:
                assignments.append(assignment)
            else:
                words.append(word)
        if not (assignments or words or redirects):
            raise self._unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _redirect(self) -> Redirect | None:
        start = self._at
        while self._peek() in DIGITS:
            self._at += 1
        operator = next((each for each in REDIRECTS if self._text.startswith(each, self._at)), None)
        if operator is None:
            self._at = start
            return None
        number = self._text[start : self._at]
        self._at += len(operator)
        self._skip_blanks()
        descriptor = int(number) if number else int(operator[0] == ">")
        return Redirect(descriptor, operator, self._word())

    def _word(self) -> Word:
        parts: list[Part] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in BLANKS or character in "<>" or self._operator_here():
                break
            if character in "()":
                raise SyntaxFault(f"syntax error: unexpected '{character}'")
            if character == "'":
                parts.append(Literal(self._until_quote(), quoted=True))
            elif character == '"':
                self._at += 1
                parts.extend(self._double_quoted())
            elif character == "\\":
                parts.extend(self._escaped())
            elif character in "$`":
                parts.append(self._expansion(quoted=False))
            else:
                self._at += 1
                parts.append(Literal(character))
        if not parts:
            raise self._unexpected()
        return tuple(parts)

    def _until_quote(self) -> str:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise SyntaxFault("no closing quote")
        quoted = self._text[self._at + 1 : end]
        self._at = end + 1
        return quoted

    def _escaped(self) -> list[Part]:
        """Parse a backslash outside quotes; in front of a newline both are dropped."""
        following = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if following == "\n":
            return []
        return [Literal(following or "\\", quoted=True)]

    def _double_quoted(self) -> list[Part]:
        parts: list[Part] = [Literal("", quoted=True)]
        while True:
            character = self._peek()
            if not character:
                raise SyntaxFault("no closing quote")
            if character == '"':
                self._at += 1
                return parts
            following = self._text[self._at + 1 : self._at + 2]
            if character == "\\" and following and following in ESCAPED_IN_DOUBLE:
                self._at += 2
                parts.append(Literal("" if following == "\n" else following, quoted=True))
            elif character in "$`":
                parts.append(self._expansion(quoted=True))
            else:
                self._at += 1
                parts.append(Literal(character, quoted=True))

    def _expansion(self, *, quoted: bool) -> Part:
        if self._peek() == "`":
            end = self._text.find("`", self._at + 1)
            if end < 0:
                raise SyntaxFault("no closing quote")
            line = self._text[self._at + 1 : end]
            self._at = end + 1
            return Substitution(line, quoted)
        self._at += 1
        if self._peek() == "(":
            return Substitution(self._inside_parentheses(), quoted)
        if self._peek() == "{":
            end = self._text.find("}", self._at)
            if end < 0:
                raise SyntaxFault("no closing quote")
            name = self._text[self._at + 1 : end]
            self._at = end + 1
            return Variable(name, quoted)
        if self._peek() in {"?", "$", "#", "!", "@", "*"}:
            self._at += 1
            return Variable(self._text[self._at - 1], quoted)
        match = NAME.match(self._text, self._at)
        if match is None:
            return Literal("$", quoted)
        self._at = match.end()
        return Variable(match.group(), quoted)

    def _inside_parentheses(self) -> str:
        """The text of `$(…)`; inner parentheses and quotes are counted, not read."""
        depth = 0
        quote = ""
        for index in range(self._at, len(self._text)):
            character = self._text[index]
            if quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif character == "(":
                depth += 1
            elif character == ")":
                depth -= 1
                if depth == 0:
                    inside = self._text[self._at + 1 : index]
                    self._at = index + 1
                    return inside
        raise SyntaxFault("no closing quote")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip_blanks(self) -> None:
        while True:
            while self._peek() and self._peek() in BLANKS:
                self._at += 1
            if self._text.startswith("\\\n", self._at):
                self._at += 2
            elif self._peek() == "#":
                end = self._text.find("\n", self._at)
                self._at = end if end >= 0 else len(self._text)
            else:
                return

    def _operator_here(self) -> str:
        return next((each for each in OPERATORS if self._text.startswith(each, self._at)), "")

    def _unexpected(self) -> SyntaxFault:
        shown = self._operator_here()
        return SyntaxFault(f"syntax error: unexpected '{shown}'" if shown else "syntax error: unexpected EOF")

    def _operator(self) -> str:
        operator = self._operator_here()
        self._at += len(operator)
        return operator


def _as_assignment(word: Word) -> tuple[str, Word] | None:
    """`NAME=value` with an unquoted name, else None."""
    plain = ""
    for index, part in enumerate(word):
        if not isinstance(part, Literal) or part.quoted:
            return None
        plain += part.text
        match = ASSIGNMENT.fullmatch(plain)
        if match is not None:
            return match.group(1), word[index + 1 :]
    return None
