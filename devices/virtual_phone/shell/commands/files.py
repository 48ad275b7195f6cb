"""Programs for files: cat, ls, cp and others, and grep for pipes. Texts: toybox 0.8 (external/toybox)."""

from __future__ import annotations

import hashlib
import re

from devices.virtual_phone.files import FileRefused
from devices.virtual_phone.shell.interpreter import Call, Family

MISSING = "No such file or directory"
# A phone of 128 GB with what the Settings app shows on its storage page, in blocks of 1 KiB.
ALL_BLOCKS = 128 * 2**20
FREE_BLOCKS = 74 * 2**20


def _split(call: Call) -> tuple[set[str], list[str]]:
    """Option letters and operands."""
    words = list(call.arguments)
    end = words.index("--") if "--" in words else len(words)
    options = {letter for word in words[:end] if word.startswith("-") for letter in word[1:]}
    return options, [word for word in words[:end] if not word.startswith("-")] + words[end + 1 :]


async def cat(call: Call) -> int:
    """Simulate the shell command `cat [file …]`; without files it copies standard input. Returns the exit code."""
    _options, paths = _split(call)
    if not paths:
        call.send(call.standard_input)
    code = 0
    for path in paths:
        content = call.phone.files.read(path)
        if content is None:
            code = call.complain(f"cat: {path}: {MISSING}")
        else:
            call.send(content)
    return code


async def ls(call: Call) -> int:
    """Simulate the shell command `ls [-ld] [path …]`: prints one name per line, with -l also sizes. Returns the exit
    code.
    """
    options, paths = _split(call)
    code = 0
    for path in paths or ["/"]:
        mode, size, _when = call.phone.files.stat(path)
        if not mode:
            code = call.complain(f"ls: {path}: {MISSING}")
        elif call.phone.files.is_folder(path) and "d" not in options:
            for name in call.phone.files.names(path):
                _mode, length, _when = call.phone.files.stat(f"{path}/{name}")
                call.say(f"-rw-rw---- 1 u0_a100 media_rw {length} 2026-01-01 00:00 {name}" if "l" in options else name)
        else:
            call.say(f"-rw-rw---- 1 u0_a100 media_rw {size} 2026-01-01 00:00 {path}" if "l" in options else path)
    return code


async def rm(call: Call) -> int:
    """Simulate the shell command `rm [-rf] path …`. Returns the exit code."""
    options, paths = _split(call)
    code = 0
    for path in paths:
        if call.phone.files.refusal(path):
            code = call.complain(f"rm: {path}: Permission denied")
        elif not call.phone.files.remove(path, recursive="r" in options) and "f" not in options:
            code = call.complain(f"rm: {path}: {MISSING}")
    return code


async def mkdir(call: Call) -> int:
    """Simulate the shell command `mkdir [-p] path …`. Returns the exit code."""
    options, paths = _split(call)
    for path in paths:
        if call.phone.files.is_folder(path):
            if "p" in options:
                continue
            return call.complain(f"mkdir: '{path}': File exists")
        try:
            call.phone.files.make(path)
        except FileRefused as problem:
            return call.complain(f"mkdir: '{path}': {problem}")
    return 0


async def mv(call: Call) -> int:
    """Simulate the shell command `mv [-fn] from to`. With -n nothing is done or printed if the target exists. Returns
    the exit code.
    """
    options, paths = _split(call)
    files = call.phone.files
    if len(paths) != 2:
        return call.complain("mv: Needs 2 arguments")
    if not files.stat(paths[0])[0]:
        return call.complain(f"mv: bad '{paths[0]}': {MISSING}")
    target = into(call, *paths)
    if "n" in options and files.stat(target)[0]:
        return 0
    try:
        files.move(paths[0], target)
    except FileRefused as problem:
        return call.complain(f"mv: {paths[1]}: {problem}")
    return 0


async def cp(call: Call) -> int:
    """Simulate the shell command `cp [-f] from to`. Returns the exit code."""
    _options, paths = _split(call)
    if len(paths) != 2:
        return call.complain("cp: Needs 2 arguments")
    content = call.phone.files.read(paths[0])
    if content is None:
        return call.complain(f"cp: bad '{paths[0]}': {MISSING}")
    return _written(call, into(call, *paths), content)


async def touch(call: Call) -> int:
    """Simulate the shell command `touch file …`; new files are empty. Returns the exit code."""
    _options, paths = _split(call)
    return max((_written(call, path, call.phone.files.read(path) or b"") for path in paths), default=0)


