"""Both implementations of Avro's nodes, on the same values and bytes."""

from __future__ import annotations

import datetime
import random
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from serdes.formats.avro.logical import INSTANTS, LOCALS
from serdes.kernels.misfit import MAX_DEPTH, Misfit
from tests.memory import kept
from tests.unit.serdes.kernels.nodes import NODES, Built, nodes_of, outcome

ALL = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "n", "type": "null"},
        {"name": "b", "type": "boolean"},
        {"name": "i", "type": "int"},
        {"name": "l", "type": "long"},
        {"name": "f", "type": "float"},
        {"name": "d", "type": "double"},
        {"name": "y", "type": "bytes"},
        {"name": "s", "type": "string", "default": "d"},
        {"name": "x", "type": {"type": "fixed", "name": "F", "size": 2}},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}},
        {"name": "a", "type": {"type": "array", "items": ["null", "long", "string"]}},
        {"name": "m", "type": {"type": "map", "values": {"type": "int", "logicalType": "date"}}},
        {"name": "o", "type": ["null", "R"]},
    ],
}
VALUE: dict[str, Any] = {
    "n": None,
    "b": True,
    "i": -5,
    "l": 2**62,
    "f": 1.5,
    "d": 0.1,
    "y": b"\0\xff",
    "s": "é",
    "x": b"ab",
    "e": "B",
    "a": [None, -1, "x"],
    "m": {"k": 5},
    "o": None,
}


@pytest.fixture(params=["pure", "native"])
def kernel(request: pytest.FixtureRequest) -> SimpleNamespace:
    return nodes_of(request.param)


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Built, Built]]:
    native, pure = nodes_of("native"), nodes_of("pure")
    with monkeypatch.context() as patch:
        one = Built(pure, ALL, patch)
    with monkeypatch.context() as patch:
        yield one, Built(native, ALL, patch)


def test_both_have_the_same_nodes() -> None:
    native = nodes_of("native")
    assert all(hasattr(native, name) for name in NODES)


def test_out_and_back(both: tuple[Built, Built]) -> None:
    value = {**VALUE, "o": {**VALUE, "o": VALUE}}
    pure, native = both
    assert pure.encode(value) == native.encode(value)
    assert repr(pure.decode(pure.encode(value))) == repr(native.decode(native.encode(value)))


def fields(**types: Any) -> dict[str, Any]:
    made = [{"name": name, "type": kind} for name, kind in types.items()]
    return {"type": "record", "name": "T", "fields": made}


def of(kind: str, logical: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical, **more}


TIMES = fields(
    **{name.replace("-", "_"): of("long", name) for name in [*INSTANTS, *LOCALS]},
    day=of("int", "date"),
    millis=of("int", "time-millis"),
    micros=of("long", "time-micros"),
)
NUMBERS = fields(
    small=of("bytes", "decimal", precision=5, scale=2),
    whole=of("bytes", "decimal", precision=18),
    long=of("bytes", "decimal", precision=40, scale=17),
    deep=of("bytes", "decimal", precision=40, scale=30),
    fixed=of("fixed", "decimal", name="F12", size=12, precision=20, scale=3),
    short=of("fixed", "decimal", name="F2", size=2, precision=4, scale=1),
)
KEYS = fields(text=of("string", "uuid"), octets=of("fixed", "uuid", name="F16", size=16))


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], tuple[Built, Built]]:
    def build(schema: Any) -> tuple[Built, Built]:
        with monkeypatch.context() as patch:
            pure = Built(nodes_of("pure"), schema, patch)
        with monkeypatch.context() as patch:
            return pure, Built(nodes_of("native"), schema, patch)

    return build


def numbers(rng: random.Random) -> Iterator[int]:
    """Whole numbers of all sizes, and those beside the bounds of Python's dates."""
    for bound in (-719_162, 2_932_896, 0, -62_135_596_800, 253_402_300_799):
        for units in (1, 1000, 10**6, 10**9):
            yield from (bound * units + near for near in (-1, 0, 1, units - 1, units))
    for bits in range(64):
        yield rng.getrandbits(bits) * rng.choice((1, -1))


