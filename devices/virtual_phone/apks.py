"""The APK files of the virtual phone's apps: zip archives with the resource table that contains the app's label.

Format of the table: AOSP ResourceTypes.h, written as aapt2 writes it: one pool of UTF-8 texts, one package with one
type of two entries (the label refers to the app's name), one chunk for each language.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from functools import cache

from devices.virtual_phone.strings import translate

LABEL = 0x7F020001
"""The resource id of an app's label."""
FOLDER = "/data/app/~~virtual==/"
SPLIT_APP = "org.example.shop"
"""The app that is installed as split APKs: its Chinese texts are in a file of their own."""
_POOL, _TABLE, _PACKAGE, _TYPE, _TYPE_SPEC = 0x0001, 0x0002, 0x0200, 0x0201, 0x0202
_UTF8 = 0x100
_CONFIG_BYTES = 64
_STRING, _REFERENCE = 3, 1


def path_of(package: str, part: str = "base") -> str:
    """Return the path of an app's APK on the phone; `part` is the name of the split."""
    return f"{FOLDER}{package}-virtual==/{part}.apk"


def archive_at(path: str, labels: Mapping[str, str]) -> bytes | None:
    """Return the APK at this path; None when there is none. `labels` are the apps' English labels by package."""
    for package, label in labels.items():
        chinese = translate(label, "zh-CN")
        split = package == SPLIT_APP
        if path == path_of(package):
            texts = {"": label} if split or chinese == label else {"": label, "zh": chinese}
            return _archive(package, tuple(texts.items()))
        if split and path == path_of(package, "split_config.zh"):
            return _archive(package, (("zh", chinese),))
    return None


@cache
def _archive(package: str, texts: tuple[tuple[str, str], ...]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("AndroidManifest.xml", b"\x03\x00\x08\x00")
        archive.writestr("resources.arsc", table_of(package, dict(texts)))
    return out.getvalue()


def table_of(package: str, texts: Mapping[str, str]) -> bytes:
    """Return a compiled resource table with the app's label in each language ("" is the default language)."""
    pool = _strings(list(texts.values()))
    chunks = [_types(language, index) for index, language in enumerate(texts)]
    spec = _chunk(_TYPE_SPEC, struct.pack("<BBHI", 2, 0, 0, 2), struct.pack("<II", 0, 0))
    types, keys = _strings(["attr", "string"]), _strings(["app_name", "label"])
    name = package.encode("utf-16-le").ljust(256, b"\0")
    places = struct.pack("<IIIII", 288, 2, 288 + len(types), 2, 0)
    body = b"".join((types, keys, spec, *chunks))
    packed = _chunk(_PACKAGE, struct.pack("<I", 0x7F) + name + places, body)
    return _chunk(_TABLE, struct.pack("<I", 1), pool + packed)


def _types(language: str, index: int) -> bytes:
    """The entries of one language: the app's name, a text of the pool, and its label, which refers to that."""
    config = struct.pack("<I4x2s", _CONFIG_BYTES, language.encode()).ljust(_CONFIG_BYTES, b"\0")
    name = struct.pack("<HHIHBBI", 8, 0, 0, 8, 0, _STRING, index)
    label = struct.pack("<HHIHBBI", 8, 0, 1, 8, 0, _REFERENCE, LABEL - 1)
    start = 8 + 12 + _CONFIG_BYTES + 8
    return _chunk(_TYPE, struct.pack("<BBHII", 2, 0, 0, 2, start) + config, struct.pack("<II", 0, 16) + name + label)


def _strings(texts: list[str]) -> bytes:
    written = b""
    offsets = []
    for text in texts:
        offsets.append(len(written))
        data = text.encode()
        written += bytes((len(text), len(data))) + data + b"\0"
    written += b"\0" * (-len(written) % 4)
    start = 28 + 4 * len(texts)
    head = struct.pack("<IIIII", len(texts), 0, _UTF8, start, 0)
    return _chunk(_POOL, head, struct.pack(f"<{len(texts)}I", *offsets) + written)


def _chunk(kind: int, header: bytes, body: bytes) -> bytes:
    return struct.pack("<HHI", kind, 8 + len(header), 8 + len(header) + len(body)) + header + body
