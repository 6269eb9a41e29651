"""Writes the ipc byte vectors beside this file; README.md says what they mean.

The bytes are assembled here from the MessagePack format table, value by value, then checked against the `msgpack` package
(pip install msgpack==1.1.0), which shares no code with it: a canonical payload must be what packb makes of the decoded fields, any
other valid payload must unpack to them, and an invalid one must unpack exactly if its fault is not of MessagePack itself.
"""

import json
import pathlib
import struct

import msgpack

HERE = pathlib.Path(__file__).parent
TYPES = dict(hello=1, welcome=2, rank=3, scores=4, error=5, cancel=6, ping=7, pong=8, goaway=9)
FROM_CLIENT = {"hello", "rank", "cancel", "ping"}
# Faults that leave no well-formed MessagePack value behind.
MALFORMED = {"truncated", "trailing_bytes", "bad_msgpack"}


# --- MessagePack, one function a format ---------------------------------------------------------------------------------------

def u(n):
    """The shortest unsigned integer."""
    if n < 128:
        return bytes([n])
    for code, fmt, top in ((0xCC, ">B", 2**8), (0xCD, ">H", 2**16), (0xCE, ">I", 2**32)):
        if n < top:
            return bytes([code]) + struct.pack(fmt, n)
    return b"\xcf" + struct.pack(">Q", n)


def s(text):
    """The shortest string; bytes are taken as they are."""
    raw = text.encode() if isinstance(text, str) else text
    n = len(raw)
    if n < 32:
        return bytes([0xA0 | n]) + raw
    if n < 2**8:
        return b"\xd9" + struct.pack(">B", n) + raw
    return (b"\xda" + struct.pack(">H", n) if n < 2**16 else b"\xdb" + struct.pack(">I", n)) + raw


def b(raw):
    return (b"\xc4" + struct.pack(">B", len(raw)) if len(raw) < 2**8 else b"\xc5" + struct.pack(">H", len(raw))) + raw


def array_head(n):
    return bytes([0x90 | n]) if n < 16 else b"\xdc" + struct.pack(">H", n)


def map_head(n):
    return bytes([0x80 | n]) if n < 16 else b"\xde" + struct.pack(">H", n)


def a(*items):
    return array_head(len(items)) + b"".join(items)


def m(*pairs):
    """A map of (key, encoded value); a key that is bytes is taken as encoded."""
    return map_head(len(pairs)) + b"".join((k if isinstance(k, bytes) else s(k)) + v for k, v in pairs)


def f32(*bits):
    return b(b"".join(struct.pack("<I", x) for x in bits))


def u32(*values):
    return b(b"".join(struct.pack("<I", x) for x in values))


NIL, FALSE, TRUE = b"\xc0", b"\xc2", b"\xc3"


# --- vectors ------------------------------------------------------------------------------------------------------------------

files = {}
ids = set()


def frame(type_, exchange, payload, length=None, flags=0, reserved=0):
    n = len(payload) if length is None else length
    return struct.pack("<IQBBH", n, exchange, TYPES.get(type_, type_), flags, reserved) + payload


def vector(file, id_, comment, raw, direction, **rest):
    assert id_ not in ids, id_
    ids.add(id_)
    files.setdefault(file, []).append(dict(id=id_, comment=comment, direction=direction, hex=raw.hex(), **rest))


def plain(fields):
    """Decoded fields as msgpack sees them: packed arrays as bin."""
    out = {}
    for k, v in fields.items():
        if k == "scores":
            v = b"".join(struct.pack("<I", int(x, 16)) for x in v)
        elif k == "pair_tokens":
            v = b"".join(struct.pack("<I", x) for x in v)
        out[k] = v
    return out


def direction_of(type_):
    return "client" if type_ in FROM_CLIENT else "task"


def good(file, id_, comment, type_, exchange, payload, fields, canonical=True):
    if canonical:
        assert msgpack.packb(plain(fields)) == payload, id_
    else:
        seen = msgpack.unpackb(payload)
        for k, v in plain(fields).items():
            assert seen[k] == v and type(seen[k]) is type(v), (id_, k)
    decoded = dict(exchange=exchange, type=type_, fields=fields)
    vector(file, id_, comment, frame(type_, exchange, payload), direction_of(type_), valid=True, canonical=canonical, decoded=decoded)


def bad(file, id_, comment, type_, exchange, payload, error, direction=None):
    try:
        msgpack.unpackb(payload, strict_map_key=False, raw=True)
        formed = True
    except (ValueError, msgpack.UnpackException):
        formed = False
    assert formed == (error not in MALFORMED), (id_, formed)
    bad_bytes(file, id_, comment, frame(type_, exchange, payload), error, direction or direction_of(type_))


def bad_bytes(file, id_, comment, raw, error, direction="client"):
    vector(file, id_, comment, raw, direction, valid=False, canonical=False, error=error)


# --- frame --------------------------------------------------------------------------------------------------------------------

