"""What an app's notifications say, from what Android prints of them for people.

A notification's words may hold line breaks, and with them lines that look like those of another notification. So a
record counts only where `cmd notification list` knows its key and where nothing else has the same key, and where the
marks around what it says are there once. Old phones have no such list; there a record is believed as it is printed.

Sources in AOSP: NotificationManagerService.dumpNotificationRecords and DumpFilter (`--package`), NotificationRecord's
dump and dumpNotification, NotificationShellCmd (`list`), Notification.FLAG_*. Android 16 prints the flags by name, and
Samsung's Android 9 a date behind the time; older ones print no `when=`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from devices.adb.quoting import command
from devices.adb.shell import Shell
from devices.notification import PhoneNotification
from devices.wording import words

TIMEOUT: Final = 8.0
"""Seconds for the round trip; a tenth of a second on a phone of today."""
STARTING: Final = 120.0
"""Seconds after the start of a phone in which apps show again what they had shown before."""
OLD: Final = 1800.0
"""Seconds: what a notification tells of, by its own `when`, is no news any more."""
_FLAGS: Final = {"ONGOING_EVENT": 0x2, "FOREGROUND_SERVICE": 0x40, "GROUP_SUMMARY": 0x200}
_PACKAGE: Final = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_RECORD: Final = re.compile(r"^ {2,}NotificationRecord\(", re.MULTILINE)
_BEHIND: Final = tuple(
    re.compile(rf"^ {{0,4}}{heading}", re.MULTILINE)
    for heading in ("mArchive=", "Enqueued Notification List:", "Snoozed notifications:")
)
"""The headings of what is not shown, in the order in which Android prints them."""
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
    """What this app shows now. Raises PhoneGone, PhoneUnavailable, PhoneTimeout; ValueError for no package's name."""
    if not _PACKAGE.fullmatch(package):
        raise ValueError(f"{package!r} is no package")
    line = (
        "echo @@uptime; cat /proc/uptime; echo @@clock; date +%s.%N; echo @@keys; cmd notification list;"
        f" echo @@records; {command('dumpsys', 'notification', '--noredact', '--package', package)}"
    )
    told = await shell.run(line, timeout=TIMEOUT, doing=words("phone.doing.notifications"))
    return parse_notifications(told.out.replace("\r\n", "\n"), package)


async def read_sms_app(shell: Shell) -> str:
    """The package of the app that SMS come to, "" where there is none. Raises as `read_notifications`."""
    told = (await shell.run(_SMS_APP, timeout=TIMEOUT, doing=words("phone.doing.notifications"))).out.strip()
    return told if _PACKAGE.fullmatch(told) and told != "null" else ""


def parse_notifications(told: str, package: str) -> tuple[PhoneNotification, ...]:
    """What the four commands of `read_notifications` have printed, each behind its mark."""
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
    """What stands behind the mark of this name. The records come last: what an app writes cannot end them."""
    rest = told.partition(f"@@{name}\n")[2]
    return rest if name == "records" else rest.partition("\n@@")[0] + "\n"


def _number(text: str) -> float | None:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", text)
    return None if found is None else float(found[1])


def _split(records: str) -> tuple[list[str], list[str]]:
    """The records of the list that is shown, and those behind it: of what has gone, or is yet to come. A message may
    hold a heading as well; the last one is Android's own.
    """
    ends = next((found[-1].start() for each in _BEHIND if (found := [*each.finditer(records)])), len(records))
    return _RECORD.split(records[:ends])[1:], _RECORD.split(records[ends:])[1:]


def _key(text: str) -> str:
    found = _KEY_LINE.search(text)
    return "" if found is None else found[1]


def _record(text: str, package: str, now: float, up: float | None) -> PhoneNotification | None:
    """None for what is not one of this app, or not whole."""
    key, content = _key(text), _content(text)
    posted, changed = _time(text, "mCreationTimeMs"), _time(text, "mUpdateTimeMs")
    if (
        content is None
        or posted is None
        or f"|{package}|" not in key
        or f"pkg={package} " not in text.partition("\n")[0]
    ):
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
        # Two titles: one was written into the words of the other.
        title=titles.pop() if len(titles) == 1 else "",
        text=_text(dict(reversed(extras)), said),
        posted=posted,
        age=age,
        lasting=_lasts(head) or _PROGRESS.search(said) is not None,
        reposted=starting or (about is not None and now - about > OLD),
    )


def _content(text: str) -> tuple[str, str] | None:
    """What comes before a notification's extras, and these; None where its words (the ticker's come first) hold the
    marks of either end too. A public version is printed behind `notification=` alone, which comes before any words.
    """
    ends = [each.start() for each in _PUBLIC.finditer(text)]
    begins = list(_EXTRAS.finditer(text, 0, *ends[:1]))
    if len(begins) != 1 or len(ends) > 1:
        return None
    if ends and _NOTIFICATION.search(text.partition("tickerText=")[0]) is None:
        return None
    return text[: begins[0].start()], text[begins[0].end() : ends[0] if ends else None]


def _time(text: str, name: str) -> int | None:
    """Milliseconds; the last line of this name, as what comes before may be words of the notification."""
    found = re.findall(rf"^ +{name}=(\d+)", text, re.MULTILINE)
    return int(found[-1]) if found and int(found[-1]) else None


def _about(text: str) -> float | None:
    """The moment that it tells of, in Unix seconds; None where it has none."""
    found = re.search(r"^ +when=(\d+)", text, re.MULTILINE)
    return int(found[1]) / 1000 if found is not None and int(found[1]) else None


def _text(extras: dict[str, str], said: str) -> str:
    """The longest of its texts, or the lines of a list."""
    text, long = extras.get("android.text", ""), extras.get("android.bigText", "")
    lines = _LINES.search(said)
    if lines is not None and not long:
        listed = re.findall(r"^ +\[\d+\] (.*)$", lines["lines"], re.MULTILINE)
        return "\n".join([*([text] if text and text not in listed else []), *listed])
    return long if text in long else f"{text}\n{long}".strip()


def _lasts(head: str) -> bool:
    """Whether its flags say that something is under way, or that it sums up others."""
    found = re.search(r"^ +flags=(\S+)", head, re.MULTILINE) or re.search(r"\bflags=(0x[0-9a-fA-F]+|[A-Z_|]+)", head)
    if found is None:
        return False
    if found[1].startswith("0x"):
        return bool(int(found[1], 16) & sum(_FLAGS.values()))
    return bool(_FLAGS.keys() & set(found[1].split("|")))
