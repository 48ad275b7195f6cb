"""Apps by the label that stands under their icon, in the phone's language."""

from __future__ import annotations

import pytest

from devices.errors import AmbiguousApp, PhoneGone, UnknownApp
from devices.inputs import OpenApp
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.scenario import Link, Moment
from tests.devices.adb.conftest import Bench


def tables_read(bench: Bench) -> int:
    return len(bench.virtual.journal.named("unzip"))


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("保险箱", "org.example.vault"),
        ("保险", "org.example.vault"),
        ("商店", "org.example.shop"),
        ("商 店", "org.example.shop"),
    ],
)
async def test_chinese_labels_on_a_chinese_phone(bench: Bench, name: str, package: str) -> None:
    """No table of usual names has these apps; the shop's Chinese texts are in a part of its own.

    Seen failing without `Labels`, and for the shop without the part of one language.
    """
    bench.virtual.state.locale = "zh-CN"
    done = await bench.phone.act(OpenApp(name), receipt="o")
    assert "is in front" in " ".join(done.notes)
    assert (await bench.phone.observe()).package == package
    read = tables_read(bench)
    assert read
    await bench.phone.act(OpenApp(name), receipt="o")
    assert tables_read(bench) == read, "what was read is remembered"


async def test_the_apps_own_language_is_understood_too(bench: Bench) -> None:
    bench.virtual.state.locale = "zh-Hans-CN"
    assert "保险箱" in " ".join((await bench.phone.act(OpenApp("保险箱"), receipt="o")).notes)
    assert "is in front" in " ".join((await bench.phone.act(OpenApp("Vault"), receipt="o")).notes)


async def test_labels_are_read_only_when_a_name_is_not_understood(bench: Bench) -> None:
    await bench.phone.act(OpenApp("Settings"), receipt="o")
    assert tables_read(bench) == 0
    with pytest.raises(UnknownApp, match="No installed app is called '保险箱'"):
        await bench.phone.act(OpenApp("保险箱"), receipt="o")
    assert tables_read(bench), "an English phone shows no Chinese labels"


async def test_another_language_is_another_label(bench: Bench) -> None:
    bench.virtual.state.locale = "zh-CN"
    await bench.phone.act(OpenApp("商店"), receipt="o")
    read = tables_read(bench)
    bench.virtual.state.locale = "en-US"
    with pytest.raises(UnknownApp):
        await bench.phone.act(OpenApp("商店"), receipt="o")
    assert tables_read(bench) > read


async def test_a_second_space_on_the_phone_hides_no_labels(bench: Bench) -> None:
    """A work profile, or Samsung's Secure Folder. Seen failing without `--user`: the whole list was refused."""
    bench.virtual.faults.set(two_users=True)
    bench.virtual.state.locale = "zh-CN"
    assert "商店" in " ".join((await bench.phone.act(OpenApp("商店"), receipt="o")).notes)


async def test_candidates_are_told_by_their_labels(bench: Bench) -> None:
    bench.virtual.state.locale = "zh-CN"
    with pytest.raises(UnknownApp, match=r"Near ones: .*商店"):
        await bench.phone.act(OpenApp("小商店吧"), receipt="o")
    with pytest.raises(AmbiguousApp, match="Several apps fit"):
        await bench.phone.act(OpenApp("example"), receipt="o")


async def test_a_cable_pulled_while_labels_are_read_sent_nothing(bench: Bench) -> None:
    bench.virtual.moments.add(Moment(after="unzip", before=True, then=Link(state=LinkState.GONE)))
    with pytest.raises(PhoneGone) as gone:
        await bench.phone.act(OpenApp("商店"), receipt="o")
    assert not gone.value.uncertain
    assert bench.virtual.journal.inputs() == []


async def test_a_phone_without_unzip_tells_no_labels(bench: Bench) -> None:
    """As on Android before 9."""
    bench.virtual.faults.set(no_unzip=True)
    bench.virtual.state.locale = "zh-CN"
    with pytest.raises(UnknownApp, match="Look for it in the launcher"):
        await bench.phone.act(OpenApp("商店"), receipt="o")
