"""Reads an app's notifications from Android's human-readable dump.

The text of a notification may contain line breaks and so imitate lines of another one. Therefore a record counts only
if `cmd notification list` has its key, no other record has the same key, and the marks around its text occur once. Old
phones have no such list; there, a record is trusted as printed.

Sources in AOSP: NotificationManagerService.dumpNotificationRecords and DumpFilter (`--package`), NotificationRecord's
dump and dumpNotification, NotificationShellCmd (`list`), Notification.FLAG_*. Android 16 prints the flags by name, and
Samsung's Android 9 a date after the time; older ones print no `when=`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from devices.adb.shell import Shell, command
from devices.notification import PhoneNotification
from devices.wording import words

TIMEOUT: Final = 8.0
"""Seconds for the round trip; it takes a tenth of a second on a current phone."""
STARTING: Final = 120.0
"""Seconds after a phone's start in which apps repost their notifications."""
OLD: Final = 1800.0
"""Seconds after which an event, by the notification's own `when`, is no longer news."""
_FLAGS: Final = {"ONGOING_EVENT": 0x2, "FOREGROUND_SERVICE": 0x40, "GROUP_SUMMARY": 0x200}
_PACKAGE: Final = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_RECORD: Final = re.compile(r"^ {2,}NotificationRecord\(", re.MULTILINE)
_BEHIND: Final = tuple(
    re.compile(rf"^ {{0,4}}{heading}", re.MULTILINE)
    for heading in ("mArchive=", "Enqueued Notification List:", "Snoozed notifications:")
)
"""The headings of notifications that are not shown, in the order in which Android prints them."""
_EXTRAS: Final = re.compile(r"^ +extras=\{$", re.MULTILINE)
_PUBLIC: Final = re.compile(r"^ +publicNotification=$", re.MULTILINE)
_NOTIFICATION: Final = re.compile(r"^ +notification=$", re.MULTILINE)
_KEY_LINE: Final = re.compile(r"^ +key=(\S.*?)\s*$", re.MULTILINE)
_EXTRA: Final = re.compile(
    r"^ +(?P<name>[\w.]+)=(?:[\w$.]+ )\((?P<value>.*?)\)$(?=\s*^ *(?:[\w.:/$-]+=|\[\d+\] |\}))",
    re.MULTILINE | re.DOTALL,
)
_LINES: Final = re.compile(r"^ +android\.textLines=\S+ \(\d+\)\n(?P<lines>(?:^ +\[\d+\] .*\n)+)", re.MULTILINE)
_PROGRESS: Final = re.compile(
    r"^ +android\.(?:progressMax=Integer \([1-9]|progressIndeterminate=Boolean \(true)", re.MULTILINE
)
_SMS_APP: Final = "settings get secure sms_default_application"


async def read_notifications(shell: Shell, package: str) -> tuple[PhoneNotification, ...]:
    """Return the notifications that the app with this package shows now.

    Raises PhoneGone, PhoneUnavailable, PhoneTimeout; ValueError for an invalid package name.
    """
    if not _PACKAGE.fullmatch(package):
        raise ValueError(f"{package!r} is no package")
    line = (
        "echo @@uptime; cat /proc/uptime; echo @@clock; date +%s.%N; echo @@keys; cmd notification list;"
        f" echo @@records; {command('dumpsys', 'notification', '--noredact', '--package', package)}"
    )
    told = await shell.run(line, timeout=TIMEOUT, doing=words("phone.doing.notifications"))
    return parse_notifications(told.out.replace("\r\n", "\n"), package)


async def read_sms_app(shell: Shell) -> str:
    """Return the package of the app that receives SMS; "" if there is none. Raises as `read_notifications`."""
    told = (await shell.run(_SMS_APP, timeout=TIMEOUT, doing=words("phone.doing.notifications"))).out.strip()
    return told if _PACKAGE.fullmatch(told) and told != "null" else ""


def parse_notifications(told: str, package: str) -> tuple[PhoneNotification, ...]:
    """Parse the output of the four commands of `read_notifications`, in which each section begins with its mark."""
    uptime, clock, keys, records = (_section(told, name) for name in ("uptime", "clock", "keys", "records"))
    now, up = _number(clock), _number(uptime)
    if now is None:
        return ()
    known = {key for key in map(str.strip, keys.splitlines()) if re.match(r"-?\d+\|", key)}
    shown, behind = _split(records)
    count = Counter(map(_key, shown))
    texts = [text for text in shown if count[_key(text)] == 1]
    if known:
        others = Counter(map(_key, behind))
        texts += [text for text in behind if others[_key(text)] == 1 and _key(text) not in count]
    found = (_record(text, package, now, up) for text in texts if not known or _key(text) in known)
    return tuple(one for one in found if one is not None)


