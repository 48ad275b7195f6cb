import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.adb.app_names import App, choose
from devices.adb.apps import launch_command, parse_activities, refusal, view_command
from devices.adb.shell import Result
from devices.errors import AmbiguousApp, InputRejected, UnknownApp

SETTINGS = App("com.android.settings", "com.android.settings.Settings")
CLOCK = App("com.google.android.deskclock", "com.android.deskclock.DeskClock")
NOTES = App("org.example.notes", ".Main", "My Notes")
CHROME = App("com.android.chrome", "com.google.android.apps.chrome.Main")
FIREFOX = App("org.mozilla.firefox", "org.mozilla.firefox.App")
WECHAT = App("com.tencent.mm", "com.tencent.mm.ui.LauncherUI")
APPS = (SETTINGS, CLOCK, NOTES, CHROME, FIREFOX, WECHAT)


@pytest.mark.parametrize(
    ("name", "app"),
    [
        ("com.android.settings", SETTINGS),
        ("settings", SETTINGS),
        ("SETTINGS ", SETTINGS),
        ("设置", SETTINGS),
        ("Clock", CLOCK),
        ("deskclock", CLOCK),
        ("my notes", NOTES),
        ("notes", NOTES),
        ("Setings", SETTINGS),
        ("微信", WECHAT),
        ("Fire Fox", FIREFOX),
        ("work chat", WECHAT),
    ],
)
def test_names(name: str, app: App) -> None:
    assert choose(name, APPS, {"Work Chat": "com.tencent.mm"}) == app


def test_the_phones_own_label_comes_before_the_table() -> None:
    own = App("org.other", ".A", "Settings")
    assert choose("Settings", (*APPS, own), {}) == own


def test_several_that_fit_are_named() -> None:
    with pytest.raises(AmbiguousApp, match=r"com\.android\.chrome, org\.mozilla\.firefox"):
        choose("browser", APPS, {})


def test_near_ones_are_named() -> None:
    with pytest.raises(UnknownApp, match="My Notes"):
        choose("My Motors", APPS, {})
    with pytest.raises(UnknownApp, match="launcher"):
        choose("zzzzqqqq", APPS, {})
    with pytest.raises(UnknownApp, match="No app was named"):
        choose(" ! ", APPS, {})


@given(st.text(max_size=40))
def test_any_name_gives_an_app_or_a_reason(name: str) -> None:
    try:
        assert choose(name, APPS, {}) in APPS
    except (UnknownApp, AmbiguousApp) as reason:
        message = str(reason)
    else:
        message = "found"
    assert message


QUERY = """3 activities found:
  Activity #0:
      name=com.android.settings.Settings
      packageName=com.android.settings
      labelRes=0x7f120e8b nonLocalizedLabel=null icon=0x7f08 banner=0x0
        packageName=com.android.settings
        labelRes=0x7f120e8b nonLocalizedLabel=null icon=0x7f08 banner=0x0
  Activity #1:
      name=org.example.notes.Main
      packageName=org.example.notes
      labelRes=0x0 nonLocalizedLabel=My Notes icon=0x7f080000 banner=0x0
        packageName=org.example.notes
  Activity #2:
      name=org.example.notes.Second
      packageName=org.example.notes
"""


def test_the_launchers_list() -> None:
    assert parse_activities(QUERY) == (
        replace(SETTINGS, resource=0x7F120E8B),
        App("org.example.notes", "org.example.notes.Main", "My Notes"),
    )
    assert parse_activities("No activities found") == ()


def test_how_an_app_is_opened() -> None:
    assert shlex.split(launch_command(SETTINGS))[-1] == "com.android.settings/com.android.settings.Settings"
    assert launch_command(App("a.b")) == "monkey -p a.b -c android.intent.category.LAUNCHER 1"


@pytest.mark.parametrize(
    ("url", "opened"),
    [
        ("https://example.com/a?b=c&d='e", "https://example.com/a?b=c&d='e"),
        ("example.com", "https://example.com"),
        ("localhost:8080/x", "https://localhost:8080/x"),
        (" geo:1,2 ", "geo:1,2"),
    ],
)
def test_how_an_address_is_opened(url: str, opened: str) -> None:
    assert shlex.split(view_command(url)) == ["am", "start", "-a", "android.intent.action.VIEW", "-d", opened]


@pytest.mark.parametrize(
    "url",
    ["intent://x#Intent;end", "file:///sdcard/a", "content://sms", "javascript:alert(1)", "https://a b", "https://a\n"],
)
def test_addresses_that_can_do_more_than_show_are_refused(url: str) -> None:
    """Seen failing with the check of the scheme removed from `view_command`."""
    if url.endswith("\n"):
        url += "x"
    with pytest.raises(InputRejected):
        view_command(url)


@pytest.mark.parametrize(
    ("result", "refused"),
    [
        (Result("Starting: Intent { cmp=a/.B }\n", "", 0), ""),
        (
            Result("Starting: Intent { }\n", "Warning: Activity not started, its current task was brought to front", 0),
            "",
        ),
        (
            Result("Starting: Intent { }\nError type 3\nError: Activity class {a/b} does not exist.\n", "", 0),
            "Error: Activity class {a/b} does not exist.",
        ),
        (
            Result("** No activities found to run, monkey aborted.\n", "", 0),
            "** No activities found to run, monkey aborted.",
        ),
        (Result("", "Error type 3\n", 1), "Error type 3"),
        (Result("", "", 252), "exit code 252"),
        (
            Result(
                "",
                "Exception occurred while executing 'start':\njava.lang.SecurityException: Permission Denial: a\n",
                255,
            ),
            "java.lang.SecurityException: Permission Denial: a",
        ),
        (
            Result("", "Warning: Activity not started because the current activity is being kept for the user.\n", 0),
            "Warning: Activity not started because the current activity is being kept for the user.",
        ),
        (Result("", "Warning: Activity not started, its current task has been brought to the front\n", 0), ""),
    ],
)
def test_what_am_and_monkey_say(result: Result, refused: str) -> None:
    assert refusal(result) == refused
