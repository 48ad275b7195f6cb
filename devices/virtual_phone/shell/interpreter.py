"""Runs parsed shell lines, program by program. Messages and exit codes are those of mksh, Android's shell
(external/mksh/src/exec.c, eval.c).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from devices.virtual_phone.device import Device
from devices.virtual_phone.files import FileRefused
from devices.virtual_phone.ground_truth import RECEIPT_VARIABLE
from devices.virtual_phone.shell.parser import Literal, Redirect, Simple, Step, SyntaxFault, Variable, Word, parse

OUT = 1
ERR = 2
EXCEPTION = 255
"""Exit code of a program whose Android service threw an exception."""


@dataclass(slots=True)
class Output:
    """The output of a command line, in order: pairs of a file descriptor (1 or 2) and bytes."""

    chunks: list[tuple[int, bytes]] = field(default_factory=list)

    def write(self, descriptor: int, data: bytes) -> None:
        """Append bytes to standard output (1) or standard error (2)."""
        if data:
            self.chunks.append((descriptor, data))

    def of(self, *descriptors: int) -> bytes:
        """Return all bytes written to these file descriptors (1, 2)."""
        return b"".join(data for descriptor, data in self.chunks if descriptor in descriptors)


@dataclass(slots=True)
class Call:
    """A running program with its arguments. `words[0]` is its name."""

    phone: Device
    words: tuple[str, ...]
    standard_input: bytes
    output: Output

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the command's name."""
        return self.words[1:]

    def say(self, text: str) -> None:
        """Write a line to standard output."""
        self.output.write(OUT, text.encode("utf-8", "surrogateescape") + b"\n")

    def complain(self, text: str, code: int = 1) -> int:
        """Write a line to standard error, and return the exit code `code`."""
        self.output.write(ERR, text.encode("utf-8", "surrogateescape") + b"\n")
        return code

    def threw(self, action: str, problem: str) -> int:
        """Write to standard error that an Android service threw an exception, and return the exit code for that."""
        return self.complain(f"\nException occurred while executing '{action}':\n{problem}", EXCEPTION)

    def send(self, data: bytes) -> None:
        """Write bytes to standard output."""
        self.output.write(OUT, data)


Command = Callable[[Call], Awaitable[int]]
"""A program: runs a call and returns its exit code."""

Family = dict[str, Command]
"""A set of programs by name."""


SHELL = "/system/bin/sh"
# Exit codes of POSIX 2.8.2.
NOT_FOUND = 127
SYNTAX_ERROR = 1
CANNOT_OPEN = 1
SCREENS = {"/dev/tty", "/dev/stdout", "/proc/self/fd/1"}
NOWHERE = "/dev/null"
BIN_FOLDERS = ("/system/bin/", "/system/xbin/", "/vendor/bin/")
# Programs that ask a service of Android: adbd and the shell are there long before those. settings, wm, am, input and
# the like are scripts that call `cmd`. Texts: AOSP frameworks/native/cmds/cmd/cmd.cpp and cmds/dumpsys/dumpsys.cpp.
SERVICES = {
    "am": "activity",
    "cmd": "",
    "dumpsys": "",
    "ime": "input_method",
    "input": "input",
    "monkey": "activity",
    "pm": "package",
    "settings": "settings",
    "svc": "",
    "uiautomator": "activity",
    "wm": "window",
}
NO_SERVICE = 20
"""The exit code of `cmd` for a missing service (cmdMain turns NAME_NOT_FOUND into it)."""