good("frame", "ping-worked-example", "first frame of PROTOCOL.md, section 10", "ping", 2, m(), {})
good("frame", "exchange-first", "the first exchange of a connection", "ping", 1, m(), {})
good("frame", "exchange-largest", "all 64 bits of the exchange count", "ping", 2**64 - 1, m(), {})
good("frame", "exchange-byte-order", "each byte of the exchange differs", "cancel", 0x0807060504030201, m(), {})
good("frame", "payload-map16-empty", "an empty map may be map16", "ping", 4, b"\xde\x00\x00", {}, canonical=False)
good("frame", "payload-map32-empty", "an empty map may be map32", "ping", 4, b"\xdf\x00\x00\x00\x00", {}, canonical=False)
bad_bytes("frame", "length-over-limit", "one byte over 32 MiB, refused on the header alone", frame("rank", 3, b"", length=2**25 + 1), "frame_too_large")
bad_bytes("frame", "length-largest", "4 GiB announced", frame("rank", 3, b"", length=2**32 - 1), "frame_too_large")
bad_bytes("frame", "length-at-limit-and-nothing", "32 MiB are allowed, but the stream ends", frame("rank", 3, b"", length=2**25), "truncated")
bad_bytes("frame", "header-only-one-byte", "the stream ends in the header", frame("ping", 2, m())[:1], "truncated")
bad_bytes("frame", "header-one-byte-short", "the stream ends in the header", frame("ping", 2, m())[:15], "truncated")
bad_bytes("frame", "payload-one-byte-short", "the stream ends in the payload", frame("rank", 3, m(("id", s("r1"))))[:-1], "truncated")
bad_bytes("frame", "payload-of-16-bytes-missing", "the stream ends behind the header, and the payload would be as long as a header", frame("ping", 2, b"", length=16), "truncated")
bad_bytes("frame", "flags-set", "flags are 0 in version 1", frame("ping", 2, m(), flags=1), "bad_flags")
bad_bytes("frame", "flags-high-bit", "flags are 0 in version 1", frame("ping", 2, m(), flags=0x80), "bad_flags")
bad_bytes("frame", "reserved-low-byte", "reserved is 0 in version 1", frame("ping", 2, m(), reserved=1), "bad_flags")
bad_bytes("frame", "reserved-high-byte", "reserved is 0 in version 1", frame("ping", 2, m(), reserved=0x0100), "bad_flags")
bad_bytes("frame", "type-zero", "not in the table", frame(0, 1, m()), "unknown_type")
bad_bytes("frame", "type-ten", "not in the table", frame(10, 1, m()), "unknown_type")
bad_bytes("frame", "type-255", "not in the table", frame(255, 1, m()), "unknown_type", "task")
bad_bytes("frame", "pong-from-client", "wrong direction", frame("pong", 1, m()), "wrong_direction", "client")
bad_bytes("frame", "scores-from-client", "wrong direction", frame("scores", 1, m()), "wrong_direction", "client")
bad_bytes("frame", "rank-from-task", "wrong direction", frame("rank", 1, m()), "wrong_direction", "task")
bad_bytes("frame", "ping-from-task", "wrong direction", frame("ping", 1, m()), "wrong_direction", "task")
bad_bytes("frame", "ping-exchange-zero", "a ping opens an exchange", frame("ping", 0, m()), "bad_exchange")
bad_bytes("frame", "cancel-exchange-zero", "a cancel names an exchange", frame("cancel", 0, m()), "bad_exchange")
bad_bytes("frame", "goaway-exchange", "goaway is of the connection", frame("goaway", 7, m(("reason", s("shutdown")))), "bad_exchange", "task")
bad("frame", "payload-empty", "not even a map", "ping", 2, b"", "truncated")
bad("frame", "payload-nil", "nil is not a map", "ping", 2, NIL, "not_a_map")
bad("frame", "payload-array", "an array is not a map", "ping", 2, a(), "not_a_map")
bad("frame", "payload-string", "a string is not a map", "ping", 2, s("ping"), "not_a_map")
bad("frame", "payload-integer", "an integer is not a map", "ping", 2, u(0), "not_a_map")
bad("frame", "payload-trailing-map", "one map and nothing behind it", "ping", 2, m() + m(), "trailing_bytes")
bad("frame", "payload-trailing-nul", "one map and nothing behind it", "ping", 2, m() + b"\x00", "trailing_bytes")

# --- MessagePack in general, shown on ping, which has no fields of its own ----------------------------------------------------

def skipped(id_, comment, value):
    good("unknown-keys", id_, comment, "ping", 5, m(("x", value)), {}, canonical=False)

skipped("skip-nil", "nil", NIL)
skipped("skip-bool", "bool", TRUE)
skipped("skip-fixint", "positive fixint", u(7))
skipped("skip-negative-fixint", "negative fixint", b"\xff")
skipped("skip-uint8", "uint8", b"\xcc\xff")
skipped("skip-uint16", "uint16", b"\xcd\xff\xff")
skipped("skip-uint32", "uint32", b"\xce\xff\xff\xff\xff")
skipped("skip-uint64", "uint64", b"\xcf" + b"\xff" * 8)
skipped("skip-int8", "int8", b"\xd0\x80")
skipped("skip-int16", "int16", b"\xd1\x80\x00")
skipped("skip-int32", "int32", b"\xd2\x80\x00\x00\x00")
skipped("skip-int64", "int64", b"\xd3\x80" + b"\x00" * 7)
skipped("skip-float32", "float32, not a number", b"\xca\x7f\xc0\x00\x00")
skipped("skip-float64", "float64", b"\xcb\x3f\xf0" + b"\x00" * 6)
skipped("skip-fixstr", "fixstr, empty", s(""))
skipped("skip-str8", "str8", s("k" * 32))
skipped("skip-str16", "str16", s("k" * 256))
skipped("skip-str16-long", "skipped strings are bounded by the payload alone", s("k" * 4097))
skipped("skip-str32", "str32 holding little", b"\xdb\x00\x00\x00\x02ab")
skipped("skip-bin8", "bin8", b"\xc4\x02\xff\x00")
skipped("skip-bin16", "bin16", b"\xc5\x00\x01\xff")
skipped("skip-bin32", "bin32", b"\xc6\x00\x00\x00\x01\xff")
skipped("skip-array", "array of several types", a(u(1), s("two"), NIL, a()))
skipped("skip-array16", "array16", b"\xdc\x00\x01\xc3")
skipped("skip-array32", "array32", b"\xdd\x00\x00\x00\x01\xc3")
skipped("skip-array-64", "as many elements as an array other than passages may have", a(*[u(i) for i in range(64)]))
skipped("skip-map", "map", m(("a", u(1)), ("b", m())))
skipped("skip-map16", "map16", b"\xde\x00\x01" + s("a") + NIL)
skipped("skip-map32", "map32", b"\xdf\x00\x00\x00\x01" + s("a") + NIL)
skipped("skip-depth-4", "payload, array, map, array", a(m(("a", a(u(1))))))
good("unknown-keys", "map-64-entries", "as many entries as a map may have", "ping", 5, m(*[(f"k{i}", NIL) for i in range(64)]), {}, canonical=False)
good("unknown-keys", "key-64-bytes", "as long as a key may be", "ping", 5, m(("k" * 64, NIL)), {}, canonical=False)
good("unknown-keys", "key-str8-short", "a key may use any string width", "ping", 5, m((b"\xd9\x01k", NIL)), {}, canonical=False)
good("unknown-keys", "key-empty", "an empty key is a key", "ping", 5, m(("", NIL)), {}, canonical=False)

