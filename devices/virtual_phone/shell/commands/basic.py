"""Small programs of every Android shell, with the output of toybox 0.8 as in Android 14 (external/toybox)."""

from __future__ import annotations

import io
import zipfile

from devices.virtual_phone.apps import BY_KEY, LAUNCHER_PACKAGE
from devices.virtual_phone.shell.commands.packages import archive_at
from devices.virtual_phone.shell.interpreter import Call, Family

FIRST_PROCESS = 4240


async def echo(call: Call) -> int:
    """Simulate the shell command `echo [-n] WORD …`; -n leaves out the newline. Returns the exit code."""
    words = list(call.arguments)
    newline = b"\n"
    if words[:1] == ["-n"]:
        words, newline = words[1:], b""
    call.send(" ".join(words).encode("utf-8", "surrogateescape") + newline)
    return 0


async def true(_call: Call) -> int:
    """Simulate the shell command `true`, which succeeds. Returns the exit code."""
    return 0


async def false(_call: Call) -> int:
    """Simulate the shell command `false`, which fails. Returns the exit code."""
    return 1


async def identity(call: Call) -> int:
    """Simulate the shell command `id` for the shell user; the output was recorded on Android 14, without the long list
    of groups. Returns the exit code.
    """
    call.say("uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log) context=u:r:shell:s0")
    return 0


async def date(call: Call) -> int:
    """Simulate the shell command `date [+FORMAT]`, with the letters of strftime. `%s.%N` is the clock of the event
    log. Returns the exit code.
    """
    now = call.phone.windows.clock()
    form = call.arguments[0] if call.arguments else "+%a %b %e %H:%M:%S %Z %Y"
    if not form.startswith("+"):
        return call.complain(f"date: bad date '{form}'")
    if form == "+%s.%N":
        call.say(f"{call.phone.event_log.now():.9f}")
        return 0
    # strftime reads %s in the zone of this computer, whatever the date's own is.
    call.say(now.strftime(form[1:].replace("%s", f"{now.timestamp():.0f}")))
    return 0


async def ps(call: Call) -> int:
    """Simulate the shell command `ps [-A]`: lists the shell itself, and with -A also the launcher and every open app.
    Returns the exit code.
    """
    call.say("USER           PID  PPID        VSZ    RSS WCHAN            ADDR S NAME")
    rows = [("shell", "sh"), ("shell", "ps")]
    if call.arguments[:1] in (("-A",), ("-e",), ("-ef",)):
        open_apps = [BY_KEY[task.app].package for task in call.phone.state.tasks]
        rows = [
            ("root", "init"),
            ("system", "system_server"),
            *(("u0_a100", name) for name in (LAUNCHER_PACKAGE, *open_apps)),
            *rows,
        ]
    for number, (user, name) in enumerate(rows, start=FIRST_PROCESS):
        call.say(f"{user:<13} {number:>5} {1:>5} {10892340:>10} {94212:>6} 0                   0 S {name}")
    return 0


async def unzip(call: Call) -> int:
    """Simulate the shell command `unzip -p ARCHIVE NAME`, which writes one file of an archive to standard output.
    Other forms are not supported. Returns the exit code.

    Source: AOSP system/core/libziparchive, ziptool (its options are Info-ZIP's).
    """
    if call.phone.faults.no_unzip:
        return call.complain("/system/bin/sh: unzip: inaccessible or not found", 127)
    if len(call.arguments) != 3 or call.arguments[0] != "-p":
        return call.complain("unzip: only -p ARCHIVE NAME is known")
    path, name = call.arguments[1:]
    data = archive_at(path) or call.phone.files.read(path)
    if data is None:
        return call.complain(f"unzip: couldn't open {path}: I/O error")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            call.send(archive.read(name))
    except zipfile.BadZipFile:
        return call.complain(f"unzip: couldn't open {path}: Invalid file")
    except KeyError:
        return call.complain(f"unzip: couldn't find {name}")
    return 0


async def logcat(call: Call) -> int:
    """Simulate the shell command `logcat -b events -d`; prints the event log in the format of `-v epoch`. Other logs
    are empty. Returns the exit code.

    Source: AOSP system/logging/logcat/logcat.cpp.
    """
    words = call.arguments
    call.say("--------- beginning of events" if "events" in words else "--------- beginning of main")
    for line in call.phone.event_log.lines() if "events" in words else ():
        call.say(line)
    return 0


FAMILY: Family = {
    "echo": echo,
    "true": true,
    ":": true,
    "false": false,
    "id": identity,
    "date": date,
    "ps": ps,
    "unzip": unzip,
    "logcat": logcat,
}
