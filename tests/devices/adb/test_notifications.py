"""What Android prints of notifications, as several versions and makers do; the words are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devices.adb.notifications import parse_notifications
from devices.notification import PhoneNotification

DUMPS = Path(__file__).parent / "dumps"
CHAT = "com.example.chat"


def told(name: str, package: str) -> tuple[PhoneNotification, ...]:
    return parse_notifications((DUMPS / f"{name}.txt").read_text(encoding="utf-8"), package)


def test_android_16_names_its_flags() -> None:
    summary, one = told("android16_messages", "com.google.android.apps.messaging")
    assert summary.lasting
    assert (one.title, one.text) == ("(650) 555-0100", "the parcel is here\npick it up (gate B)")
    assert (one.posted, round(one.age), one.lasting, one.reposted) == (1779530881264, 10, False, False)
    assert one.key == "0|com.google.android.apps.messaging|2|com.google.android.apps.messaging:incoming_message:3|10154"


def test_samsung_prints_dates_behind_times_and_no_when() -> None:
    (one,) = told("android9_samsung", "com.towneers.www")
    assert (one.title, one.text) == ("샤넬가방 키워드 알림", "클래식 미디움 정품, 오늘 거래 가능")
    assert (one.posted, round(one.age), one.lasting) == (1787790428131, 72, False)


def test_the_public_version_the_archive_and_progress_are_told_apart() -> None:
    chat, download = told("android13_miui", "com.tencent.mm")
    assert (chat.title, chat.text, chat.lasting) == ("小明", "[2条]小明: 快递到了，在门口", False)
    assert round(chat.age) == 44
    assert download.lasting


def test_a_package_is_the_whole_name() -> None:
    """The phone's own filter takes a part of one."""
    assert told("android13_miui", "com.tencent") == ()


@pytest.mark.parametrize("told", ["", "@@clock\n\n@@records\n", "@@uptime\n@@clock\nnever\n@@keys\n@@records\n x"])
def test_what_is_not_whole_is_nothing(told: str) -> None:
    assert parse_notifications(told, CHAT) == ()


FORGED = """nothing)
            }}
      publicNotification=
            None
      mUpdateTimeMs=1779530890000
    NotificationRecord(0x0: pkg=com.example.chat user=UserHandle{{0}} id=9 tag=null key={key}: Notification())
      flags=0x10
      key={key}
      notification=
            extras={{
                android.title=String (Boss)
                android.text=String (wire the money"""


def dump(text: str, keys: str, ticker: str = "null") -> str:
    return f"""@@uptime
90000.0 1.0
@@clock
1779530895
@@keys
{keys}
@@records
  Notification List:
    NotificationRecord(0x1: pkg=com.example.chat user=UserHandle{{0}} id=1: Notification(flags=0x10))
      flags=0x10
      key=0|com.example.chat|1|null|10101
      notification=
            when=1779530890000
            tickerText={ticker}
            extras={{
                android.text=String ({text})
                android.title=String (Eve)
            }}
      publicNotification=
            None
      mCreationTimeMs=1779530890000
      mUpdateTimeMs=1779530890000
"""


@pytest.mark.parametrize("key", ["0|com.example.chat|9|null|10101", "0|com.example.chat|1|null|10101"])
def test_a_message_cannot_pass_for_a_notification_of_somebody_else(key: str) -> None:
    """Seen failing (it is read) with `known` and `count` not asked in `parse_notifications`."""
    found = parse_notifications(dump(FORGED.format(key=key), "0|com.example.chat|1|null|10101"), CHAT)
    assert [one for one in found if "wire the money" in one.text] == []


def test_a_sender_that_is_written_into_the_message_leaves_it_without_one() -> None:
    """Seen failing ("Boss") where the first title counts."""
    words = "hello)\n                android.title=String (Boss"
    (one,) = parse_notifications(dump(words, "0|com.example.chat|1|null|10101"), CHAT)
    assert (one.title, one.text) == ("", "hello")


def test_what_is_told_of_another_day_is_no_news() -> None:
    old = dump("hello", "0|com.example.chat|1|null|10101").replace("when=1779530890000", "when=1779198318544")
    (one,) = parse_notifications(old, CHAT)
    assert one.reposted


def test_what_comes_while_the_phone_starts_is_no_news() -> None:
    starting = dump("hello", "0|com.example.chat|1|null|10101").replace("90000.0 1.0", "61.0 1.0")
    (one,) = parse_notifications(starting, CHAT)
    assert one.reposted


MARKS = """hi
            extras={
                android.title=String (Mum)
                android.text=String (open the door)
                android.x=
      publicNotification="""
OPENED = """hi
   extras={
                android.bigText=String (open the door)
                android.title=String (Mum)
            }"""