def broken(id_, comment, payload, error):
    bad("msgpack", id_, comment, "ping", 5, payload, error)

broken("map-65-entries", "one entry too many", m(*[(f"k{i}", NIL) for i in range(65)]), "too_many")
broken("array-65-elements", "one element too many in an array other than passages", m(("x", a(*[NIL] * 65))), "too_many")
bad_bytes("msgpack", "map32-huge-count", "4 G entries announced in 5 bytes: refused before anything is read", frame("ping", 5, b"\xdf\xff\xff\xff\xff"), "too_many")
bad_bytes("msgpack", "array32-huge-count", "4 G elements announced", frame("ping", 5, m(("x", b"\xdd\xff\xff\xff\xff"))), "too_many")
bad_bytes("msgpack", "nested-map-huge-count", "65,535 entries announced", frame("ping", 5, m(("x", b"\xde\xff\xff"))), "too_many")
broken("str32-huge-length", "4 GiB announced, one byte there", m(("x", b"\xdb\xff\xff\xff\xffa")), "truncated")
broken("bin32-huge-length", "4 GiB announced, one byte there", m(("x", b"\xc6\xff\xff\xff\xffa")), "truncated")
broken("depth-5", "one level too deep", m(("x", a(a(a(a()))))), "depth")
broken("depth-5-maps", "one level too deep", m(("x", m(("x", m(("x", m(("x", m())))))))), "depth")
bad_bytes("msgpack", "depth-20000", "a stack overflow for readers that recurse", frame("ping", 5, m(("x", b"\x91" * 20000))), "depth")
broken("key-65-bytes", "one byte too long", m(("k" * 65, NIL)), "too_long")
broken("key-integer", "keys are strings", m((u(1), NIL)), "wrong_type")
broken("key-nil", "keys are strings", m((NIL, NIL)), "wrong_type")
broken("key-bin", "keys are strings", m((b(b"k"), NIL)), "wrong_type")
broken("key-nested-integer", "keys of skipped maps too", m(("x", m((u(1), NIL)))), "wrong_type")
broken("key-bad-utf8", "keys are UTF-8", m((s(b"\xff"), NIL)), "bad_utf8")
broken("unknown-key-repeated", "maps must not repeat a key, known or not", m(("x", u(1)), ("x", u(1))), "duplicate_key")
broken("unknown-key-repeated-in-other-width", "the same key, fixstr and str8", m(("x", u(1)), (b"\xd9\x01x", u(2))), "duplicate_key")
broken("key-repeated-in-skipped-map", "skipped maps too", m(("x", m(("a", u(1)), ("a", u(2))))), "duplicate_key")
broken("skipped-string-bad-utf8", "strings are UTF-8, skipped or not", m(("x", s(b"\xc3\x28"))), "bad_utf8")
broken("ext-fixext1", "no ext types", m(("x", b"\xd4\x05\x00")), "ext")
broken("ext-fixext16", "no ext types", m(("x", b"\xd8\x05" + b"\x00" * 16)), "ext")
broken("ext-ext8", "no ext types", m(("x", b"\xc7\x01\x05\x00")), "ext")
broken("ext-ext32", "no ext types", m(("x", b"\xc9\x00\x00\x00\x01\x05\x00")), "ext")
broken("ext-timestamp", "not even timestamps", m(("x", b"\xd6\xff\x00\x00\x00\x00")), "ext")
broken("code-never-used", "0xc1 is not MessagePack", m(("x", b"\xc1")), "bad_msgpack")
broken("value-missing", "the payload ends behind a key", b"\x81" + s("x"), "truncated")
broken("entry-missing", "two entries announced, one there", b"\x82" + s("x") + NIL, "truncated")
broken("uint64-cut", "the payload ends in an integer", b"\x81" + s("x") + b"\xcf\x00", "truncated")
broken("str8-length-cut", "the payload ends before a length", b"\x81" + s("x") + b"\xd9", "truncated")

# --- hello and welcome --------------------------------------------------------------------------------------------------------

HELLO = dict(protocol=u(1), client=s("ranking-proxy 1.0.0"))
WELCOME_FIELDS = dict(
    protocol=1, server="ranking-task 1.0.0", task="text_query_documents_to_relevance", task_version="1.0", model="minilm-l6-rerank",
    revision="", family="bert", backend="openvino", precision="int8", bundle_digest="sha256:" + "0123456789abcdef" * 4,
    score_kind="logit", max_tokens=512, max_passages=512, pointwise=True)


def packed(fields):
    return {k: TRUE if v is True else FALSE if v is False else u(v) if isinstance(v, int) else s(v) for k, v in fields.items()}


WELCOME = packed(WELCOME_FIELDS)


def mm(base, **changes):
    """A payload of `base` with entries changed, added, or (None) left out."""
    return m(*[(k, v) for k, v in {**base, **changes}.items() if v is not None])


