from __future__ import annotations

import asyncio
import base64
import io
import re
import xml.etree.ElementTree as ET

import adbutils
import pytest
from PIL import Image

from tests.devices.virtual_phone.conftest import Hands

ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
LATIN = "com.android.inputmethod.latin/.LatinIME"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("wm size", "Physical size: 1080x2400\n"),
        ("wm density", "Physical density: 420\n"),
        ("getprop ro.serialno", "VIRTUAL0001\n"),
        ("getprop ro.product.model", "Virtual Phone\n"),
        ("getprop ro.build.version.release", "14\n"),
        ("getprop persist.sys.locale", "en-US\n"),
        ("getprop no.such.thing", "\n"),
        ("settings get secure no_such_thing", "null\n"),
        ("settings put global x 1; settings get global x; settings delete global x", "1\nDeleted 1 rows\n"),
        ("am get-current-user", "0\n"),
        ("ime list -s", f"{LATIN}\n"),
        ("ime list -a -s", f"{LATIN}\n{ADB_KEYBOARD}\n"),
        ("pm list packages notes", "package:org.example.notes\n"),
        ("cmd uimode night", "Night mode: no\n"),
        ("svc wifi disable; settings get global wifi_on", "0\n"),
        ("cmd package resolve-activity --brief -c android.intent.category.HOME", None),
        ("dumpsys SurfaceFlinger --display-id", None),
        ("dumpsys -l | grep -i input_method", "  input_method\n"),
        (
            "mkdir -p /sdcard/a; echo x > /sdcard/a/b; mv /sdcard/a/b /sdcard/a/c; ls /sdcard/a; cat /sdcard/a/c",
            "c\nx\n",
        ),
        ("echo x > /sdcard/f; mv /sdcard/f /sdcard/Download; cat /sdcard/Download/f; ls -l /sdcard/Download", None),
        ("rm -rf /sdcard/a; ls /sdcard", "DCIM\nDocuments\nDownload\nPictures\n"),
        ("echo -n x | cat", "x"),
    ],
)
async def test_answers_as_android_gives_them(hands: Hands, line: str, expected: str | None) -> None:
    out = await hands.out(line)
    assert out == expected if expected is not None else out


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("cat /sdcard/none", 1, "cat: /sdcard/none: No such file or directory\n"),
        ("ls /nowhere", 1, "ls: /nowhere: No such file or directory\n"),
        ("rm /sdcard/none", 1, "rm: /sdcard/none: No such file or directory\n"),
        ("rm -f /system/bin/sh", 1, "rm: /system/bin/sh: Permission denied\n"),
        ("mkdir /sdcard/Download", 1, "mkdir: '/sdcard/Download': File exists\n"),
        ("mv /sdcard/none /sdcard/x", 1, "mv: bad '/sdcard/none': No such file or directory\n"),
        ("am start -n org.example.none/.Main", 1, "does not exist.\n"),
        ("am start -a android.intent.action.VIEW -d tel:1", 1, "unable to resolve Intent"),
        ("ime set org.none/.Ime", 255, "Unknown input method org.none/.Ime cannot be selected for user #0\n"),
        ("input swipe 1 2", 255, "IllegalArgumentException"),
        ("input tap one two", 255, "IllegalArgumentException"),
        ("input keyevent NONSENSE", 255, "Unknown keycode: NONSENSE"),
        ("input dance", 255, "Unknown command: dance"),
        ("settings get nowhere x", 255, "Invalid namespace 'nowhere'"),
        ("settings frob global", 255, "Invalid command: frob"),
        ("settings get global", 255, "Bad arguments"),
        ("setprop ro.x 1", 1, "Failed to set property"),
        ("wm frob", 255, "Unknown command"),
        ("pm frob", 255, "Unknown command: frob"),
        ("svc frob", 1, "Available commands"),
        ("cmd frob", 20, "cmd: Can't find service: frob\n"),
        ("uiautomator runtest", 1, "Unsupported command"),
        ("dumpsys frob", 0, "Can't find service: frob\n"),
        ("su -c id", 127, "/system/bin/sh: su: inaccessible or not found\n"),
    ],
)
async def test_failures_as_android_gives_them(hands: Hands, line: str, code: int, message: str) -> None:
    given, _out, err = await hands.shell(line)
    assert given == code
    assert message in err


async def test_text_without_keys_fails_with_androids_own_trace(hands: Hands) -> None:
    await hands.tap("Account")
    await hands.tap("user_name")
    code, _out, err = await hands.shell("input text 你好")
    assert code == 255
    assert "java.lang.NullPointerException: Attempt to get length of null array" in err
    assert hands.truth().fields == {}


