"""`logcat`, for the event log alone: the other buffers are empty. Source: AOSP system/logging/logcat/logcat.cpp."""

from __future__ import annotations

from devices.virtual_phone.shell.call import Call, Family


async def logcat(call: Call) -> int:
    """`logcat -b events -d`, in the form of `-v epoch`."""
    words = call.arguments
    call.say("--------- beginning of events" if "events" in words else "--------- beginning of main")
    for line in call.phone.event_log.lines() if "events" in words else ():
        call.say(line)
    return 0


FAMILY: Family = {"logcat": logcat}
