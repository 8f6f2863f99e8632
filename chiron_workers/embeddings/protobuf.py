"""Protocol buffers as they are written: the fields of a message, with no knowledge of what they mean."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
SIZES = {FIXED64: 8, FIXED32: 4}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message: a number, or the bytes of a text, a message or another value."""

    number: int
    value: int | bytes | memoryview
    wire_type: int = BYTES


def read_fields(message: bytes | memoryview) -> Iterator[Field]:
    """The fields of a message in their order; what is long is not copied."""
    view, at = memoryview(message), 0
    while at < len(view):
        key, at = _read_varint(view, at)
        number, wire_type = key >> 3, key & 7
        if wire_type == VARINT:
            value, at = _read_varint(view, at)
            yield Field(number, value, VARINT)
            continue
        size, at = _read_varint(view, at) if wire_type == BYTES else (SIZES[wire_type], at)
        yield Field(number, view[at : at + size], wire_type)
        at += size


def write_fields(fields: Iterable[Field]) -> bytes:
    """The message with these fields."""
    pieces: list[bytes | memoryview] = []
    for field in fields:
        pieces.append(_varint(field.number << 3 | field.wire_type))
        if isinstance(field.value, int):
            pieces.append(_varint(field.value))
            continue
        if field.wire_type == BYTES:
            pieces.append(_varint(len(field.value)))
        pieces.append(field.value)
    return b"".join(pieces)


def number_field(number: int, value: int) -> Field:
    """A field that holds a number."""
    return Field(number, value, VARINT)


def _read_varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:  # ends: the last byte of a number has no mark
        value |= (view[at] & 0x7F) << shift
        shift += 7
        at += 1
        if view[at - 1] < 0x80:
            return value, at


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)
