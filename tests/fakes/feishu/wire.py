"""Frames of the long connection, byte by byte: written without the library that the product reads them with.

The format is https://protobuf.dev/programming-guides/encoding/ with the fields of larksuite/oapi-sdk-python,
`lark_oapi/ws/pb/pbbp2.proto`.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class WireFrame:
    """A frame; `method` is 0 for control and 1 for data."""

    method: int
    headers: dict[str, str] = field(default_factory=dict)
    payload: bytes = b""
    service: int = 0
    sequence: int = 0
    log: int = 0

    def encode(self) -> bytes:
        data = b"".join(
            _varint(number << 3) + _varint(value)
            for number, value in enumerate((self.sequence, self.log, self.service, self.method), 1)
        )
        for key, value in self.headers.items():
            data += _field(5, _field(1, key.encode()) + _field(2, value.encode()))
        return data + _field(8, self.payload)

    @classmethod
    def decode(cls, data: bytes) -> WireFrame:
        frame = cls(0)
        for number, value in _fields(data):
            match number, value:
                case 1, int():
                    frame.sequence = value
                case 2, int():
                    frame.log = value
                case 3, int():
                    frame.service = value
                case 4, int():
                    frame.method = value
                case 5, bytes():
                    header = dict(_fields(value))
                    key, text = header[1], header[2]
                    assert isinstance(key, bytes)
                    assert isinstance(text, bytes)
                    frame.headers[key.decode()] = text.decode()
                case 8, bytes():
                    frame.payload = value
        return frame


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    found: list[tuple[int, int | bytes]] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            found.append((tag >> 3, varint()))
        else:
            assert tag & 7 == 2
            size = varint()
            found.append((tag >> 3, data[at : at + size]))
            at += size
    return found
