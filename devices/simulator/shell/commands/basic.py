"""Small programs of every Android shell. Forms: toybox 0.8 as shipped in Android 14 (external/toybox)."""

from __future__ import annotations

from devices.simulator.shell.call import Call, Family


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


FAMILY: Family = {"echo": echo, "true": true, ":": true, "false": false, "id": identity}