CLOSED = """hi
      publicNotification="""


@pytest.mark.parametrize("words", [MARKS, OPENED, CLOSED])
def test_the_words_of_a_message_cannot_pass_for_what_an_app_says(words: str) -> None:
    """Seen failing (Mum says "open the door") with the first marks taken, wherever they are."""
    key = "0|com.example.chat|1|null|10101"
    for told in (dump(words, key, words), dump("hi", key, words)):
        assert parse_notifications(told, CHAT) == ()
    assert [one for one in parse_notifications(dump(words, key), CHAT) if one.title == "Mum"] == []
    assert [one.title for one in parse_notifications(dump("extras={ publicNotification=", key), CHAT)] == ["Eve"]


def test_the_ticker_of_an_old_phone_cannot_pass_for_what_an_app_says() -> None:
    """It prints no public version: seen failing with `notification=` not looked for."""
    old = (DUMPS / "android9_samsung.txt").read_text(encoding="utf-8")
    forged = old.replace("      extras={", f"      tickerText={MARKS}\n      extras={{", 1)
    assert forged != old
    assert parse_notifications(forged, "com.towneers.www") == ()


@pytest.mark.parametrize(
    "heading", ["mArchive=", "  mArchive=", "Snoozed notifications:", "Enqueued Notification List:"]
)
@pytest.mark.parametrize("archive", ["", "  mArchive=Archive (0 notifications)\n"])
def test_a_heading_in_a_message_hides_no_other(heading: str, archive: str) -> None:
    """Seen failing with the list cut at the first heading."""
    keys = "0|com.example.chat|1|null|10101\n0|com.example.chat|2|null|10101"
    first = dump(f"hi\n{heading}", keys)
    second = dump("later", "").partition("  Notification List:\n")[2].replace("chat|1|", "chat|2|")
    found = parse_notifications(first + second + archive, CHAT)
    assert [one.text for one in found][-1:] == ["later"]


def test_what_has_gone_does_not_make_what_is_shown_double() -> None:
    whole = dump("new", "0|com.example.chat|1|null|10101")
    gone = dump("old", "").partition("  Notification List:\n")[2]
    found = parse_notifications(whole + "  mArchive=Archive (1 notifications)\n" + gone, CHAT)
    assert [one.text for one in found] == ["new"]


VICTIM, ATTACKER = "0|com.example.chat|2|null|10101", "0|com.example.chat|1|null|10101"
LINES = sorted({line for file in DUMPS.glob("*.txt") for line in file.read_text(encoding="utf-8").splitlines()})
STRUCTURE = [
    *LINES,
    *FORGED.format(key="0|com.example.chat|9|null|10101").splitlines(),
    *FORGED.format(key=ATTACKER).splitlines(),
    *MARKS.splitlines(),
    *(f"{blanks}{heading}" for blanks in ("", "  ", "    ") for heading in ("mArchive=", "Notification List:")),
    "  Enqueued Notification List:",
    "  Snoozed notifications:",
    "@@keys",
    "@@records",
    "@@clock",
    "   android.title=String (Mum)",
    "   android.text=String (open the door)",
    "      mCreationTimeMs=1",
    "      mUpdateTimeMs=9999999999999",
    "            flags=0x40",
]
POISON = st.lists(st.sampled_from(STRUCTURE) | st.text(max_size=20), max_size=12).map("\n".join)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=POISON, title=POISON, ticker=POISON, is_first=st.booleans(), archive=st.sampled_from(["", "one", "none"]))
def test_no_words_of_a_message_hide_another_or_speak_for_somebody_else(
    text: str, title: str, ticker: str, *, is_first: bool, archive: str
) -> None:
    """Whatever structure of a dump they hold. Seen failing with the list cut at the first heading, with the first title
    taken, and with the keys not asked.
    """
    keys = f"{ATTACKER}\n{VICTIM}"
    head = dump("x", keys).partition("    NotificationRecord(")[0]
    evil = dump(text, keys, ticker).replace("String (Eve)", f"String (Eve{title})").removeprefix(head)
    good = dump("the parcel is here", keys).removeprefix(head).replace("chat|1|", "chat|2|").replace("(Eve)", "(Bob)")
    gone = dump("old", keys).removeprefix(head).replace("chat|1|", "chat|7|") if archive == "one" else ""
    end = f"  mArchive=Archive ({bool(gone):d} notifications)\n{gone}" if archive else ""
    found = parse_notifications(head + (evil + good if is_first else good + evil) + end, CHAT)
    assert [(one.title, one.text) for one in found if one.key == VICTIM] == [("Bob", "the parcel is here")]
    for one in found:
        assert one.key in {ATTACKER, VICTIM}
        if one.key == ATTACKER:
            assert one.title == "" or one.title.startswith("Eve")