async def test_the_adb_keyboard_types_chinese_only_while_it_is_current(hands: Hands) -> None:
    await hands.tap("Account")
    await hands.tap("user_name")
    send = f"am broadcast -a ADB_INPUT_B64 --es msg {base64.b64encode('你好'.encode()).decode()}"
    assert "Broadcast completed: result=0" in await hands.out(send)
    assert hands.truth().fields == {}
    assert (await hands.shell(f"ime set {ADB_KEYBOARD}"))[0] == 255, "not enabled yet"
    await hands.out(f"ime enable {ADB_KEYBOARD}; ime set {ADB_KEYBOARD}")
    await hands.out(send)
    assert hands.truth().fields == {"user_name": "你好"}
    assert "你好" in await hands.texts()
    await hands.out("am broadcast -a ADB_CLEAR_TEXT; am broadcast -a ADB_INPUT_TEXT --es msg 'a b'")
    assert hands.truth().fields == {"user_name": "a b"}
    await hands.out("am broadcast -a ADB_INPUT_CODE --ei code 67; am broadcast -a ADB_EDITOR_CODE --ei code 2")
    assert hands.truth().page == "code"
    await hands.out(f"ime disable {ADB_KEYBOARD}")
    assert hands.truth().input_method == LATIN
    await hands.out("ime reset")


async def test_editing_keys(hands: Hands) -> None:
    await hands.tap("Account")
    await hands.tap("user_name")
    await hands.out("input text abcd; input keyevent MOVE_HOME; input keyevent FORWARD_DEL; input keyevent 22")
    await hands.out("input keyevent DEL; input text X; input keyevent MOVE_END DPAD_LEFT SPACE KEYCODE_Z 8")
    assert hands.truth().fields == {"user_name": "Xc z1d"}
    await hands.out("input keycombination 113 29; input keyevent DEL")
    assert hands.truth().fields == {"user_name": ""}


async def test_dumpsys_tells_focus_lock_keyboard_power_and_battery(hands: Hands) -> None:
    launcher = "com.android.launcher3/com.android.launcher3.uioverrides.QuickstepLauncher"
    focus = rf"mCurrentFocus=Window\{{[0-9a-f]+ u0 {re.escape(launcher)}\}}"
    assert re.search(focus, await hands.out("dumpsys window displays"))
    assert "mCurrentFocus" not in await hands.out("dumpsys window windows")
    await hands.tap("Account")
    await hands.tap("user_name")
    everything = await hands.out("dumpsys window; dumpsys activity activities; dumpsys input_method; dumpsys power")
    assert "u0 org.example.account/org.example.account.SignInActivity}" in everything
    assert re.search(r"topResumedActivity=ActivityRecord\{\w+ u0 org.example.account/.SignInActivity t", everything)
    assert "mInputShown=true" in everything
    assert "mWakefulness=Awake" in everything
    assert "ACTIVITY org.example.account/.SignInActivity" in await hands.out("dumpsys activity top")
    assert "level: 87" in await hands.out("dumpsys battery")
    assert "versionName=1.0" in await hands.out("dumpsys package org.example.notes")
    assert "Unable to find package" in await hands.out("dumpsys package org.none")
    assert "String (Alice)" in await hands.out("dumpsys notification --noredact")
    hands.phone.windows.lock("1234")
    hands.phone.windows.sleep()
    asleep = await hands.out("dumpsys window; dumpsys power; dumpsys input_method")
    for line in ("mDreamingLockscreen=true", "showing=true", "mWakefulness=Asleep", "mInputShown=false"):
        assert line in asleep
    _code, _out, err = await hands.shell("uiautomator dump /dev/tty")
    assert "null root node" in err


async def test_apps_start_by_name_and_address(hands: Hands) -> None:
    started = await hands.out("am start -n com.android.settings/.Settings")
    assert started == "Starting: Intent { cmp=com.android.settings/.Settings }\n"
    assert hands.truth().app == "settings"
    await hands.out("am start -a android.settings.DISPLAY_SETTINGS")
    assert hands.truth().page == "display"
    await hands.out("am start -a android.intent.action.VIEW -d 'https://example.org/a?b=c&d=e'")
    assert hands.truth().urls == ("https://example.org/a?b=c&d=e",)
    await hands.out("am force-stop com.android.browser")
    assert hands.truth().app == "launcher"
    await hands.out("am start -a android.intent.action.MAIN -c android.intent.category.HOME")
    code, out, _err = await hands.shell("monkey -p org.example.notes -c android.intent.category.LAUNCHER 1")
    assert (code, "Events injected: 1" in out) == (0, True)
    assert hands.truth().app == "notes"
    code, out, _err = await hands.shell("monkey -p org.none -c android.intent.category.LAUNCHER 1")
    assert code == 252
    assert "** No activities found to run, monkey aborted." in out