def _section(told: str, name: str) -> str:
    """Return the output after a mark. The records come last, so that an app's words cannot end them."""
    rest = told.partition(f"@@{name}\n")[2]
    return rest if name == "records" else rest.partition("\n@@")[0] + "\n"


def _number(text: str) -> float | None:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", text)
    return None if found is None else float(found[1])


def _split(records: str) -> tuple[list[str], list[str]]:
    """Split the records into those that are shown, and those that are gone or still to come. A message may contain a
    heading too; the last one is Android's own.
    """
    ends = next((found[-1].start() for each in _BEHIND if (found := [*each.finditer(records)])), len(records))
    return _RECORD.split(records[:ends])[1:], _RECORD.split(records[ends:])[1:]


def _key(text: str) -> str:
    found = _KEY_LINE.search(text)
    return "" if found is None else found[1]


def _record(text: str, package: str, now: float, up: float | None) -> PhoneNotification | None:
    """Parse a record; None if it belongs to another app or is incomplete."""
    key, content = _key(text), _content(text)
    posted, changed = _time(text, "mCreationTimeMs"), _time(text, "mUpdateTimeMs")
    named = f"|{package}|" in key and f"pkg={package} " in text.partition("\n")[0]
    if content is None or posted is None or not named:
        return None
    head, said = content
    extras = [(each["name"], each["value"]) for each in _EXTRA.finditer(said)]
    titles = {value for name, value in extras if name == "android.title"}
    age = max(0.0, now - (changed or posted) / 1000)
    starting = up is not None and now - posted / 1000 > up - STARTING
    about = _about(text)
    return PhoneNotification(
        key=key,
        package=package,
        # Two titles: one is part of the other's words.
        title=titles.pop() if len(titles) == 1 else "",
        text=_text(dict(reversed(extras)), said),
        posted=posted,
        age=age,
        lasting=_lasts(head) or _PROGRESS.search(said) is not None,
        reposted=starting or (about is not None and now - about > OLD),
    )


def _content(text: str) -> tuple[str, str] | None:
    """Return the part before a notification's extras, and the extras; None if its words (the ticker's come first)
    contain the marks of either end. A public version is only printed after `notification=`, before any words.
    """
    ends = [each.start() for each in _PUBLIC.finditer(text)]
    begins = list(_EXTRAS.finditer(text, 0, *ends[:1]))
    if len(begins) != 1 or len(ends) > 1:
        return None
    if ends and _NOTIFICATION.search(text.partition("tickerText=")[0]) is None:
        return None
    return text[: begins[0].start()], text[begins[0].end() : ends[0] if ends else None]


def _time(text: str, name: str) -> int | None:
    """Return a time in milliseconds from the last line of this name, because earlier lines may be the notification's
    words.
    """
    found = re.findall(rf"^ +{name}=(\d+)", text, re.MULTILINE)
    return int(found[-1]) if found and int(found[-1]) else None


def _about(text: str) -> float | None:
    """Return the time of the event that it reports, in Unix seconds; None if it has none."""
    found = re.search(r"^ +when=(\d+)", text, re.MULTILINE)
    return int(found[1]) / 1000 if found is not None and int(found[1]) else None


def _text(extras: dict[str, str], said: str) -> str:
    """Return the longest of its texts, or the lines of a list."""
    text, long = extras.get("android.text", ""), extras.get("android.bigText", "")
    lines = _LINES.search(said)
    if lines is not None and not long:
        listed = re.findall(r"^ +\[\d+\] (.*)$", lines["lines"], re.MULTILINE)
        return "\n".join([*([text] if text and text not in listed else []), *listed])
    return long if text in long else f"{text}\n{long}".strip()


def _lasts(head: str) -> bool:
    """Return whether its flags say that something is in progress or that it summarises others."""
    found = re.search(r"^ +flags=(\S+)", head, re.MULTILINE) or re.search(r"\bflags=(0x[0-9a-fA-F]+|[A-Z_|]+)", head)
    if found is None:
        return False
    if found[1].startswith("0x"):
        return bool(int(found[1], 16) & sum(_FLAGS.values()))
    return bool(_FLAGS.keys() & set(found[1].split("|")))