async def head(call: Call) -> int:
    """Simulate the shell command `head [-n lines] [-c bytes] [file …]`; prints the first 10 lines by default. Returns
    the exit code.
    """
    words = list(call.arguments)
    unit, most = "n", 10
    if words[:1] and words[0][:2] in {"-n", "-c"}:
        unit, number = words[0][1], words.pop(0)[2:]
        number = number or (words.pop(0) if words else "")
        if not number.isdecimal():
            return call.complain(f"head: not integer: {number}")
        most = int(number)
    code = 0
    for path in words or ["-"]:
        content = call.standard_input if path == "-" else call.phone.files.read(path)
        if content is None:
            code = call.complain(f"head: {path}: {MISSING}")
        else:
            call.send(content[:most] if unit == "c" else b"".join(content.splitlines(keepends=True)[:most]))
    return code


async def stat(call: Call) -> int:
    """Simulate the shell command `stat [-c FORMAT] path …`. The format may contain %s (bytes), %n (name), %Y
    (modification time) and %F (kind). Returns the exit code.
    """
    words = list(call.arguments)
    form = "  File: %n\n  Size: %s\t %F"
    if words[:1] == ["-c"]:
        form = words[1] if len(words) > 1 else ""
        del words[:2]
    code = 0
    for path in words:
        mode, size, when = call.phone.files.stat(path)
        if not mode:
            code = call.complain(f"stat: '{path}': {MISSING}")
            continue
        kind = "directory" if call.phone.files.is_folder(path) else "regular file"
        known = {"s": str(size), "n": path, "Y": str(when), "F": kind}
        call.say(
            "".join(
                known.get(part[:1], "%" + part[:1]) + part[1:] if at else part
                for at, part in enumerate(form.split("%"))
            )
        )
    return code


async def df(call: Call) -> int:
    """Simulate the shell command `df [-h] [path]` for the shared storage, which is full if the fault `storage_full` is
    set. Returns the exit code.
    """
    options, _paths = _split(call)
    free = 0 if call.phone.files.full() else FREE_BLOCKS
    used = ALL_BLOCKS - free
    if "h" in options:
        call.say("Filesystem      Size Used Avail Use% Mounted on")
        size, taken, spare = (f"{blocks / 2**20:.0f}G" for blocks in (ALL_BLOCKS, used, free))
        call.say(f"/dev/fuse       {size} {taken:>4} {spare:>5} {100 * used // ALL_BLOCKS:>3}% /storage/emulated")
    else:
        call.say("Filesystem     1K-blocks      Used Available Use% Mounted on")
        call.say(f"/dev/fuse      {ALL_BLOCKS:>9} {used:>9} {free:>9} {100 * used // ALL_BLOCKS:>3}% /storage/emulated")
    return 0


def into(call: Call, source: str, target: str) -> str:
    """Return the path of a copied or moved file: inside the target if that is a folder, otherwise the target."""
    return f"{target}/{source.rsplit('/', 1)[-1]}" if call.phone.files.is_folder(target) else target


def _written(call: Call, path: str, content: bytes) -> int:
    try:
        call.phone.files.write(path, content)
    except FileRefused as problem:
        return call.complain(f"{call.words[0]}: {path}: {problem}")
    return 0


async def grep(call: Call) -> int:
    """Simulate the shell command `grep [-i] [-v] [-E] pattern [file …]`; without files it reads standard input.
    Returns the exit code.
    """
    options, words = _split(call)
    if not words:
        return call.complain("grep: no REGEX", 2)
    try:
        pattern = re.compile(words[0].encode("utf-8", "surrogateescape"), re.IGNORECASE if "i" in options else 0)
    except re.error as problem:
        return call.complain(f"grep: bad REGEX: {problem}", 2)
    data = b"".join(call.phone.files.read(path) or b"" for path in words[1:]) if words[1:] else call.standard_input
    found = [line for line in data.splitlines() if bool(pattern.search(line)) != ("v" in options)]
    call.send(b"".join(line + b"\n" for line in found))
    return 0 if found else 1


async def toybox(call: Call) -> int:
    """Simulate the shell command `toybox md5sum file`, which uiautomator2 uses. Other programs exist only under their
    own names. Returns the exit code.
    """
    words = call.arguments
    if len(words) != 2 or words[0] != "md5sum":
        return call.complain(f"toybox: Unknown command {words[0] if words else ''}", 127)
    content = call.phone.files.read(words[1])
    if content is None:
        return call.complain(f"md5sum: {words[1]}: No such file or directory")
    call.say(f"{hashlib.md5(content, usedforsecurity=False).hexdigest()}  {words[1]}")
    return 0


FAMILY: Family = {
    "toybox": toybox,
    "cat": cat,
    "ls": ls,
    "rm": rm,
    "mkdir": mkdir,
    "mv": mv,
    "cp": cp,
    "touch": touch,
    "head": head,
    "stat": stat,
    "df": df,
    "grep": grep,
}