def zigzag(value: int) -> bytes:
    return number((value << 1) ^ (value >> 63))


def test_points_in_time_alike(patched: Any) -> None:
    values, refused = 0, 0
    for field in TIMES["fields"]:
        pure, native = patched({**TIMES, "fields": [field]})
        for value in numbers(random.Random(3)):
            if not -(2**63) <= value < 2**63:
                continue
            found = outcome(pure.decode, b"!" + zigzag(value))
            assert found == outcome(native.decode, b"!" + zigzag(value))
            refused += isinstance(found, tuple)
            if not isinstance(found, tuple):
                values += 1
                made = pure.decode(b"!" + zigzag(value))
                assert native.encode(made) == pure.encode(made) == b"!" + zigzag(value)
    assert values > 500
    assert refused > 100


MOMENTS = [
    datetime.datetime(1, 1, 1, tzinfo=datetime.UTC),
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999, datetime.UTC),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, datetime.UTC),
    datetime.datetime(2000, 2, 29, 1, 2, 3, 4, datetime.timezone(datetime.timedelta(hours=-5))),
    datetime.datetime(2100, 3, 1, fold=1),
    datetime.date(1900, 3, 1),
    datetime.date(9999, 12, 31),
    datetime.time(23, 59, 59, 999_999),
    datetime.time(1, 2, tzinfo=datetime.UTC),
    "2000-01-01",
    5,
    -(2**63),
    True,
    None,
]


def test_moments_alike(patched: Any) -> None:
    for field in TIMES["fields"]:
        pure, native = patched({**TIMES, "fields": [field]})
        for moment in MOMENTS:
            assert outcome(pure.encode, {field["name"]: moment}) == outcome(native.encode, {field["name"]: moment})


def test_decimals_alike(patched: Any) -> None:
    rng = random.Random(4)
    texts = ["0", "-0", "0.00", "-0.00", "1E+2", "1E-2", "1.5E3", "NaN", "-Infinity", "sNaN1", "999.99", "-999.99"]
    texts += ["1000.00", "0.001", "1.10000", "99999999999999999", "999999999999999999", "1000000000000000000", "-128"]
    texts += ["127", "128", "32767", "-32768", "-9223372036854775808", "0.00000000000000001", "1E-40"]
    texts += [f"{rng.choice('+-')}{rng.getrandbits(rng.randint(1, 90))}" for _ in range(100)]
    texts += [f"{rng.getrandbits(rng.randint(1, 40))}.{rng.getrandbits(rng.randint(1, 40))}" for _ in range(200)]
    written = refused = 0
    for field in NUMBERS["fields"]:
        pure, native = patched({**NUMBERS, "fields": [field]})
        for text in [*map(Decimal, texts), 5, 1.5, b"\1\2", b"", None]:
            found = outcome(pure.encode, {field["name"]: text})
            assert found == outcome(native.encode, {field["name"]: text})
            if isinstance(found, tuple):
                refused += 1
            else:
                written += 1
                data = pure.encode({field["name"]: text})
                assert repr(pure.decode(data)) == repr(native.decode(data))
        for size in range(20):
            for data in (rng.randbytes(size), b"\0" * size, b"\xff" * size, (b"\x80" + b"\0" * size)[:size]):
                payload = b"!" + (data if "fixed" in str(field) else zigzag(size) + data)
                assert outcome(pure.decode, payload) == outcome(native.decode, payload)
    assert written > 300
    assert refused > 300


def test_uuids_alike(patched: Any) -> None:
    given = uuid.UUID(int=0x123456789ABCDEF_FEDCBA987654321)
    safe = uuid.UUID(int=2**128 - 1, is_safe=uuid.SafeUUID.safe)
    texts: list[Any] = [given, safe, str(given), str(given).upper(), given.hex, f"{{{given}}}", "x" * 36, b"x" * 16]
    texts += [str(given)[:-1] + "-", "-" * 36, str(given).replace("-", "_"), f"urn:uuid:{given}", None]
    for field in KEYS["fields"]:
        pure, native = patched({**KEYS, "fields": [field]})
        for text in texts:
            found = outcome(pure.encode, {field["name"]: text})
            assert found == outcome(native.encode, {field["name"]: text})
        for text in [str(text).encode() for text in texts]:
            payload = b"!" + zigzag(len(text)) + text
            assert outcome(pure.decode, payload) == outcome(native.decode, payload)
        made = native.decode(native.encode({field["name"]: given}))[field["name"]]
        assert (made, hash(made), made.is_safe, str(made)) == (given, hash(given), given.is_safe, str(given))