class Interpreter:
    """One shell process. Its variables exist only while its line runs.

    `commands` are the programs by name; `kind` is how the line came, for the journal (see `Entry`).
    """

    def __init__(self, phone: Device, commands: Mapping[str, Command], kind: str) -> None:
        self._phone = phone
        self._commands = commands
        self._kind = kind
        self._variables: dict[str, str] = {}
        self._code = 0
        self._line = ""

    async def run(self, line: str) -> tuple[int, Output]:
        """Run a line, and return its exit code and output."""
        output = Output()
        self._line = line
        try:
            steps = parse(line)
        except SyntaxFault as fault:
            self._phone.journal.add(self._kind, line, ()).code = SYNTAX_ERROR
            output.write(ERR, f"{SHELL}: {fault}\n".encode())
            return SYNTAX_ERROR, output
        for step in steps:
            if self._wanted(step):
                self._code = await self._pipeline(step, output)
            if self._variables.pop("!exit", None) is not None:
                break
        return self._code, output

    def _wanted(self, step: Step) -> bool:
        if step.connector == "&&":
            return self._code == 0
        if step.connector == "||":
            return self._code != 0
        return True

    async def _pipeline(self, step: Step, output: Output) -> int:
        data = b""
        code = 0
        for index, simple in enumerate(step.pipeline):
            written = Output()
            code = await self._simple(simple, data, written)
            if index + 1 < len(step.pipeline):
                data = written.of(OUT)
                output.write(ERR, written.of(ERR))
            else:
                output.chunks.extend(written.chunks)
        return code

    async def _simple(self, simple: Simple, data: bytes, output: Output) -> int:
        assigned = {name: " ".join(await self._expand(word)) for name, word in simple.assignments}
        words = tuple([text for word in simple.words for text in await self._expand(word)])
        if not words:
            self._variables.update(assigned)
            return 0
        entry = self._phone.journal.add(self._kind, self._line, words, assigned.get(RECEIPT_VARIABLE, ""))
        written = Output()
        name = words[0]
        for folder in BIN_FOLDERS:
            name = name.removeprefix(folder)
        command = self._commands.get(name)
        if self._phone.starting and name in SERVICES:
            command = _no_service_yet
        try:
            data, places = await self._opened(simple.redirects, data)
        except FileRefused as problem:
            output.write(ERR, f"{SHELL}: {problem}\n".encode("utf-8", "surrogateescape"))
            entry.code = CANNOT_OPEN
            return CANNOT_OPEN
        if name == "exit":
            self._variables["!exit"] = ""
            entry.code = int(words[1]) & 0xFF if words[1:] and words[1].isdecimal() else self._code
        elif fault := self._phone.faults.failing(" ".join(words)):
            entry.code, on_error, text = fault
            written.write(ERR if on_error else OUT, f"{text}\n".encode() if text else b"")
        elif command is None:
            written.write(ERR, f"{SHELL}: {words[0]}: inaccessible or not found\n".encode("utf-8", "surrogateescape"))
            entry.code = NOT_FOUND
        else:
            entry.code = await command(Call(self._phone, words, data, written))
        self._deliver(written, places, output)
        return entry.code

    async def _opened(self, redirects: tuple[Redirect, ...], data: bytes) -> tuple[bytes, dict[int, int | str]]:
        """Apply the redirections in order (POSIX 2.7), and return standard input and where each descriptor goes.

        Files are created here, or emptied for `>`, before the command runs. Raises FileRefused with the shell's own
        words (mksh, exec.c); the command then does not run.
        """
        places: dict[int, int | str] = {OUT: OUT, ERR: ERR}
        for redirect in redirects:
            target = " ".join(await self._expand(redirect.target))
            if redirect.operator == "<" and target != NOWHERE:
                content = self._phone.files.read(target)
                if content is None:
                    raise FileRefused(f"can't open {target}: No such file or directory")
                data = content
            elif redirect.operator == "<":
                data = b""
            elif redirect.operator == ">&" and target.isdecimal():
                places[redirect.descriptor] = places.get(int(target), int(target))
            elif redirect.operator in {">", ">>"}:
                places[redirect.descriptor] = target
                if target not in {*SCREENS, NOWHERE}:
                    kept = self._phone.files.read(target) if redirect.operator == ">>" else None
                    try:
                        self._phone.files.write(target, kept or b"")
                    except FileRefused as problem:
                        raise FileRefused(f"can't create {target}: {problem}") from None
        return data, places

    def _deliver(self, written: Output, places: dict[int, int | str], output: Output) -> None:
        """Write the output where the redirections say; output that no longer fits on the disk is lost, with an error
        message.
        """
        for descriptor, data in written.chunks:
            place = places[descriptor]
            if isinstance(place, int):
                output.write(place, data)
            elif place in SCREENS:
                output.write(OUT, data)
            elif place != NOWHERE:
                try:
                    self._phone.files.write(place, (self._phone.files.read(place) or b"") + data)
                except FileRefused as problem:
                    output.write(ERR, f"{SHELL}: {place}: {problem}\n".encode("utf-8", "surrogateescape"))

    async def _expand(self, word: Word) -> list[str]:
        """A word's fields: unquoted expansions are split at blanks (POSIX 2.6.5)."""
        fields: list[str] = []
        current: str | None = None
        for part in word:
            if isinstance(part, Literal):
                current = (current or "") + part.text
                continue
            value = self._variable(part.name) if isinstance(part, Variable) else await self._substitute(part.line)
            if part.quoted:
                current = (current or "") + value
                continue
            pieces = value.split()
            if not pieces:
                continue
            if value[0].isspace() and current is not None:
                fields.append(current)
                current = None
            fields.extend(([(current or "") + pieces[0], *pieces[1:]])[:-1] if len(pieces) > 1 else [])
            current = pieces[-1] if len(pieces) > 1 else (current or "") + pieces[0]
        if current is not None:
            fields.append(current)
        return fields

    def _variable(self, name: str) -> str:
        if name == "?":
            return str(self._code)
        return self._variables.get(name, "")

    async def _substitute(self, line: str) -> str:
        """Run a command substitution; its commands are in the journal under a kind of their own."""
        inner = Interpreter(self._phone, self._commands, "substitution")
        _code, output = await inner.run(line)
        return output.of(OUT).decode("utf-8", "surrogateescape").rstrip("\n")


async def _no_service_yet(call: Call) -> int:
    """What such a program says while Android starts: no service is registered yet."""
    name = call.words[0].rpartition("/")[2]
    service = SERVICES[name] or next(iter(call.arguments), "")
    if name == "dumpsys":
        return call.complain(f"Can't find service: {service}", 0)
    return call.complain(f"cmd: Can't find service: {service}", NO_SERVICE)
