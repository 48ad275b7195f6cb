import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.adb.files import MAX_PUSH, move
from devices.adb.shell import DEFAULT_TIMEOUT, Result, Shell
from devices.errors import FileRejected, PhoneGone
from devices.storage import MAX_NAME_BYTES, checked_folder, checked_movable, checked_path, is_within, run_of, safe_name
from tests.devices.adb.conftest import Bench


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("photo.jpg", "photo.jpg"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\报告 1.pdf", "报告 1.pdf"),
        ("a;b'c\"d.txt", "a_b_c_d.txt"),
        ("..", "file"),
        ("", "file"),
        (".hidden", "hidden"),
        ("x" * 300 + ".png", "x" * 116 + ".png"),
    ],
)
def test_names(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ("/sdcard/Download/OpenGUI/7-1/a.pdf", "7-1"),
        ("/storage/emulated/0/download/opengui/7-1/a.pdf", "7-1"),
        ("/sdcard/Download/../Pictures/OpenGUI/12-1/a.png", "12-1"),
        ("/sdcard/Download/OpenGUI.pdf", ""),
        ("/sdcard/Download/a.pdf", ""),
    ],
)
def test_what_a_run_has_put_there(path: str, run: str) -> None:
    """Seen failing with the path compared as it is written."""
    assert run_of(path) == run


@given(st.text(max_size=300))
def test_any_name_becomes_a_name(name: str) -> None:
    safe = safe_name(name)
    assert safe.strip(".")
    assert not set(safe) & set("/\\\0\n'\"`$;|&<>*?:")
    assert len(safe.encode("utf-8", "surrogatepass")) <= MAX_NAME_BYTES


@pytest.mark.parametrize(
    "path",
    [
        "/data/local/tmp/x",
        "/data/data/com.bank/databases/x",
        "/sdcard/../data/x",
        "/sdcard/./a/../../../data/x",
        "/sdcard/Download/../../../etc/hosts",
        "//sdcard/x",
        "/storage/emulated/0/../../../data/x",
        "/storage/emulated/10/x",
        "/storage/emulated/0",
        "sdcard/x",
        "/sdcard",
        "/sdcardx/a",
        "/sdcard/a\0b",
        "/sdcard/a\nFile: b",
        "/sdcard/\u202egpj.exe",
        "/sdcard/\ud800",
        "/sdcard/Android/data/com.bank/files/x",
        "/sdcard/android/DATA/com.bank/x",
        "/storage/emulated/0/Android/obb/x",
        "/sdcard/Download/../Android/data/x",
        "",
    ],
)
def test_only_shared_storage_is_read(path: str) -> None:
    """Seen failing with the check of the beginning, the apps' folders, or the signs removed from `checked_path`."""
    with pytest.raises(FileRejected):
        checked_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "/sdcard/Android\u200b/data/com.bank/x",
        "/sdcard/Android/da\u200dta/com.bank/x",
        "/sdcard/Andr\u00adoid/obb/x",
        "/sdcard/Android\ufe0f/data/x",
        "/sdcard/Android/d\u034fata/x",
        "/sdcard/\ufeffAndroid/\U000e0001data/x",
        "/sdcard/Ａndroid/ｄａｔａ/x",
        "/sdcard/Android./data/x",
        "/sdcard/Android/data /x",
        "/sdcard/Andr\u043eid/data/x",
        "/sdcard/\u0391ndroid/d\u0430t\u0430/x",
        "/sdcard/ANDROID//\u200bDATA/x",
        "/sdcard/Download/.\u200b./Android/data/x",
        "/sdcard/\u200b/Android/data/x",
        "/storage/self/primary/android/./obb\u2060",
    ],
)
def test_the_folders_of_apps_have_no_second_name(path: str) -> None:
    """Seen failing before: only the path as it was written was compared, its case aside."""
    with pytest.raises(FileRejected):
        checked_path(path)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("/sdcard/Картины/Лето/a.jpg", "/sdcard/Картины/Лето/a.jpg"),
        ("/sdcard/Android/media/da\u200cta/a.jpg", "/sdcard/Android/media/da\u200cta/a.jpg"),
        ("/sdcard/Download/a.pdf", "/sdcard/Download/a.pdf"),
        ("/sdcard/./Download//报告 1.pdf", "/sdcard/Download/报告 1.pdf"),
        ("/storage/emulated/0/DCIM/Camera/👨‍👩‍👧.jpg", "/storage/emulated/0/DCIM/Camera/👨‍👩‍👧.jpg"),
        ("/sdcard/Android/media/com.chat/photo.jpg", "/sdcard/Android/media/com.chat/photo.jpg"),
        ("/sdcard/Android/database.txt", "/sdcard/Android/database.txt"),
    ],
)
def test_what_lies_in_shared_storage_is_read(path: str, plain: str) -> None:
    assert checked_path(path) == plain