def test_nothing_leaks(patched: Any) -> None:
    native = patched(ALL)[1]
    times, numbers, keys = (patched(schema)[1] for schema in (TIMES, NUMBERS, KEYS))
    payload = native.encode({**VALUE, "o": VALUE})
    moments = times.encode({field["name"]: 0 for field in TIMES["fields"]})
    decimals = numbers.encode(
        {field["name"]: Decimal("1.1" if field["name"] != "whole" else "1") for field in NUMBERS["fields"]}
    )
    names = keys.encode({"text": uuid.UUID(int=5), "octets": uuid.UUID(int=6)})
    wrong = {**VALUE, "o": {**VALUE, "a": [1, 1.5]}}

    def once() -> None:
        for made, data in ((native, payload), (times, moments), (numbers, decimals), (keys, names)):
            assert made.encode(made.decode(data)) == data
            outcome(made.decode, data[:-1])
        outcome(native.encode, wrong)
        outcome(native.encode, {**VALUE, "s": "x" * 5000})

    assert kept(once, 150).objects < 64


BAD = [
    None,
    True,
    5,
    -(2**31) - 1,
    2**63,
    1.5,
    1e300,
    float("inf"),
    "x",
    "\ud800",
    b"x",
    b"ab",
    [],
    {},
    [1.5],
    {"a": 1},
]


def test_values_that_do_not_fit_are_refused_alike(both: tuple[Built, Built]) -> None:
    pure, native = both
    for name in VALUE:
        for bad in BAD:
            value = {**VALUE, "o": {**VALUE, name: bad}}
            assert outcome(pure.encode, value) == outcome(native.encode, value)
        value = {key: item for key, item in VALUE.items() if key != name}
        assert outcome(pure.encode, value) == outcome(native.encode, value)


def test_damaged_bytes_end_alike(both: tuple[Built, Built]) -> None:
    pure, native = both
    rng = random.Random(5)
    good = pure.encode({**VALUE, "o": VALUE})
    ends = set()
    for _ in range(3000):
        data = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(1, len(data))
            kind = rng.randrange(4)
            if kind == 0:
                data[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                data[at] = rng.choice([0, 1, 127, 128, 255])
            elif kind == 2:
                data[at:at] = rng.randbytes(rng.randint(1, 11))
            else:
                del data[at:]
                break
        found = outcome(pure.decode, bytes(data))
        assert found == outcome(native.decode, bytes(data))
        ends.add(found[1] if isinstance(found, tuple) else "a value")
    assert len(ends) > 6
    assert "a value" in ends


def number(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\xff" * 9 + b"\x01", "branch|ends inside|a block|more than 64"),
        (b"\xff" * 9 + b"\x02", "more than 64 bits"),
        (b"\x80" * 11, "more than 64 bits"),
        (number(2**62), "ends inside"),
        (number(2**64 - 1), "ends inside"),
        (b"\x01\x01", "a block of a negative size"),
        (b"", "ends inside"),
    ],
)
def test_counts_are_not_believed(
    kernel: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, payload: bytes, reason: str
) -> None:
    decode = Built(kernel, {"type": "array", "items": "int"}, monkeypatch).decode
    with pytest.raises(Misfit, match=reason):
        decode(b"!" + payload)


FREE = [
    "null",
    {"type": "record", "name": "E", "fields": []},
    {"type": "record", "name": "E", "fields": [{"name": "n", "type": "null"}]},
    {"type": "fixed", "name": "F", "size": 0},
]


