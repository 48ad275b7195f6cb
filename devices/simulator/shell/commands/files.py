"""Files from the shell: cat, ls, rm, mkdir, mv, and grep on a pipe. Texts: toybox 0.8 (external/toybox)."""

from __future__ import annotations

import re

from devices.simulator.shell.call import Call, Family

MISSING = "No such file or directory"


def _split(call: Call) -> tuple[set[str], list[str]]:
    """Option letters and operands."""
    words = list(call.arguments)
    if "--" in words:
        end = words.index("--")
        words, rest = words[:end], words[end + 1 :]
    else:
        rest = []
    options = {letter for word in words if word.startswith("-") for letter in word[1:]}
    return options, [word for word in words if not word.startswith("-")] + rest


async def cat(call: Call) -> int:
    """Files, or standard input."""
    _options, paths = _split(call)
    if not paths:
        call.send(call.standard_input)
    code = 0
    for path in paths:
        content = call.phone.files.read(path)
        if content is None:
            call.complain(f"cat: {path}: {MISSING}")
            code = 1
        else:
            call.send(content)
    return code


async def ls(call: Call) -> int:
    """Names, one a line; -l adds the size."""
    options, paths = _split(call)
    code = 0
    for path in paths or ["/"]:
        mode, size, _when = call.phone.files.stat(path)
        if not mode:
            call.complain(f"ls: {path}: {MISSING}")
            code = 1
        elif call.phone.files.is_folder(path) and "d" not in options:
            for name in call.phone.files.names(path):
                _mode, length, _when = call.phone.files.stat(f"{path}/{name}")
                call.say(f"-rw-rw---- 1 u0_a100 media_rw {length} 2026-01-01 00:00 {name}" if "l" in options else name)
        else:
            call.say(f"-rw-rw---- 1 u0_a100 media_rw {size} 2026-01-01 00:00 {path}" if "l" in options else path)
    return code


async def rm(call: Call) -> int:
    """`rm [-rf] path …`."""
    options, paths = _split(call)
    code = 0
    for path in paths:
        if call.phone.files.refusal(path):
            call.complain(f"rm: {path}: Permission denied")
            code = 1
        elif not call.phone.files.remove(path, recursive="r" in options) and "f" not in options:
            call.complain(f"rm: {path}: {MISSING}")
            code = 1
    return code


async def mkdir(call: Call) -> int:
    """`mkdir [-p] path …`."""
    options, paths = _split(call)
    for path in paths:
        problem = call.phone.files.refusal(path)
        if not problem and call.phone.files.is_folder(path) and "p" not in options:
            problem = "File exists"
        if problem:
            call.complain(f"mkdir: '{path}': {problem}")
            return 1
        call.phone.files.make(path)
    return 0


async def mv(call: Call) -> int:
    """`mv [-f] from to`."""
    _options, paths = _split(call)
    files = call.phone.files
    if len(paths) != 2:
        call.complain("mv: Needs 2 arguments")
        return 1
    content = files.read(paths[0])
    if content is None or files.refusal(paths[1]):
        call.complain(f"mv: bad '{paths[0]}': {MISSING}" if content is None else f"mv: {paths[1]}: Permission denied")
        return 1
    name = paths[0].rsplit("/", 1)[-1]
    files.write(f"{paths[1]}/{name}" if files.is_folder(paths[1]) else paths[1], content)
    files.remove(paths[0])
    return 0


async def grep(call: Call) -> int:
    """`grep [-i] [-v] [-E] pattern` on standard input or files."""
    options, words = _split(call)
    if not words:
        call.complain("grep: no REGEX")
        return 2
    pattern = re.compile(words[0].encode(), re.IGNORECASE if "i" in options else 0)
    data = b"".join(call.phone.files.read(path) or b"" for path in words[1:]) if words[1:] else call.standard_input
    found = [line for line in data.splitlines() if bool(pattern.search(line)) != ("v" in options)]
    call.send(b"".join(line + b"\n" for line in found))
    return 0 if found else 1


FAMILY: Family = {"cat": cat, "ls": ls, "rm": rm, "mkdir": mkdir, "mv": mv, "grep": grep}