good("hello", "hello", "the usual hello", "hello", 0, mm(HELLO), dict(protocol=1, client="ranking-proxy 1.0.0"))
good("hello", "hello-other-version", "decodes; the Task answers unsupported_version", "hello", 0, mm(HELLO, protocol=u(2)), dict(protocol=2, client="ranking-proxy 1.0.0"))
good("hello", "hello-version-largest", "65,535 is the largest version", "hello", 0, mm(HELLO, protocol=u(65535)), dict(protocol=65535, client="ranking-proxy 1.0.0"))
good("hello", "hello-client-4096-bytes", "as long as a short string may be", "hello", 0, mm(HELLO, client=s("c" * 4096)), dict(protocol=1, client="c" * 4096))
good("hello", "hello-keys-swapped", "order of keys has no meaning", "hello", 0, m(("client", HELLO["client"]), ("protocol", u(1))), dict(protocol=1, client="ranking-proxy 1.0.0"), canonical=False)
bad("hello", "hello-client-4097-bytes", "one byte too long", "hello", 0, mm(HELLO, client=s("c" * 4097)), "too_long")
bad("hello", "hello-version-zero", "below the bounds", "hello", 0, mm(HELLO, protocol=u(0)), "out_of_range")
bad("hello", "hello-version-65536", "above the bounds", "hello", 0, mm(HELLO, protocol=u(65536)), "out_of_range")
bad("hello", "hello-without-version", "required", "hello", 0, mm(HELLO, protocol=None), "missing_field")
bad("hello", "hello-without-client", "required", "hello", 0, mm(HELLO, client=None), "missing_field")
bad("hello", "hello-empty", "required keys", "hello", 0, m(), "missing_field")
bad("hello", "hello-client-bin", "a bin is not a string", "hello", 0, mm(HELLO, client=b(b"proxy")), "wrong_type")
bad("hello", "hello-version-string", "a string is not an integer", "hello", 0, mm(HELLO, protocol=s("1")), "wrong_type")
bad("hello", "hello-version-float", "a float is not an integer", "hello", 0, mm(HELLO, protocol=b"\xca\x3f\x80\x00\x00"), "wrong_type")
bad("hello", "hello-version-twice", "maps must not repeat a key", "hello", 0, m(("protocol", u(1)), ("client", HELLO["client"]), ("protocol", u(1))), "duplicate_key")
bad("hello", "hello-exchange", "hello is of the connection", "hello", 1, mm(HELLO), "bad_exchange")

good("welcome", "welcome", "the usual welcome; revision unknown", "welcome", 0, mm(WELCOME), WELCOME_FIELDS)
other = dict(WELCOME_FIELDS, revision="c5ee24cb", bundle_digest="", score_kind="unbounded", max_tokens=0, max_passages=16384, pointwise=False)
good("welcome", "welcome-null-task", "no tokens counted, no files, most passages", "welcome", 0, mm(packed(other)), other)
most = dict(WELCOME_FIELDS, score_kind="probability", max_tokens=2**31, max_passages=1)
good("welcome", "welcome-bounds", "largest max_tokens, fewest passages", "welcome", 0, mm(packed(most)), most)
good("welcome", "welcome-unknown-key", "a later minor addition", "welcome", 0, mm(WELCOME, languages=a(s("en"), s("de"))), WELCOME_FIELDS, canonical=False)
bad("welcome", "welcome-max-tokens-over", "2^31 is the bound", "welcome", 0, mm(WELCOME, max_tokens=u(2**31 + 1)), "out_of_range")
bad("welcome", "welcome-max-passages-zero", "1 is the bound", "welcome", 0, mm(WELCOME, max_passages=u(0)), "out_of_range")
bad("welcome", "welcome-max-passages-over", "16,384 is the bound", "welcome", 0, mm(WELCOME, max_passages=u(16385)), "out_of_range")
bad("welcome", "welcome-score-kind-unknown", "not a score kind", "welcome", 0, mm(WELCOME, score_kind=s("cosine")), "bad_value")
bad("welcome", "welcome-pointwise-integer", "1 is not true", "welcome", 0, mm(WELCOME, pointwise=u(1)), "wrong_type")
bad("welcome", "welcome-pointwise-nil", "nil is not false", "welcome", 0, mm(WELCOME, pointwise=NIL), "wrong_type")
for key in WELCOME_FIELDS:
    bad("welcome", f"welcome-without-{key.replace('_', '-')}", "required", "welcome", 0, mm(WELCOME, **{key: None}), "missing_field")

# --- rank ---------------------------------------------------------------------------------------------------------------------

RANK = dict(id=s("r1"), query=s("q"), passages=a(s("p")), truncate=s("NONE"))
RANK_FIELDS = dict(id="r1", query="q", passages=["p"], truncate="NONE")


def rank(id_, comment, fields=None, canonical=True, **changes):
    good("rank", id_, comment, "rank", 3, mm(RANK, **changes), {**RANK_FIELDS, **(fields or {})}, canonical)


def bad_rank(id_, comment, error, **changes):
    bad("rank", id_, comment, "rank", 3, mm(RANK, **changes), error)


