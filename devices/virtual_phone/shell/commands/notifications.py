"""The phone's notifications, in the form in which `dumpsys notification` and `cmd notification list` of Android 14
print them.

Sources in AOSP frameworks/base/services: NotificationManagerService.dumpNotificationRecords with DumpFilter (its
`--package` takes a part of a name), NotificationRecord.toString, dump and dumpNotification, NotificationShellCmd.
"""

from __future__ import annotations

from devices.virtual_phone.apps import BY_PACKAGE
from devices.virtual_phone.shell.interpreter import Call
from devices.virtual_phone.state import PhoneState, Posted

MESSAGING = "com.android.messaging"
_NO_STATS = "stats=SingleNotificationStats{posttimeElapsedMs=1, posttimeToFirstClickMs=-1, posttimeToDismissMs=-1}"


def shown(state: PhoneState, booted: float) -> list[Posted]:
    """Return all notifications that are shown: the last message of each conversation, unless the phone's owner wrote
    it, and those that were posted.

    `booted` is when the phone was started, in Unix seconds.
    """
    talks = [
        Posted(MESSAGING, talk.person, talk.lines[-1].text, number=1, tag=talk.person, posted=int(booted * 1000))
        for talk in state.conversations
        if talk.lines and not talk.lines[-1].mine
    ]
    return [*talks, *state.posted]


def list_keys(call: Call) -> int:
    """Simulate the shell command `cmd notification list`, which prints one key per line. Returns the exit code."""
    for one in shown(call.phone.state, call.phone.booted):
        call.say(_key(one))
    return 0


def dump(call: Call, words: tuple[str, ...]) -> None:
    """Simulate the shell command `dumpsys notification [--noredact] [--package PART]`."""
    wished = words[words.index("--package") + 1].lower() if "--package" in words[:-1] else ""
    call.say("Current Notification Manager state:")
    found = [one for one in shown(call.phone.state, call.phone.booted) if wished in one.package]
    if found:
        call.say("  Notification List:")
    for one in found:
        for line in _lines(one, redacted="--noredact" not in words):
            call.say(line)
    if not wished:
        call.say("  mArchive=Archive (0 notifications)")


def _key(one: Posted) -> str:
    return f"0|{one.package}|{one.number}|{one.tag or 'null'}|{_uid(one)}"


def _uid(one: Posted) -> int:
    return 10100 + sorted(BY_PACKAGE).index(one.package) if one.package in BY_PACKAGE else 10099


def _lines(one: Posted, *, redacted: bool) -> list[str]:
    flags, key = f"flags=0x{one.flags:x}", _key(one)
    group = f" groupKey={one.group}" if one.group else ""
    extras = {"android.title": one.title, "android.text": one.text, "android.bigText": one.text}
    told = [
        f"{name}=String [length={len(value)}]" if redacted else f"{name}=String ({value})"
        for name, value in extras.items()
    ]
    record = f"0x0{_uid(one):07x}: pkg={one.package} user=UserHandle{{0}} id={one.number} tag={one.tag or 'null'}"
    notification = f"channel=messages shortcut=null contentView=null vibrate=null sound=null defaults=0x0 {flags}"
    return [
        f"    NotificationRecord({record} importance=4 key={key}: Notification({notification}{group} vis=PRIVATE))",
        f"      uid={_uid(one)} userId=0",
        f"      opPkg={one.package}",
        f"      icon=Icon(typ=RESOURCE pkg={one.package} id=0x7f0806b2)",
        f"      {flags}",
        f"      original{flags.capitalize()}",
        "      pri=0",
        f"      key={key}",
        "      seen=false",
        f"      groupKey=0|{one.package}|g:{one.group}" if one.group else f"      groupKey={key}",
        "      notification=",
        "            fullscreenIntent=null",
        "            contentIntent=null",
        "            deleteIntent=null",
        "            number=0",
        "            groupAlertBehavior=0",
        f"            when={one.posted if one.about is None else one.about}",
        "            tickerText=null",
        "            vis=0",
        "            contentView=null",
        "            bigContentView=null",
        "            headsUpContentView=null",
        "            color=0x00000000",
        "            timeout=null",
        "            extras={",
        f"                android.progressMax=Integer ({one.progress_of})",
        *(f"                {line}" for line in told),
        "                android.showWhen=Boolean (true)",
        "                android.progressIndeterminate=Boolean (false)",
        "            }",
        "      publicNotification=",
        "            None",
        f"      {_NO_STATS}",
        "      mImportance=HIGH",
        f"      mRankingTimeMs={one.changed or one.posted}",
        f"      mCreationTimeMs={one.posted}",
        "      mVisibleSinceMs=0",
        f"      mUpdateTimeMs={one.changed or one.posted}",
        "      mSuppressedVisualEffects= 0",
    ]
