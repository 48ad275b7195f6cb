"""A phone that cannot tell its settings: nothing is changed of which nothing could be kept, and what is kept stays."""

from __future__ import annotations

import pytest

from devices.adb.identity import identify
from devices.adb.input_commands import BROADCAST_KEYBOARD
from devices.adb.preparation import INPUT_METHOD, SCREEN_TIMEOUT, KeptSettings
from devices.adb.shell import Result, Shell, failure_in
from tests.devices.adb.conftest import Bench

FAILURES = {
    "broken pipe": "224|err|cmd: Failure calling service settings: Broken pipe (32)",
    "transaction": "2|err|cmd: Failure calling service settings: Failed transaction (2147483646)",
    "transaction on out": "0|out|Failure calling service settings: Failed transaction",
    "no service": "20|err|cmd: Can't find service: settings",
    "no service, as adb v1 tells": "0|out|cmd: Can't find service: settings",
    "no commands": "0|err|No shell command implementation.",
    "exception": "255|err|\nException occurred while executing 'get':\njava.lang.SecurityException: Permission Denial",
    "exception of old": "0|out|java.lang.SecurityException: Permission Denial: getCurrentUser() from pid=1, uid=2000",
    "dead": "0|out|android.os.DeadObjectException",
    "other user": "255|err|Security exception: Shell does not have permission to access user 10",
    "provider": "0|out|Error while accessing settings provider",
    "no program": "127|err|/system/bin/sh: settings: inaccessible or not found",
    "no program of old": "127|out|/system/bin/sh: settings: not found",
    "no right": "126|err|sh: /system/bin/settings: Permission denied",
    "killed": "137|err|Killed",
    "nothing and a code": "1|err|",
    "nothing at all": "0|err|",
}
"""What phones say in place of a value: adb's two protocols, Android 6 to 15, and makers who lock settings."""


@pytest.mark.parametrize("how", FAILURES)
async def test_what_cannot_be_read_is_not_changed(bench: Bench, how: str) -> None:
    """Seen failing with a failure read as "absent": the person's keyboard and the time of light were deleted."""
    before = {name: dict(values) for name, values in bench.virtual.state.settings.items()}
    bench.virtual.faults.set(fails=f"settings get|{FAILURES[how]}")
    await bench.phone.prepare()
    assert bench.virtual.state.settings == before
    bench.virtual.faults.set(fails="")
    await bench.phone.restore()
    assert bench.virtual.state.settings == before


@pytest.mark.parametrize("how", FAILURES)
async def test_what_was_changed_stays_kept_until_it_can_be_put_back(bench: Bench, how: str) -> None:
    """Seen failing with a failure read as "nothing is kept"."""
    before = {name: dict(values) for name, values in bench.virtual.state.settings.items()}
    await bench.phone.prepare()
    assert bench.virtual.state.settings != before
    bench.virtual.faults.set(fails=f"settings get|{FAILURES[how]}")
    await bench.phone.restore()
    assert "opengui_before_default_input_method" in bench.virtual.state.settings["global"]
    bench.virtual.faults.set(fails="")
    assert set((await identify(Shell(bench.connection))).kept or ()) == {
        "default_input_method", "screen_off_timeout", "stay_on_while_plugged_in",
    }  # fmt: skip
    assert await bench.phone.restore_leftovers()
    for table, values in before.items():
        now = bench.virtual.state.settings[table]
        assert {**now, "enabled_input_methods": ""} == {**values, "enabled_input_methods": ""}


@pytest.mark.parametrize("begin", ["settings put", "settings delete", "settings delete system", "ime set", "ime list"])
@pytest.mark.parametrize("how", ["broken pipe", "exception of old", "nothing and a code"])
async def test_a_person_s_own_value_outlives_a_restore_that_fails(bench: Bench, begin: str, how: str) -> None:
    """Seen failing for `settings delete system`: what was kept was deleted, and the time of light stayed."""
    bench.virtual.state.settings["system"].pop("screen_off_timeout", None)
    before = {name: dict(values) for name, values in bench.virtual.state.settings.items()}
    await bench.phone.prepare()
    assert bench.virtual.state.settings != before
    bench.virtual.faults.set(fails=f"{begin}|{FAILURES[how]}")
    await bench.phone.restore()
    bench.virtual.faults.set(fails="")
    await bench.phone.restore_leftovers()
    for table, values in before.items():
        now = bench.virtual.state.settings[table]
        assert {**now, "enabled_input_methods": ""} == {**values, "enabled_input_methods": ""}


async def test_nothing_is_changed_where_nothing_can_be_kept(bench: Bench) -> None:
    """Seen failing with the exit code alone: the value was not kept, and the setting was changed."""
    bench.virtual.faults.set(fails="settings put global opengui_before|0|err|No shell command implementation.")
    before = {name: dict(values) for name, values in bench.virtual.state.settings.items()}
    settings = KeptSettings(Shell(bench.connection))
    assert not await settings.change(SCREEN_TIMEOUT, "1800000")
    assert not await settings.change(INPUT_METHOD, BROADCAST_KEYBOARD)
    assert bench.virtual.state.settings == before


async def test_a_setting_that_is_absent_is_absent_again(bench: Bench) -> None:
    bench.virtual.state.settings["system"].pop("screen_off_timeout", None)
    settings = KeptSettings(Shell(bench.connection))
    assert await settings.change(SCREEN_TIMEOUT, "1800000")
    assert bench.virtual.state.settings["system"]["screen_off_timeout"] == "1800000"
    assert await settings.restore(SCREEN_TIMEOUT)
    assert "screen_off_timeout" not in bench.virtual.state.settings["system"]


@pytest.mark.parametrize("how", [each for each in FAILURES if each != "nothing at all"])
async def test_a_list_that_fails_is_no_empty_list(bench: Bench, how: str) -> None:
    """Seen failing with the lines of what is kept alone: such a phone was not mended at the next start."""
    shell = Shell(bench.connection)
    assert (await identify(shell)).kept == ()
    bench.virtual.faults.set(fails=f"settings list|{FAILURES[how]}")
    assert (await identify(shell)).kept is None


@pytest.mark.parametrize(
    "text",
    ["", "null\n", "600000\n", "com.example.errors/.ErrorKeyboard\n", "WARNING: linker: libx.so: unused DT entry\n42\n",
     "zh-Hans-CN\n", "Pixel 8 Error Edition\n", "package:android.error.Exception.app\n", "mInputShown=true\n"],
)  # fmt: skip
def test_an_answer_is_no_failure(text: str) -> None:
    assert failure_in(text) == ""
    assert Result(text, "", 0).failure == ""


@pytest.mark.parametrize("how", [each for each in FAILURES if each != "nothing at all"])
def test_a_failure_is_told_in_the_phone_s_own_words(how: str) -> None:
    code, _, text = FAILURES[how].split("|", 2)
    failure = Result("", text, int(code)).failure
    assert any(failure.startswith(line.strip()) for line in text.strip().splitlines() or ["exit code 1"])


@pytest.mark.parametrize("what", ["tap", "start", "put"])
def test_the_cause_is_told_and_not_how_it_begins(what: str) -> None:
    cause = "java.lang.IllegalArgumentException: Unknown display 7"
    told = f"\nException occurred while executing '{what}':\n{cause}\n\tat com.android.server.Any.run(Any.java:9)\n"
    assert Result("", told, 255).failure == cause
    assert Result("", f"Exception occurred while executing '{what}':\n", 255).failure