rank("rank-shortest", "second frame of PROTOCOL.md, section 10")
rank("rank-all-fields", "every optional field",
     dict(truncate="END", deadline_ms=30000, max_passage_tokens=128, traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
     truncate=s("END"), deadline_ms=u(30000), max_passage_tokens=u(128), traceparent=s("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
rank("rank-truncate-start", "the third way to cut", dict(truncate="START"), truncate=s("START"))
rank("rank-bounds-largest", "largest values", dict(deadline_ms=2**31, max_passage_tokens=2**31), deadline_ms=u(2**31), max_passage_tokens=u(2**31))
rank("rank-bounds-smallest", "smallest values", dict(deadline_ms=1, max_passage_tokens=1), deadline_ms=u(1), max_passage_tokens=u(1))
rank("rank-deadline-zero", "0 is as good as absent", canonical=False, deadline_ms=u(0))
rank("rank-traceparent-empty", "empty is as good as absent", canonical=False, traceparent=s(""))
rank("rank-empty-texts", "emptiness is judged elsewhere", dict(query="", passages=["", "x", ""]), query=s(""), passages=a(s(""), s("x"), s("")))
rank("rank-no-passages", "decodes; the Task answers invalid_request and the connection survives", dict(passages=[]), canonical=False, passages=a())
texts = ["Grüße", "日本語の文", "العربية", "e\u0301 combining", "👩‍🚀 joined", "nul \x00 inside", "[SEP] </s>", "\ufeff mark", "\U0010ffff last"]
rank("rank-unicode", "1 to 4 byte UTF-8, NUL, byte order mark, last code point", dict(query="naïve", passages=texts), query=s("naïve"), passages=a(*map(s, texts)))
sizes = [31, 32, 255, 256, 65535, 65536]
good("rank-large", "rank-string-widths", "each side of every string width", "rank", 3, mm(RANK, passages=a(*[s("p" * n) for n in sizes])), dict(RANK_FIELDS, passages=["p" * n for n in sizes]))
rank("rank-15-passages", "the largest fixarray", dict(passages=list("abcdefghijklmno")), passages=a(*map(s, "abcdefghijklmno")))
rank("rank-16-passages", "the smallest array16", dict(passages=list("abcdefghijklmnop")), passages=a(*map(s, "abcdefghijklmnop")))
rank("rank-65-passages", "passages are not bound to 64", dict(passages=[str(i) for i in range(65)]), passages=a(*[s(str(i)) for i in range(65)]))
rank("rank-passages-array32", "any width of array", canonical=False, passages=b"\xdd\x00\x00\x00\x01" + s("p"))
rank("rank-passage-str8", "any width of string", canonical=False, passages=a(b"\xd9\x01p"))
rank("rank-passage-str16", "any width of string", canonical=False, passages=a(b"\xda\x00\x01p"))
rank("rank-passage-str32", "any width of string", canonical=False, passages=a(b"\xdb\x00\x00\x00\x01p"))
for width, enc in (("uint8", b"\xcc\x07"), ("uint16", b"\xcd\x00\x07"), ("uint32", b"\xce\x00\x00\x00\x07"), ("uint64", b"\xcf" + b"\x00" * 7 + b"\x07"),
                   ("int8", b"\xd0\x07"), ("int16", b"\xd1\x00\x07"), ("int32", b"\xd2\x00\x00\x00\x07"), ("int64", b"\xd3" + b"\x00" * 7 + b"\x07")):
    rank(f"rank-deadline-{width}", "integers may use any width", dict(deadline_ms=7), canonical=False, deadline_ms=enc)
rank("rank-unknown-keys", "a later minor addition before, between and behind", canonical=False, priority=u(3), labels=m(("tenant", s("a"))), hint=NIL)
good("rank", "rank-unknown-key-first", "skipped wherever it stands", "rank", 3, m(("z", a(u(1))), *RANK.items()), RANK_FIELDS, canonical=False)
good("rank", "rank-keys-reversed", "order of keys has no meaning", "rank", 3, m(*reversed(RANK.items())), RANK_FIELDS, canonical=False)
good("rank", "rank-map32", "any width of map", "rank", 3, b"\xdf\x00\x00\x00\x04" + mm(RANK)[1:], RANK_FIELDS, canonical=False)
good("rank", "rank-exchange-largest", "all 64 bits of the exchange count", "rank", 2**64 - 1, mm(RANK), RANK_FIELDS)
rank("rank-id-one-byte", "the shortest id", dict(id="0"), id=s("0"))
rank("rank-id-128-bytes", "the longest id", dict(id="a" * 128), id=s("a" * 128))
rank("rank-id-every-mark", "every character an id may have", dict(id="Zz09._:-"), id=s("Zz09._:-"))
for name, value in (("empty", ""), ("129-bytes", "a" * 129), ("leading-dot", ".r1"), ("leading-dash", "-r1"), ("space", "r 1"), ("slash", "r/1"),
                    ("newline", "r1\n"), ("nul", "r1\x00"), ("not-ascii", "ré")):
    bad_rank(f"rank-id-{name}", "breaks the pattern of ids", "bad_id", id=s(value))
for key in RANK:
    bad_rank(f"rank-without-{key}", "required", "missing_field", **{key: None})
bad_rank("rank-id-integer", "an integer is not a string", "wrong_type", id=u(1))
bad_rank("rank-query-nil", "nil is not a string", "wrong_type", query=NIL)
bad_rank("rank-query-bin", "a bin is not a string", "wrong_type", query=b(b"q"))
bad_rank("rank-passages-string", "a string is not an array", "wrong_type", passages=s("p"))
bad_rank("rank-passages-map", "a map is not an array", "wrong_type", passages=m(("0", s("p"))))
bad_rank("rank-passages-nil", "nil is not an array", "wrong_type", passages=NIL)
bad_rank("rank-passage-integer", "an integer is not a string", "wrong_type", passages=a(s("p"), u(1)))
bad_rank("rank-passage-nil", "nil is not a string", "wrong_type", passages=a(NIL))
bad_rank("rank-passage-array", "an array is not a string", "wrong_type", passages=a(a(s("p"))))
bad_rank("rank-passage-ext", "no ext types", "ext", passages=a(b"\xd4\x05\x00"))
bad_rank("rank-truncate-unknown", "not a way to cut", "bad_value", truncate=s("MIDDLE"))
bad_rank("rank-truncate-lower-case", "values are exact", "bad_value", truncate=s("none"))
bad_rank("rank-deadline-negative-fixint", "below the bounds", "out_of_range", deadline_ms=b"\xff")
bad_rank("rank-deadline-negative-int64", "below the bounds", "out_of_range", deadline_ms=b"\xd3" + b"\xff" * 8)
bad_rank("rank-deadline-over", "2^31 is the bound", "out_of_range", deadline_ms=u(2**31 + 1))
bad_rank("rank-deadline-uint64-wraps", "2^64 - 1 is not -1, and 2^32 + 7 not 7", "out_of_range", deadline_ms=u(2**32 + 7))
bad_rank("rank-deadline-nil", "nil is not absent", "wrong_type", deadline_ms=NIL)
bad_rank("rank-deadline-float", "a float is not an integer", "wrong_type", deadline_ms=b"\xcb\x40\x1c" + b"\x00" * 6)
bad_rank("rank-deadline-bool", "true is not an integer", "wrong_type", deadline_ms=TRUE)
bad_rank("rank-max-passage-tokens-zero", "1 is the bound", "out_of_range", max_passage_tokens=u(0))
bad_rank("rank-max-passage-tokens-over", "2^31 is the bound", "out_of_range", max_passage_tokens=u(2**31 + 1))
bad_rank("rank-traceparent-4097-bytes", "one byte too long", "too_long", traceparent=s("0" * 4097))
for name, raw in (("lone-continuation", b"a\x80"), ("overlong", b"\xc0\xaf"), ("overlong-nul", b"\xe0\x80\x80"), ("surrogate", b"\xed\xa0\x80"),
                  ("surrogate-pair", b"\xed\xa0\xbd\xed\xb8\x80"), ("beyond-last", b"\xf4\x90\x80\x80"), ("cut", b"\xe6\x97"), ("ff", b"\xff")):
    bad_rank(f"rank-passage-utf8-{name}", "not UTF-8", "bad_utf8", passages=a(s("fine"), s(raw)))
bad_rank("rank-query-utf8-surrogate", "not UTF-8", "bad_utf8", query=s(b"\xed\xa0\x80"))
bad("rank", "rank-id-twice", "maps must not repeat a key", "rank", 3, m(*RANK.items(), ("id", s("r2"))), "duplicate_key")
bad("rank", "rank-trailing-byte", "one map and nothing behind it", "rank", 3, mm(RANK) + NIL, "trailing_bytes")
bad("rank", "rank-exchange-zero", "a rank opens an exchange", "rank", 0, mm(RANK), "bad_exchange")
bad_bytes("rank", "rank-passages-16385", "announced alone: refused before its elements", frame("rank", 3, m(("passages", array_head(16385)))), "too_many")
bad_bytes("rank", "rank-passages-huge-count", "4 G elements announced", frame("rank", 3, m(("passages", b"\xdd\xff\xff\xff\xff"))), "too_many")
bad_bytes("rank", "rank-passages-16384-and-none", "a count within the limit that the payload cannot hold", frame("rank", 3, m(("passages", array_head(16384)))), "truncated")
payload = mm(RANK)
for n in (1, 4, 9, 11, 22, len(payload) - 1):
    bad("rank", f"rank-payload-cut-at-{n}", "the payload ends early although the frame is whole", "rank", 3, payload[:n], "truncated")
full = dict(RANK_FIELDS, passages=[""] * 16384)
good("rank-large", "rank-16384-passages", "as many passages as a rank may have", "rank", 3, mm(RANK, passages=a(*[s("")] * 16384)), full)

# --- scores -------------------------------------------------------------------------------------------------------------------

SCORES = dict(id=s("r1"), scores=f32(0x3FC00000), queue_us=u(0), tokenize_us=u(0), public_task_call_wall_us=u(0), batches=u(0))
SCORES_FIELDS = dict(id="r1", scores=["0x3fc00000"], queue_us=0, tokenize_us=0, public_task_call_wall_us=0, batches=0)
FULL = dict(id=s("r1"), scores=f32(0x3FC00000, 0xC0200000), pair_tokens=u32(17, 512), truncated=u(1), queue_us=u(250), tokenize_us=u(90),
            public_task_call_wall_us=u(4211), batches=u(2), padding_tokens=u(31))
FULL_FIELDS = dict(id="r1", scores=["0x3fc00000", "0xc0200000"], pair_tokens=[17, 512], truncated=1, queue_us=250, tokenize_us=90,
                   public_task_call_wall_us=4211, batches=2, padding_tokens=31)


def scores(id_, comment, base, fields, canonical=True, exchange=3, **changes):
    good("scores", id_, comment, "scores", exchange, mm(base, **changes), fields, canonical)


def bad_scores(id_, comment, error, base=SCORES, **changes):
    bad("scores", id_, comment, "scores", 3, mm(base, **changes), error)


def with_bits(*bits):
    return dict(SCORES_FIELDS, scores=[f"0x{x:08x}" for x in bits])


scores("scores-full", "a Task that counts tokens", FULL, FULL_FIELDS)
scores("scores-no-tokens", "a Task that counts no tokens leaves their fields out", SCORES, SCORES_FIELDS)
scores("scores-required-only", "tokenize_us and batches may be absent: 0", SCORES, {k: v for k, v in SCORES_FIELDS.items() if k not in ("tokenize_us", "batches")},
       canonical=False, tokenize_us=None, batches=None)
for name, bits in (("zeros", (0x00000000, 0x80000000)), ("subnormal-smallest", (0x00000001, 0x80000001)), ("subnormal-largest", (0x007FFFFF, 0x807FFFFF)),
                   ("normal-smallest", (0x00800000, 0x80800000)), ("normal-largest", (0x7F7FFFFF, 0xFF7FFFFF)),
                   ("neighbours-of-one", (0x3F7FFFFF, 0x3F800000, 0x3F800001)), ("each-byte-differs", (0x01020304, 0x84030201))):
    scores(f"scores-bits-{name}", "every bit arrives", SCORES, with_bits(*bits), scores=f32(*bits))
many = [0x3F800000 + i for i in range(64)]
scores("scores-bin16", "64 scores fill 256 bytes: bin16", SCORES, with_bits(*many), scores=f32(*many))
scores("scores-bin32", "any width of bin", SCORES, SCORES_FIELDS, canonical=False, scores=b"\xc6\x00\x00\x00\x04\x00\x00\xc0\x3f")
scores("scores-counters-largest", "64-bit times and padding, 32-bit counts", FULL,
       dict(FULL_FIELDS, pair_tokens=[0, 2**32 - 1], truncated=2**32 - 1, queue_us=2**64 - 1, tokenize_us=2**64 - 1, public_task_call_wall_us=2**64 - 1,
            batches=2**32 - 1, padding_tokens=2**64 - 1),
       pair_tokens=u32(0, 2**32 - 1), truncated=u(2**32 - 1), queue_us=u(2**64 - 1), tokenize_us=u(2**64 - 1), public_task_call_wall_us=u(2**64 - 1),
       batches=u(2**32 - 1), padding_tokens=u(2**64 - 1))
scores("scores-unknown-key", "a later minor addition", FULL, FULL_FIELDS, canonical=False, energy_uj=u(7))
for name, bits in (("nan-quiet", 0x7FC00000), ("nan-payload", 0xFFC12345), ("nan-signalling", 0x7F800001), ("infinity", 0x7F800000), ("infinity-negative", 0xFF800000)):
    bad_scores(f"scores-{name}", "all scores are finite, the last one too", "not_finite", scores=f32(0x3F800000, bits))
bad_scores("scores-cut-element", "7 bytes are no elements of 4", "bad_length", scores=b(b"\x00" * 7))
bad_scores("scores-pair-tokens-cut-element", "3 bytes are no elements of 4", "bad_length", base=FULL, pair_tokens=b(b"\x00" * 3))
bad_scores("scores-pair-tokens-fewer", "one count for two scores", "count_mismatch", base=FULL, pair_tokens=u32(17))
bad_scores("scores-pair-tokens-more", "three counts for two scores", "count_mismatch", base=FULL, pair_tokens=u32(17, 18, 19))
bad_scores("scores-as-array", "scores are packed", "wrong_type", scores=a(b"\xca\x3f\xc0\x00\x00"))
bad_scores("scores-as-string", "a string is not a bin", "wrong_type", scores=s("abcd"))
bad_scores("scores-nil", "nil is not a bin", "wrong_type", scores=NIL)
bad_scores("scores-pair-tokens-array", "pair_tokens are packed", "wrong_type", base=FULL, pair_tokens=a(u(17), u(512)))
bad_scores("scores-queue-negative", "below the bounds", "out_of_range", queue_us=b"\xff")
bad_scores("scores-batches-over-32-bits", "counts have 32 bits", "out_of_range", batches=u(2**32))
bad_scores("scores-truncated-over-32-bits", "counts have 32 bits", "out_of_range", base=FULL, truncated=u(2**32))
bad_scores("scores-id-bad", "breaks the pattern of ids", "bad_id", id=s(" r1"))
for key in ("id", "scores", "queue_us", "public_task_call_wall_us"):
    bad_scores(f"scores-without-{key.replace('_', '-')}", "required", "missing_field", **{key: None})
bad("scores", "scores-exchange-zero", "an answer names an exchange", "scores", 0, mm(SCORES), "bad_exchange")
bad("scores", "scores-twice", "maps must not repeat a key", "scores", 3, m(*SCORES.items(), ("scores", f32(0))), "duplicate_key")
bad_bytes("scores", "scores-bin32-huge-length", "4 GiB announced", frame("scores", 3, m(("id", s("r1")), ("scores", b"\xc6\xff\xff\xff\xff"))), "truncated", "task")

# --- error --------------------------------------------------------------------------------------------------------------------

ERROR = dict(id=s("r1"), code=s("input_too_long"), message=s("pair 3 has 600 tokens, at most 512 pass"), passage=u(3), tokens=u(600), max_tokens=u(512), offending=u(2))
ERROR_FIELDS = dict(id="r1", code="input_too_long", message="pair 3 has 600 tokens, at most 512 pass", passage=3, tokens=600, max_tokens=512, offending=2)


def error(id_, comment, payload, fields, exchange=3, canonical=True):
    good("error", id_, comment, "error", exchange, payload, fields, canonical)


error("error-input-too-long", "names the first passage at fault", mm(ERROR), ERROR_FIELDS)
error("error-passage-zero", "0 is an index, not absence", mm(ERROR, passage=u(0)), dict(ERROR_FIELDS, passage=0))
error("error-busy", "tells when to come again", m(("id", s("r1")), ("code", s("server_busy")), ("message", s("queue full")), ("retry_after_ms", u(1500))),
      dict(id="r1", code="server_busy", message="queue full", retry_after_ms=1500))
error("error-busy-at-once", "0 ms is a time, not absence", m(("id", s("r1")), ("code", s("server_busy")), ("message", s("queue full")), ("retry_after_ms", u(0))),
      dict(id="r1", code="server_busy", message="queue full", retry_after_ms=0))
for code in ("invalid_request", "backend_rejected_request", "backend_unavailable", "backend_failed", "deadline_exceeded", "cancelled"):
    error(f"error-{code.replace('_', '-')}", "of a rank", m(("id", s("r1")), ("code", s(code)), ("message", s("why"))), dict(id="r1", code=code, message="why"))
for code in ("protocol_error", "unsupported_version"):
    error(f"error-{code.replace('_', '-')}", "of the connection, exchange 0", m(("code", s(code)), ("message", s("why"))), dict(code=code, message="why"), exchange=0)
error("error-code-unknown", "decodes; the client treats it as backend_failed", m(("id", s("r1")), ("code", s("out_of_coffee")), ("message", s(""))),
      dict(id="r1", code="out_of_coffee", message=""))
error("error-numbers-largest", "32 bits", mm(ERROR, passage=u(2**32 - 1), retry_after_ms=u(2**32 - 1)), dict(ERROR_FIELDS, passage=2**32 - 1, retry_after_ms=2**32 - 1))
error("error-unknown-key", "a later minor addition", mm(ERROR, docs=s("see the document")), ERROR_FIELDS, canonical=False)
bad("error", "error-without-code", "required", "error", 3, mm(ERROR, code=None), "missing_field")
bad("error", "error-without-message", "required", "error", 3, mm(ERROR, message=None), "missing_field")
bad("error", "error-id-empty", "an id is present and right, or absent", "error", 3, mm(ERROR, id=s("")), "bad_id")
bad("error", "error-message-4097-bytes", "one byte too long", "error", 3, mm(ERROR, message=s("m" * 4097)), "too_long")
bad("error", "error-message-bad-utf8", "not UTF-8", "error", 3, mm(ERROR, message=s(b"\xe6\x97")), "bad_utf8")
bad("error", "error-passage-negative", "below the bounds", "error", 3, mm(ERROR, passage=b"\xff"), "out_of_range")
bad("error", "error-tokens-over-32-bits", "32 bits", "error", 3, mm(ERROR, tokens=u(2**32)), "out_of_range")
bad("error", "error-offending-string", "a string is not an integer", "error", 3, mm(ERROR, offending=s("2")), "wrong_type")

# --- pong and goaway ----------------------------------------------------------------------------------------------------------

PONG_FIELDS = dict(ready=True, oldest_call_ms=12, queued_requests=3, queued_pairs=96, queued_tokens=12288, queued_tokens_max=65536, running_batches=1)
PONG = packed(PONG_FIELDS)
MAPS_FIELDS = dict(counters={"batches_total": 41, "cancelled_pairs_total": 0}, gauges={"open_fds": 9, "resident_bytes": 2**33, "threads": 6},
                   histograms={"batch_pairs": [0, 1, 2, 3, 5, 41, 41, 41, 41], "call_us": []})
MAPS = dict(counters=m(("batches_total", u(41)), ("cancelled_pairs_total", u(0))), gauges=m(("open_fds", u(9)), ("resident_bytes", u(2**33)), ("threads", u(6))),
            histograms=m(("batch_pairs", a(*map(u, (0, 1, 2, 3, 5, 41, 41, 41, 41)))), ("call_us", a())))


def bad_pong(id_, comment, error_, **changes):
    bad("pong", id_, comment, "pong", 2, mm(PONG, **changes), error_)


good("pong", "pong-shortest", "required fields only", "pong", 2, mm(PONG), PONG_FIELDS)
good("pong", "pong-full", "keys of the inner maps in byte order", "pong", 2, mm(PONG, **MAPS), {**PONG_FIELDS, **MAPS_FIELDS})
idle = dict.fromkeys(PONG_FIELDS, 0) | dict(ready=False)
good("pong", "pong-draining", "false and zeros are values, not absence", "pong", 2, mm(packed(idle)), idle)
huge = dict.fromkeys(PONG_FIELDS, 2**64 - 1) | dict(ready=True)
good("pong", "pong-largest", "64 bits", "pong", 2, mm(packed(huge)), huge)
good("pong", "pong-empty-maps", "empty is as good as absent", "pong", 2, mm(PONG, counters=m(), gauges=m(), histograms=m()), PONG_FIELDS, canonical=False)
good("pong", "pong-inner-keys-unordered", "order of keys has no meaning", "pong", 2, mm(PONG, counters=m(("b", u(2)), ("a", u(1)))), {**PONG_FIELDS, "counters": {"a": 1, "b": 2}}, canonical=False)
good("pong", "pong-histogram-64-buckets", "as many elements as an array may have", "pong", 2, mm(PONG, histograms=m(("h", a(*[u(1)] * 64)))), {**PONG_FIELDS, "histograms": {"h": [1] * 64}})
for key in PONG_FIELDS:
    bad_pong(f"pong-without-{key.replace('_', '-')}", "required", "missing_field", **{key: None})
bad_pong("pong-ready-integer", "1 is not true", "wrong_type", ready=u(1))
bad_pong("pong-queued-negative", "below the bounds", "out_of_range", queued_pairs=b"\xd0\x80")
bad_pong("pong-counters-array", "an array is not a map", "wrong_type", counters=a())
bad_pong("pong-counters-nil", "nil is not a map", "wrong_type", counters=NIL)
bad_pong("pong-counter-string", "a string is not an integer", "wrong_type", counters=m(("a", s("1"))))
bad_pong("pong-counter-negative", "below the bounds", "out_of_range", counters=m(("a", b"\xff")))
bad_pong("pong-counter-repeated", "inner maps too", "duplicate_key", counters=m(("a", u(1)), ("a", u(1))))
bad_pong("pong-counter-key-integer", "keys are strings", "wrong_type", gauges=m((u(1), u(1))))
bad_pong("pong-counter-key-65-bytes", "one byte too long", "too_long", gauges=m(("k" * 65, u(1))))
bad_pong("pong-counters-65", "one entry too many", "too_many", counters=m(*[(f"c{i}", u(i)) for i in range(65)]))
bad_pong("pong-histogram-65-buckets", "one element too many", "too_many", histograms=m(("h", a(*[u(1)] * 65))))
bad_pong("pong-histogram-integer", "an integer is not an array", "wrong_type", histograms=m(("h", u(1))))
bad_pong("pong-histogram-float", "a float is not an integer", "wrong_type", histograms=m(("h", a(b"\xca\x3f\x80\x00\x00"))))
bad_pong("pong-histogram-nested", "an array is not an integer", "wrong_type", histograms=m(("h", a(a()))))
bad("pong", "pong-exchange-zero", "an answer names an exchange", "pong", 0, mm(PONG), "bad_exchange")

good("goaway", "goaway", "the Task drains", "goaway", 0, m(("reason", s("shutdown"))), dict(reason="shutdown"))
good("goaway", "goaway-unknown-key", "a later minor addition", "goaway", 0, m(("reason", s("shutdown")), ("grace_ms", u(5000))), dict(reason="shutdown"), canonical=False)
bad("goaway", "goaway-without-reason", "required", "goaway", 0, m(), "missing_field")
bad("goaway", "goaway-reason-nil", "nil is not a string", "goaway", 0, m(("reason", NIL)), "wrong_type")

for name, vectors in files.items():
    lines = ",\n".join(json.dumps(v, ensure_ascii=True) for v in vectors)
    (HERE / f"{name}.json").write_text(f"[\n{lines}\n]\n")
print(sum(map(len, files.values())), "vectors in", len(files), "files")