async def test_launchable_activities_in_all_three_forms(hands: Hands) -> None:
    query = "cmd package query-activities {} -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
    assert "org.example.shop/.ShopActivity" in (await hands.out(query.format("--components"))).splitlines()
    assert (await hands.out(query.format("--brief"))).startswith("10 activities found:\n  priority=0")
    long = await hands.out(query.format(""))
    assert "packageName=org.example.shop" in long
    assert "nonLocalizedLabel=null" in long
    resolved = await hands.out(
        "cmd package resolve-activity --brief -c android.intent.category.LAUNCHER org.example.shop"
    )
    assert resolved.splitlines()[1] == "org.example.shop/.ShopActivity"
    assert await hands.out("cmd package resolve-activity --brief org.none") == "No activity found\n"
    assert await hands.out("pm path org.example.shop")
    assert "com.android.settings" not in await hands.out("pm list packages -3")


async def test_pictures_are_the_same_in_both_forms_and_sizes_follow_rotation(hands: Hands) -> None:
    async def both() -> tuple[Image.Image, Image.Image]:
        _code, raw, _err = await hands.adb.run("-s", hands.phone.address, "exec-out", "screencap")
        _code, png, _err = await hands.adb.run("-s", hands.phone.address, "exec-out", "screencap -p")
        size = (int.from_bytes(raw[:4], "little"), int.from_bytes(raw[4:8], "little"))
        return Image.frombytes("RGBA", size, raw[16:]).convert("RGB"), Image.open(io.BytesIO(png)).convert("RGB")

    raw, png = await both()
    assert raw.size == (1080, 2400)
    assert raw.tobytes() == png.tobytes()
    assert await hands.phone.frame() is await hands.phone.frame(), "an unchanged screen is encoded once"
    hands.phone.rotate(1)
    raw, png = await both()
    assert raw.size == png.size == (2400, 1080)
    assert "orientation=1" in await hands.out("dumpsys display")
    assert 'rotation="1"' in await hands.out("uiautomator dump /dev/tty")
    await hands.out("screencap /sdcard/s.png; uiautomator dump")
    saved = hands.phone.files.read("/sdcard/s.png")
    assert saved
    assert saved.startswith(b"\x89PNG")
    assert hands.phone.files.read("/sdcard/window_dump.xml")


async def test_the_whole_tree_has_more_nodes_than_the_compressed_one(hands: Hands) -> None:
    await hands.tap("Settings")
    whole = await hands.out("uiautomator dump /dev/tty")
    short = await hands.out("uiautomator dump --compressed /dev/tty")
    assert whole.endswith("UI hierchary dumped to: /dev/tty\n")
    count = [len(list(ET.fromstring(text.rpartition("UI hier")[0].encode()).iter("node"))) for text in (whole, short)]
    assert count[0] > count[1] > 10


async def test_touch_events_make_taps_long_presses_and_swipes(hands: Hands) -> None:
    clock = next(node for node in await hands.nodes() if node["text"] == "Clock")
    left, top, right, bottom = map(int, re.findall(r"\d+", clock["bounds"]))
    x, y = (left + right) // 2, (top + bottom) // 2
    await hands.out(f"input touchscreen swipe {x} {y} {x} {y} 900")
    assert hands.truth().app == "launcher", "a long press is no tap"
    await hands.out(f"input motionevent DOWN {x} {y}; input motionevent UP {x} {y}")
    assert hands.truth().app == "clock"
    await hands.out(f"input motionevent DOWN {x} {y}; input motionevent CANCEL {x} {y}; input motionevent UP {x} {y}")


async def test_adbutils_calls_work(hands: Hands) -> None:
    def use() -> tuple[object, ...]:
        device = adbutils.AdbClient(hands.adb.host, hands.adb.port).device(hands.phone.address)
        device.click(540, 2350)
        device.app_start("org.example.notes")
        return (
            device.window_size(),
            device.app_current().package,
            device.screenshot(error_ok=False).size,
            device.dump_hierarchy(),
        )

    size, package, picture, tree = await asyncio.to_thread(use)
    assert tuple(size) == picture == (1080, 2400)  # type: ignore[arg-type]  # adbutils has no types
    assert package == "org.example.notes"
    assert "Groceries" in str(tree)


