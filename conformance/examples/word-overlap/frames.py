"""Frames and messages of ipc/PROTOCOL.md, as a Task sees them: sections 2 to 5."""

import re
import struct

import msgpack

HEADER = struct.Struct("<IQBBH")
PAYLOAD_MAX = 32 << 20
TYPES = {"hello": 1, "welcome": 2, "rank": 3, "scores": 4, "error": 5, "cancel": 6, "ping": 7, "pong": 8, "goaway": 9}
FROM_CLIENT = {1, 3, 6, 7}
REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")


class ProtocolError(Exception):
    """Section 7: answered on exchange 0, then the connection is closed."""

    def __init__(self, message, code="protocol_error"):
        super().__init__(message)
        self.code = code


def demand(truth, message):
    if not truth:
        raise ProtocolError(message)


def read_frame(stream):
    """Returns (exchange, type, payload). The header is judged before its payload is read."""
    length, exchange, kind, flags, reserved = HEADER.unpack(read_exactly(stream, HEADER.size))
    demand(length <= PAYLOAD_MAX, f"a payload of {length} bytes is over the limit")
    demand(flags == 0 and reserved == 0, "flags and reserved must be 0")
    demand(kind in FROM_CLIENT, f"type {kind} is not for a client to send")
    demand((exchange == 0) == (kind == TYPES["hello"]), "exchange 0 is for hello alone")
    return exchange, kind, read_exactly(stream, length)


def read_exactly(stream, size):
    data = bytearray()
    while len(data) < size:
        part = stream.recv(min(size - len(data), 1 << 16))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def encode(exchange, name, fields):
    payload = msgpack.packb(fields, use_bin_type=True)
    return HEADER.pack(len(payload), exchange, TYPES[name], 0, 0) + payload


def decode(kind, payload):
    """Returns the known fields of a client's message, all checked."""
    check = {TYPES["hello"]: HELLO, TYPES["rank"]: RANK, TYPES["cancel"]: {}, TYPES["ping"]: {}}[kind]
    fields = unpack(payload)
    demand(isinstance(fields, dict), "the payload is no map")
    for name, value in fields.items():
        if name not in check:
            within_limits(value, depth=2)
    for name, (required, valid) in check.items():
        if name in fields:
            demand(valid(fields[name]), f"{name} is out of its bounds")
        else:
            demand(not required, f"{name} is missing")
    return fields


def unpack(payload):
    try:
        return msgpack.unpackb(
            payload, raw=False, object_pairs_hook=without_repeats, ext_hook=refuse_ext,
            max_map_len=64, max_array_len=16384, max_str_len=len(payload), max_bin_len=len(payload), max_ext_len=0,
        )
    except ProtocolError:
        raise
    except Exception as fault:  # the package has no common class for what a payload can break
        raise ProtocolError(f"the payload is no valid MessagePack: {type(fault).__name__}") from fault


def without_repeats(pairs):
    fields = {}
    for key, value in pairs:
        demand(isinstance(key, str), "a key is no string")
        demand(len(key.encode()) <= 64, "a key has more than 64 bytes")
        demand(key not in fields, "a key comes twice")
        fields[key] = value
    return fields


def refuse_ext(_code, _data):
    raise ProtocolError("ext types are not allowed")


def within_limits(value, depth):
    """Section 3, for values under unknown keys."""
    demand(not isinstance(value, msgpack.Timestamp), "ext types are not allowed")
    if isinstance(value, dict):
        demand(depth <= 4, "nested too deep")
        for inner in value.values():
            within_limits(inner, depth + 1)
    elif isinstance(value, list):
        demand(depth <= 4, "nested too deep")
        demand(len(value) <= 64, "an array has more than 64 elements")
        for inner in value:
            within_limits(inner, depth + 1)


def uint(low, high):
    return lambda value: type(value) is int and low <= value <= high


def text(most):
    return lambda value: isinstance(value, str) and len(value.encode()) <= most


def one_of(*values):
    return lambda value: value in values


def texts(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


# name: (required, check), from the tables of section 5
HELLO = {"protocol": (True, uint(1, 65535)), "client": (True, text(4096))}
RANK = {
    "id": (True, lambda value: isinstance(value, str) and REQUEST_ID.match(value) is not None),
    "query": (True, text(PAYLOAD_MAX)),
    "passages": (True, texts),
    "truncate": (True, one_of("NONE", "END", "START")),
    "deadline_ms": (False, uint(0, 2**31)),
    "max_passage_tokens": (False, uint(1, 2**31)),
    "traceparent": (False, text(4096)),
}