@pytest.mark.parametrize("item", FREE)
@pytest.mark.parametrize("skipped", [False, True])
def test_items_without_bytes_are_counted(
    kernel: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, item: Any, skipped: bool
) -> None:
    array = {"type": "array", "items": item}
    fields = [{"name": name, "type": kind} for name, kind in (("a", array), ("m", "int"))]
    record = {"type": "record", "name": "R", "fields": fields}
    reader = {**record, "fields": fields[skipped:]}
    decode = Built(kernel, record, monkeypatch, reader).decode
    assert decode(b"!" + number(2 * 10) + b"\0\0")["m"] == 0
    for count in (11, 2**40, 2**62):
        with pytest.raises(Misfit, match="too many array items"):
            decode(b"!" + number(2 * count) + b"\0\0")
    with pytest.raises(Misfit, match="too many array items"):
        decode(b"!" + number(2 * 6) * 3 + b"\0\0")


def test_as_many_items_without_bytes_as_the_frame_has(kernel: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    array = {"type": "array", "items": "null"}
    fields = [{"name": "a", "type": array}, {"name": "s", "type": "string"}]
    decode = Built(kernel, {"type": "record", "name": "R", "fields": fields}, monkeypatch).decode
    assert len(decode(b"!" + number(2 * 100) + b"\0" + number(2 * 200) + b"x" * 200)["a"]) == 100


CHAIN = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}


def test_depth_ends_in_an_error(kernel: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Built(kernel, CHAIN, monkeypatch)
    value: dict[str, Any] = {"next": None}
    for _ in range(150):
        value = {"next": value}
    assert made.decode(made.encode(value)) == value
    value["next"] = value
    for function, argument in ((made.encode, value), (made.decode, b"!" + b"\x02" * 1_000_000 + b"\0")):
        with pytest.raises((Misfit, RecursionError)) as caught:
            function(argument)
        assert isinstance(caught.value, RecursionError) or f"deeper than {MAX_DEPTH}" in str(caught.value)


def test_a_record_of_nothing_but_itself_ends(kernel: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    node = {"type": "record", "name": "L", "fields": [{"name": "next", "type": "L"}]}
    with pytest.raises((Misfit, RecursionError)):
        Built(kernel, node, monkeypatch).decode(b"!")


def test_lists_that_change_while_they_are_written(kernel: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    import collections

    items: list[Any] = []

    class Growing(collections.UserDict[str, Any]):
        def __iter__(self) -> Any:
            items.append({"k": "v"})
            return super().__iter__()

    items.append(Growing(k="v"))
    made = Built(kernel, {"type": "array", "items": {"type": "map", "values": "string"}}, monkeypatch)
    with pytest.raises(Misfit, match="changed while it was written"):
        made.encode(items)


@pytest.mark.parametrize("name", [name for name in NODES if name.startswith(("Read", "Write"))])
def test_a_node_that_was_never_made_ready_is_no_crash(name: str) -> None:
    native = nodes_of("native")
    kind = getattr(native, name)
    made = kind.__new__(kind)
    run = (
        native.Encoder if isinstance(made, native.Writer) else lambda node, _, fault: native.Decoder(node, 0, 0, fault)
    )
    for argument in (None, True, 5, 1.5, "x", [1], {"a": 1}, b"", b"\x02\x02\x02\x02\x02\x02\x02\x02"):
        if run is native.Encoder or isinstance(argument, bytes):
            assert outcome_of(run(made, b"", lambda error, size=0: error), argument)


def outcome_of(function: Any, argument: Any) -> str:
    try:
        return repr(function(argument))
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("name", ["WriteArray", "WriteMap", "WriteRecord", "WriteUnion", "ReadArray", "ReadRecord"])
def test_values_that_are_no_node_are_refused(name: str) -> None:
    native = nodes_of("native")
    arguments = {"WriteRecord": ("R", False, False), "WriteUnion": ({}, None), "ReadArray": (False,), "ReadRecord": ()}
    made = getattr(native, name)(*arguments.get(name, ("what",)))
    bad = {"WriteRecord": ([("n", 5, None, False)],), "WriteUnion": ([5],), "ReadRecord": ([("n", True, 5)], {}, [])}
    with pytest.raises(TypeError):
        made.fill(*bad.get(name, (None,)))