async def test_the_phone_may_go_back_to_its_own_keyboard(hands: Hands) -> None:
    await hands.out(f"ime enable {ADB_KEYBOARD}; ime set {ADB_KEYBOARD}")
    hands.phone.faults.set(reset_keyboard=True)
    await hands.tap("Account")
    await hands.tap("user_name")
    assert hands.truth().input_method == LATIN


async def test_somebody_can_wait_for_a_command(hands: Hands) -> None:
    waiting = asyncio.create_task(hands.phone.journal.wait_for(lambda entry: entry.name == "id"))
    await hands.out("echo first; id")
    assert (await waiting).argv == ("id",)
    assert (await hands.phone.journal.wait_for(lambda entry: entry.name == "echo")).number == 1
    await hands.out("input keyevent HOME; wm size")
    assert [entry.name for entry in hands.phone.journal.inputs()] == ["input"]
    with pytest.raises(TimeoutError):
        await hands.phone.journal.wait_for(lambda entry: entry.name == "reboot", timeout=0.01)


@pytest.mark.parametrize("page", ["display", "notifications", "storage", "sound", "about"])
async def test_every_page_of_settings_can_be_drawn(hands: Hands, page: str) -> None:
    hands.phone.windows.show("settings", page)
    assert len(await hands.texts()) > 3
    assert (await hands.phone.frame()).png


async def test_small_programs_for_files(hands: Hands) -> None:
    hands.phone.files.write("/sdcard/a", b"1\n2\n3\n", modified=77)
    assert await hands.out("head -n 2 /sdcard/a; head -c1 /sdcard/a; cat /sdcard/a | head -n1") == "1\n2\n11\n"
    assert await hands.out("stat -c '%s %n %Y %F' /sdcard/a") == "6 /sdcard/a 77 regular file\n"
    assert "Size: 4096\t directory" in await hands.out("stat /sdcard/Download")
    await hands.out("cp /sdcard/a /sdcard/Download; touch /sdcard/b")
    assert hands.phone.files.read("/sdcard/Download/a") == b"1\n2\n3\n"
    assert hands.phone.files.read("/sdcard/b") == b""
    assert " 42% /storage/emulated" in await hands.out("df -h")
    for line, said in (
        ("head -n x", "head: not integer: x\n"),
        ("head /sdcard/none", "head: /sdcard/none: No such file or directory\n"),
        ("stat /sdcard/none", "stat: '/sdcard/none': No such file or directory\n"),
        ("cp /sdcard/a", "cp: Needs 2 arguments\n"),
        ("cp /sdcard/none /sdcard/x", "cp: bad '/sdcard/none': No such file or directory\n"),
    ):
        assert await hands.shell(line) == (1, "", said)


async def test_date_processes_and_language(hands: Hands) -> None:
    assert await hands.out("date +%Y-%m-%d; date") == "2026-11-21\nSat Nov 21 12:00:00 UTC 2026\n"
    assert await hands.shell("date 1") == (1, "", "date: bad date '1'\n")
    await hands.tap("Shop")
    assert "org.example.shop\n" in await hands.out("ps -A")
    assert "org.example.shop" not in await hands.out("ps")
    await hands.out("setprop persist.sys.locale zh-CN")
    assert await hands.out("settings get system system_locales; getprop persist.sys.locale") == "zh-CN\nzh-CN\n"
    assert "system_locales=zh-CN" in await hands.out("settings list system")
    await hands.out("settings put system user_rotation 1")
    assert "system_locales" not in hands.phone.state.settings["system"]


async def test_another_size_and_density(hands: Hands) -> None:
    assert await hands.out("wm size 720x1600; wm density 280") == ""
    assert await hands.out("wm size; wm density") == (
        "Physical size: 1080x2400\nOverride size: 720x1600\nPhysical density: 420\nOverride density: 280\n"
    )
    assert (await hands.phone.frame()).image.size == (720, 1600)
    assert "cur=720x1600" in await hands.out("dumpsys window displays")
    assert await hands.out("wm size reset; wm density reset; wm size; wm density") == (
        "Physical size: 1080x2400\nPhysical density: 420\n"
    )
    assert (await hands.shell("wm size small"))[0] == 255
