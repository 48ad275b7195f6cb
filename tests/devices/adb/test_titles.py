"""What people read for the app in front: its label, without any step waiting for it."""

from __future__ import annotations

import asyncio

import pytest

from devices.inputs import Key, OpenApp, PressKey
from devices.names import readable
from tests.devices.adb.conftest import Bench

PATIENCE = 10.0


async def told(bench: Bench, name: str) -> None:
    """Look until the app in front is called so."""
    async with asyncio.timeout(PATIENCE):
        while (await bench.phone.observe()).app_name != name:
            pass


async def test_an_app_is_called_by_its_label_in_the_phones_language_and_again_when_that_changes(bench: Bench) -> None:
    """Seen failing without `AppTitles.met`."""
    bench.virtual.state.locale = "zh-CN"
    await bench.phone.prepare()
    await bench.phone.act(OpenApp("com.android.settings"), receipt="a")
    await told(bench, "设置")
    await bench.phone.act(OpenApp("org.example.shop"), receipt="b")
    await told(bench, "商店")
    assert (bench.phone.info.app, bench.phone.info.app_name) == ("org.example.shop", "商店")
    await bench.phone.restore()
    bench.virtual.state.locale = "en-US"
    await bench.phone.prepare()
    await told(bench, "Shop")
    await bench.phone.restore()


async def test_nothing_is_asked_outside_of_a_run_and_a_readable_name_stands_in(bench: Bench) -> None:
    await bench.phone.act(OpenApp("org.example.vault"), receipt="a")
    asked = len(bench.virtual.journal.named("getprop"))
    assert (await bench.phone.observe()).app_name == "Vault"
    assert len(bench.virtual.journal.named("getprop")) == asked
    await bench.phone.act(PressKey(Key.HOME), receipt="b")
    assert "." not in (await bench.phone.observe()).app_name


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("com.android.browser", "Browser"),
        ("com.android.launcher3", "Launcher"),
        ("org.mozilla.firefox_beta", "Firefox beta"),
        ("com.zhihu.android", "Zhihu"),
        ("android", "Android"),
        ("com.example.app", "Example"),
        ("a.b.42", "A.b.42"),
        ("", ""),
    ],
)
def test_readable_names(package: str, name: str) -> None:
    assert readable(package) == name