async def test_there_and_back(bench: Bench) -> None:
    data = os.urandom(300_001)
    path = await bench.phone.push("../图 片.png", data)
    assert path == "/sdcard/Pictures/OpenGUI/图 片.png"
    assert bench.virtual.files.read(path) == data
    assert await bench.phone.pull(path, limit=len(data)) == data


async def test_a_folder_of_its_own(bench: Bench) -> None:
    assert await bench.phone.push("a.PDF", b"1", folder="12-1") == "/sdcard/Download/OpenGUI/12-1/a.PDF"
    assert await bench.phone.push("a.JPG", b"2", folder="../x") == "/sdcard/Pictures/OpenGUI/x/a.JPG"
    assert await bench.phone.push("a.PDF", b"3", folder="12-1") == "/sdcard/Download/OpenGUI/12-1/a.PDF"
    assert bench.virtual.files.read("/sdcard/Download/OpenGUI/12-1/a.PDF") == b"3"
    told = [" ".join(entry.argv) for entry in bench.virtual.journal.entries if "broadcast" in entry.argv]
    assert sum("MEDIA_SCANNER_SCAN_FILE" in each for each in told) == 3


async def test_a_file_that_is_too_large_is_not_read(bench: Bench) -> None:
    bench.virtual.files.write("/sdcard/Download/large", bytes(2000))
    with pytest.raises(FileRejected, match="2000 bytes"):
        await bench.phone.pull("/sdcard/Download/large", limit=1999)
    with pytest.raises(FileRejected, match="at most"):
        await bench.phone.push("large", bytes(MAX_PUSH + 1))


@pytest.mark.parametrize("path", ["/sdcard/Download/none", "/sdcard/Download"])
async def test_what_is_no_file_is_said(bench: Bench, path: str) -> None:
    with pytest.raises(FileRejected, match="no file"):
        await bench.phone.pull(path, limit=10)


@pytest.mark.parametrize(
    "path",
    ["/sdcard/Android", "/sdcard/ＡＮＤＲＯＩＤ", "/sdcard/Andro\u200bid", "/sdcard/android.", "/sdcard/Аndroid"],
)
def test_the_folder_with_those_of_the_apps_stays_where_it_is(path: str) -> None:
    """Seen failing with `checked_path` alone: the folders of all apps move with it."""
    with pytest.raises(FileRejected):
        checked_movable(path)


@pytest.mark.parametrize("path", ["/sdcard/Androids", "/sdcard/Documents/Android", "/sdcard/Android/media/a.jpg"])
def test_what_only_sounds_like_it_is_moved(path: str) -> None:
    assert checked_movable(path) == path


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        ("/sdcard/a/b.txt", "/sdcard/a", True),
        ("/storage/emulated/0/A/b.txt", "/sdcard/a", True),
        ("/sdcard/ａ/b.txt", "/storage/self/primary/a", True),
        ("/sdcard/a", "/sdcard/a", True),
        ("/sdcard/ab/b.txt", "/sdcard/a", False),
        ("/sdcard/a", "/sdcard/a/b", False),
    ],
)
def test_what_lies_in_a_folder_by_any_name(path: str, folder: str, inside: bool) -> None:
    assert is_within(path, folder) is inside


@given(
    st.lists(st.sampled_from(["a", ".", "/", "\u200b", "Android", "data", "..", "sdcard"]), max_size=12).map("".join)
)
def test_no_path_leads_out(tail: str) -> None:
    """Whatever is let through stays below shared storage, and never in the folder of an app."""
    for check in (checked_folder, checked_movable):
        try:
            path = check(f"/sdcard/{tail}")
        except FileRejected:
            continue
        assert f"{path}/".startswith("/sdcard/")
        assert ".." not in path.split("/")
        assert path.casefold().split("/")[2:4] != ["android", "data"]


class UntoldGallery(Shell):
    """The shell of a phone whose link breaks whenever the gallery is to be told of a file."""

    async def run(self, line: str, *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command") -> Result:
        if "MEDIA_SCANNER" in line:
            raise PhoneGone("The link broke.")
        return await super().run(line, timeout=timeout, doing=doing)


async def test_a_file_is_moved_though_the_gallery_cannot_be_told(bench: Bench) -> None:
    """Seen failing with an error in place of the new path."""
    bench.virtual.files.write("/sdcard/Download/a.txt", b"a")
    bench.virtual.files.make("/sdcard/Music")
    shell = UntoldGallery(bench.connection)
    assert await move(shell, "/sdcard/Download/a.txt", "/sdcard/Music", replace=False) == "/sdcard/Music/a.txt"
    assert bench.virtual.files.read("/sdcard/Music/a.txt") == b"a"
