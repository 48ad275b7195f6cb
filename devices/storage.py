"""A phone's shared storage: what people call their files. Everything else on a phone belongs to its apps."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from dataclasses import dataclass

from devices.errors import FileRejected
from devices.wording import words

SHARED = ("/sdcard/", "/storage/emulated/0/", "/storage/self/primary/")
PRIVATE = (("android", "data"), ("android", "obb"))
"""Folders of shared storage that belong to single apps; Android itself closes them to other apps since version 11."""
DOWNLOADS = "/sdcard/Download/OpenGUI"
GALLERY = "/sdcard/Pictures/OpenGUI"
"""Where files go that are put on a phone, each run's in a folder; apps that pick a picture look into the gallery."""
MAX_NAME_BYTES = 120
"""Android's file systems allow 255 bytes for a name; some room is left for what apps add."""
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Signs without a look of their own: Unicode's Default_Ignorable_Code_Point."""
_TURNING = {"RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
"""Classes of signs that turn the direction of writing: a name with them reads as another one."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file on the phone; `size` in bytes, `modified` in Unix seconds by the phone's clock."""

    path: str
    size: int
    modified: int

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """What lies in a folder: its name, whether it is a folder itself, and size and time of change as of StoredFile."""

    name: str
    is_folder: bool
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """What a search found, newest first; `stopped_at` is how many names it looked at when it ended before it had seen
    all of them, 0 when it saw all.
    """

    files: tuple[StoredFile, ...]
    stopped_at: int = 0


def safe_name(name: str) -> str:
    """The name without folders, control characters and signs that a file system or a shell minds."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    kept = "".join(each if each.isalnum() or each in "._- ()" else "_" for each in last).strip(" .")
    stem, dot, suffix = kept.rpartition(".")
    if not dot:
        stem, suffix = kept, ""
    suffix = suffix[:16]
    while len(f"{stem}{dot}{suffix}".encode()) > MAX_NAME_BYTES:
        stem = stem[:-1]
    return f"{stem}{dot}{suffix}" if stem or suffix else "file"


def run_of(path: str) -> str:
    """The folder's name of whatever put this file on the phone, empty for a file that is the phone's own."""
    inside = _inside(posixpath.normpath(path))
    for root in (DOWNLOADS, GALLERY):
        folder = f"{_inside(root)}/"
        if inside.startswith(folder):
            return inside.removeprefix(folder).partition("/")[0]
    return ""


def _inside(path: str) -> str:
    """The path within shared storage, folded: it has several names, and does not tell upper from lower case."""
    root = next((root for root in SHARED if path.startswith(root)), "")
    return path.removeprefix(root).casefold()


def checked_path(path: str) -> str:
    """The path without detours, when it lies in shared storage and stays there. Raises FileRejected.

    Shared storage is no file system that keeps links, so a path that is plain in words is plain on the phone; a last
    part that is a link all the same is refused by `pull`. It does not tell upper from lower case.
    """
    if any(_is_hidden(sign) for sign in path):
        raise FileRejected(words("phone.error.hidden_signs"))
    normal = posixpath.normpath(path)
    root = next((root for root in SHARED if normal.startswith(root)), None)
    if root is None:
        raise FileRejected(words("phone.error.not_shared"))
    if _is_private(normal):
        raise FileRejected(words("phone.error.of_an_app"))
    return normal


def checked_folder(path: str) -> str:
    """The same for a folder, which may be all of shared storage. Raises FileRejected."""
    normal = posixpath.normpath(path)
    return normal if f"{normal}/" in SHARED else checked_path(path)


def checked_movable(path: str) -> str:
    """The same for what is moved, or its new place: not the folder in which those of the apps lie. Raises
    FileRejected.
    """
    normal = checked_path(path)
    names = _names(normal)
    if any(len(names) < len(folder) and _begins(names, folder[: len(names)]) for folder in PRIVATE):
        raise FileRejected(words("phone.error.of_an_app"))
    return normal


def is_within(path: str, folder: str) -> bool:
    """Whether this is the same file or folder, or lies in it, by whatever name of shared storage and in any case."""
    names, outer = _names(path), _names(folder)
    return names[: len(outer)] == outer


def _names(path: str) -> list[str]:
    """The folders and the name within shared storage, as a file system compares them.

    One that does not tell upper from lower case drops signs without a look as well (Unicode's NFDICF, in ext4 and
    f2fs), and FAT drops blanks and dots at the end of a name.
    """
    inside = path.removeprefix(next((root for root in SHARED if path.startswith(root)), ""))
    seen = "".join(sign for sign in unicodedata.normalize("NFKC", inside) if not _UNSEEN.match(sign))
    return [name.rstrip(". ").casefold() for name in posixpath.normpath(f"/{seen}").lstrip("/").split("/")]


def _is_private(path: str) -> bool:
    """Whether a path of shared storage leads into the folder of an app, or reads as if it did."""
    names = _names(path)
    return any(len(names) >= len(folder) and _begins(names, folder) for folder in PRIVATE)


def _begins(names: list[str], folder: tuple[str, ...]) -> bool:
    return all(_reads_as(name, word) for name, word in zip(names, folder, strict=False))


def _reads_as(name: str, word: str) -> bool:
    """Whether a name is this word, or has letters of another script in place of some of its own."""
    if name == word:
        return True
    if len(name) != len(word) or not any(map(str.isascii, name)):
        return False
    pairs = zip(name, word, strict=True)
    return all(one == other or (one.isalpha() and not one.isascii()) for one, other in pairs)


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(sign) in _TURNING
