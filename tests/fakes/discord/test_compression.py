"""The gateway's compression is what discord.py undoes, with zstandard installed and without."""

from __future__ import annotations

import zlib

import pytest
import zstandard

from tests.fakes.discord.compression import compressor


def test_zlib() -> None:
    packer, reader = compressor("zlib-stream"), zlib.decompressobj()
    for text in ("one", "two 打开"):
        packed = packer.pack(text)
        assert packed.endswith(b"\x00\x00\xff\xff"), "discord.py waits for the end of a flush"
        assert reader.decompress(packed).decode() == text


def test_zstd() -> None:
    packer, reader = compressor("zstd-stream"), zstandard.ZstdDecompressor().decompressobj()
    for text in ("one", "two 打开"):
        assert reader.decompress(packer.pack(text)).decode() == text


def test_others_are_refused() -> None:
    with pytest.raises(ValueError, match="lz4"):
        compressor("lz4")
