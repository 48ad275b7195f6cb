"""Encodes frames of the long connection: each event and each answer is wrapped in a Protocol Buffers message.

The fields are those of the official client (larksuite/oapi-sdk-python, lark_oapi/ws/pb/pbbp2.proto, MIT). That client
is not used: it takes seconds and 160 MB to import, has no time limits, blocks and never ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, EncodeError


class Method(IntEnum):
    """The purpose of a frame."""

    CONTROL = 0
    """Pings, and their answers with the connection's settings."""
    DATA = 1
    """An event, or the answer to one."""


_FIELDS: Final = descriptor_pb2.FieldDescriptorProto
_ONE: Final = _FIELDS.LABEL_REQUIRED
_HEADER: Final = (("key", _FIELDS.TYPE_STRING, _ONE), ("value", _FIELDS.TYPE_STRING, _ONE))
_FRAME: Final = (
    ("SeqID", _FIELDS.TYPE_UINT64, _ONE),
    ("LogID", _FIELDS.TYPE_UINT64, _ONE),
    ("service", _FIELDS.TYPE_INT32, _ONE),
    ("method", _FIELDS.TYPE_INT32, _ONE),
    ("headers", _FIELDS.TYPE_MESSAGE, _FIELDS.LABEL_REPEATED),
    ("payload_encoding", _FIELDS.TYPE_STRING, _FIELDS.LABEL_OPTIONAL),
    ("payload_type", _FIELDS.TYPE_STRING, _FIELDS.LABEL_OPTIONAL),
    ("payload", _FIELDS.TYPE_BYTES, _FIELDS.LABEL_OPTIONAL),
    ("LogIDNew", _FIELDS.TYPE_STRING, _FIELDS.LABEL_OPTIONAL),
)


def _frame_class() -> Any:  # noqa: ANN401 - made while the program runs
    file = descriptor_pb2.FileDescriptorProto(name="pbbp2.proto", package="pbbp2", syntax="proto2")
    for name, fields in (("Header", _HEADER), ("Frame", _FRAME)):
        message = file.message_type.add(name=name)
        for number, (called, kind, label) in enumerate(fields, 1):
            made = message.field.add(name=called, number=number, type=kind, label=label)
            if kind == _FIELDS.TYPE_MESSAGE:
                made.type_name = ".pbbp2.Header"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pbbp2.Frame"))


_Wire: Final = _frame_class()


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame. The official client's `lark_oapi/ws/const.py` documents the headers."""

    method: Method
    service: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    payload: bytes = field(default=b"", repr=False)
    sequence: int = 0
    log: int = 0

    @classmethod
    def parse(cls, data: bytes) -> Frame:
        """Decode a frame. Raises ValueError if the bytes are not one."""
        wire = _Wire()
        try:
            wire.ParseFromString(data)
            method = Method(wire.method)
        except (DecodeError, ValueError):
            raise ValueError("no frame of the long connection") from None
        headers = {header.key: header.value for header in wire.headers}
        return cls(method, wire.service, headers, wire.payload, wire.SeqID, wire.LogID)

    def serialize(self) -> bytes:
        """Encode the frame. Raises ValueError for numbers that do not fit."""
        try:
            wire = _Wire(SeqID=self.sequence, LogID=self.log, service=self.service, method=int(self.method))
            for key, value in self.headers.items():
                wire.headers.add(key=key, value=value)
            if self.payload:
                wire.payload = self.payload
            data: bytes = wire.SerializeToString()
        except (EncodeError, ValueError):
            raise ValueError("no frame of the long connection") from None
        return data
