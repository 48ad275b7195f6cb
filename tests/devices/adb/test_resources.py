"""Tables of resources: one that Google's aapt2 made, those of the virtual phone's apps, and broken ones."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import uiautomator2
from hypothesis import given
from hypothesis import strategies as st

from devices.adb.app_names import Locale, NotATable, best, texts
from devices.virtual_phone.shell.commands.packages import LABEL, table_of

APK = Path(uiautomator2.__file__).parent / "assets" / "app-uiautomator.apk"
NAVIGATE_UP = 0x7F0C0001
"""`abc_action_bar_up_description` of Android's support library, in 85 languages."""
MADE_HERE = table_of("org.example.notes", {"": "Notes", "zh": "便签", "de": "Notizen"})


@pytest.fixture(scope="module")
def real() -> bytes:
    with zipfile.ZipFile(APK) as archive:
        return archive.read("resources.arsc")


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("en-US", "Navigate up"),
        ("de-AT", "Nach oben"),
        ("zh-CN", "转到上一层级"),
        ("zh-Hans-CN", "转到上一层级"),
        ("zh-Hans-SG", "转到上一层级"),
        ("zh-TW", "瀏覽首頁"),
        ("zh-Hant-MO", "瀏覽"),
        ("zh", "转到上一层级"),
        ("tlh", "Navigate up"),
        ("", "Navigate up"),
        ("de-DE,en-US", "Nach oben"),
    ],
)
def test_a_real_table_in_the_phones_language(real: bytes, locale: str, text: str) -> None:
    """The texts were read with another program (pyaxmlparser 0.3.31)."""
    found = best(texts(real, NAVIGATE_UP), locale)
    assert found == text or (text.startswith("瀏覽") and "瀏覽" in found)


def test_a_resource_that_is_not_there(real: bytes) -> None:
    assert texts(real, 0x7F0CFFFF) == {}
    assert texts(real, 0x01040001) == {}
    assert texts(real, 0x7F7F0000) == {}
    assert best({}, "en") == ""


def test_a_label_that_refers_to_another_text() -> None:
    assert texts(MADE_HERE, LABEL) == {
        Locale(): "Notes",
        Locale("zh", "Hans"): "便签",
        Locale("de"): "Notizen",
    }


def test_a_language_of_another_script_is_not_shown() -> None:
    only = {Locale.parse("zh-TW"): "便箋"}
    assert best(only, "zh-CN") == ""
    assert best({**only, Locale(): "Notes"}, "zh-CN") == "Notes"


@given(st.integers(0, len(MADE_HERE)), st.binary(max_size=12))
def test_a_broken_table_is_told_or_read_and_ends(at: int, bytes_there: bytes) -> None:
    broken = MADE_HERE[:at] + bytes_there + MADE_HERE[at + len(bytes_there) :]
    try:
        found = texts(broken, LABEL)
    except NotATable:
        return
    assert len(found) <= 8


@given(st.binary(max_size=400))
def test_what_is_no_table(data: bytes) -> None:
    try:
        assert texts(b"\x02\x00\x0c\x00" + data, LABEL) == {}
    except NotATable:
        return


def test_a_cut_table() -> None:
    for end in range(len(MADE_HERE)):
        with pytest.raises(NotATable):
            texts(MADE_HERE[:end], LABEL)
