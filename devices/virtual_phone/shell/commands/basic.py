"""Small programs of every Android shell. Forms: toybox 0.8 as shipped in Android 14 (external/toybox)."""

from __future__ import annotations

from devices.virtual_phone.apps import BY_KEY, LAUNCHER_PACKAGE
from devices.virtual_phone.shell.call import Call, Family

FIRST_PROCESS = 4240


async def echo(call: Call) -> int:
    """A shell built-in; -n leaves out the newline."""
    words = list(call.arguments)
    newline = b"\n"
    if words[:1] == ["-n"]:
        words, newline = words[1:], b""
    call.send(" ".join(words).encode("utf-8", "surrogateescape") + newline)
    return 0


async def true(_call: Call) -> int:
    """Succeeds."""
    return 0


async def false(_call: Call) -> int:
    """Fails."""
    return 1


async def identity(call: Call) -> int:
    """`id` of the shell user, recorded on Android 14 without the long group list."""
    call.say("uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log) context=u:r:shell:s0")
    return 0


async def date(call: Call) -> int:
    """`date [+FORMAT]`, with the letters of strftime; `%s.%N` is the clock that the logs are written by."""
    now = call.phone.windows.clock()
    form = call.arguments[0] if call.arguments else "+%a %b %e %H:%M:%S %Z %Y"
    if not form.startswith("+"):
        call.complain(f"date: bad date '{form}'")
        return 1
    if form == "+%s.%N":
        call.say(f"{call.phone.event_log.now():.9f}")
        return 0
    call.say(now.strftime(form[1:]))
    return 0


async def ps(call: Call) -> int:
    """`ps [-A]`: the shell itself, and with -A the launcher and every open app."""
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


FAMILY: Family = {
    "echo": echo,
    "true": true,
    ":": true,
    "false": false,
    "id": identity,
    "date": date,
    "ps": ps,
}
