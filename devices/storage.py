"""A phone's shared storage, where people's files are, and which paths in it may be used. Everything else on a phone
belongs to its apps.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from dataclasses import dataclass

from devices.errors import FileRejected
from devices.wording import words

SHARED = ("/sdcard/", "/storage/emulated/0/", "/storage/self/primary/")
PRIVATE = (("android", "data"), ("android", "obb"))
"""Folders of shared storage that belong to single apps; Android closes them to other apps since version 11."""
DOWNLOADS = "/sdcard/Download/OpenGUI"
GALLERY = "/sdcard/Pictures/OpenGUI"
"""Where files are put on a phone, in one folder per run; apps that pick a picture look in the gallery."""
MAX_NAME_BYTES = 120
"""The maximum bytes of a name. Android's file systems allow 255; the rest is left for what apps add."""
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible characters: Unicode's Default_Ignorable_Code_Point."""
_TURNING = {"RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
"""Bidirectional classes of characters that change the text direction and so make a name look like another."""


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
    """A file or folder inside a folder; `size` and `modified` are as in StoredFile."""

    name: str
    is_folder: bool
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files that a search found, newest first. `stopped_at` is the number of names after which it stopped early; 0
    if it saw all of them.
    """

    files: tuple[StoredFile, ...]
    stopped_at: int = 0


def safe_name(name: str) -> str:
    """Return a valid file name made from this one: without folders, and with special characters replaced by "_"."""
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
    """Return the id of the run that put this file on the phone (the casefolded name of its folder); "" if it is the
    phone's own file.
    """
    inside = _inside(posixpath.normpath(path)).casefold()  # storage ignores case
    for root in (DOWNLOADS, GALLERY):
        folder = f"{_inside(root)}/".casefold()
        if inside.startswith(folder):
            return inside.removeprefix(folder).partition("/")[0]
    return ""


def _inside(path: str) -> str:
    """Return the path relative to shared storage, which has several names."""
    return path.removeprefix(next((root for root in SHARED if path.startswith(root)), ""))


def checked_path(path: str) -> str:
    """Return the path in normalised form. Raises FileRejected if it is outside shared storage, in an app's folder, or
    contains invisible characters.

    Shared storage cannot hold links, so the normalised path is the real one; `pull` refuses a last part that is a link
    anyway. Case is ignored in the names of the apps' folders.
    """
    if any(_is_hidden(sign) for sign in path):
        raise FileRejected(words("phone.error.hidden_signs"))
    normal = posixpath.normpath(path)
    if not normal.startswith(SHARED):
        raise FileRejected(words("phone.error.not_shared"))
    if _is_private(normal):
        raise FileRejected(words("phone.error.of_an_app"))
    return normal


def checked_folder(path: str) -> str:
    """Like `checked_path`, for a folder, which may also be the root of shared storage. Raises FileRejected."""
    normal = posixpath.normpath(path)
    return normal if f"{normal}/" in SHARED else checked_path(path)


def checked_movable(path: str) -> str:
    """Like `checked_path`, for something that is to be moved or its new place. Also raises FileRejected for the folder
    that contains the apps' folders.
    """
    normal = checked_path(path)
    names = _names(normal)
    if any(len(names) < len(folder) and _begins(names, folder[: len(names)]) for folder in PRIVATE):
        raise FileRejected(words("phone.error.of_an_app"))
    return normal


def is_within(path: str, folder: str) -> bool:
    """Return whether the path is this file or folder, or inside it. Case is ignored, and so is which name of shared
    storage is used.
    """
    names, outer = _names(path), _names(folder)
    return names[: len(outer)] == outer


def _names(path: str) -> list[str]:
    """Return the folders and name within shared storage in the form in which a file system compares them.

    A file system that ignores case also drops invisible characters (Unicode's NFDICF, in ext4 and f2fs), and FAT drops
    trailing spaces and dots.
    """
    seen = "".join(sign for sign in unicodedata.normalize("NFKC", _inside(path)) if not _UNSEEN.match(sign))
    return [name.rstrip(". ").casefold() for name in posixpath.normpath(f"/{seen}").lstrip("/").split("/")]


def _is_private(path: str) -> bool:
    """Return whether a path of shared storage leads into an app's folder, or looks as if it did."""
    names = _names(path)
    return any(len(names) >= len(folder) and _begins(names, folder) for folder in PRIVATE)


def _begins(names: list[str], folder: tuple[str, ...]) -> bool:
    return all(_reads_as(name, word) for name, word in zip(names, folder, strict=False))


def _reads_as(name: str, word: str) -> bool:
    """Return whether a name is this word, or has letters of another script in place of some of its letters."""
    if name == word:
        return True
    if len(name) != len(word) or not any(map(str.isascii, name)):
        return False
    pairs = zip(name, word, strict=True)
    return all(one == other or (one.isalpha() and not one.isascii()) for one, other in pairs)


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(sign) in _TURNING
