"""Avro ↔ Python objects: the codec against fastavro and cavro, and classes against dicts, in one run.

`python -m benchmarks.avro_objects [seconds]` prints values per second of CPU time, the median of several rounds whose
contestants alternate; ratios are to fastavro, those of classes to our own dicts.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import io
import json
import statistics
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Any, NamedTuple, TypedDict

import attrs
import msgspec
import pydantic

from benchmarks import peers
from benchmarks.serdes import ORDER, rate, text_of
from serdes.formats.avro.codec import decoder, encoder, load_texts
from serdes.models.avro import Model
from serdes.typed import AvroType, Precision, avro_schema

ROUNDS = 7
Calls = tuple[Callable[[], Any], Callable[[], Any]]
FLIGHT = {
    "year": 2013,
    "month": 1,
    "day": 1,
    "dep_time": 517,
    "sched_dep_time": 515,
    "dep_delay": 2,
    "arr_time": 830,
    "sched_arr_time": 819,
    "arr_delay": 11,
    "carrier": "UA",
    "flight": 1545,
    "tailnum": "N14228",
    "origin": "EWR",
    "dest": "IAH",
    "air_time": 227,
    "distance": 1400,
    "hour": 5,
    "minute": 15,
    "time_hour": datetime.datetime(2013, 1, 1, 10, tzinfo=datetime.UTC),
}
KINDS: list[tuple[Any, Any]] = [
    ("long", 123_456),
    ("string", "some text"),
    ("double", 0.5),
    (["null", "string"], "text"),
    ("boolean", True),
]


def record(name: str, fields: Mapping[str, Any]) -> str:
    made = [{"name": key, "type": kind} for key, kind in fields.items()]
    return json.dumps({"type": "record", "name": name, "fields": made})


def chain(length: int) -> Any:
    made = None
    for at in range(length):
        made = {"id": at, "name": "text", "next": made}
    return made


CASES: Mapping[str, tuple[str, Any]] = {
    "order (12 fields)": (text_of("order.avsc"), ORDER),
    "flight (19 fields)": (text_of("flight.avsc"), FLIGHT),
    "2 fields": (record("Two", {"id": "long", "name": "string"}), {"id": 42, "name": "some text"}),
    "500 fields": (
        record("Many", {f"f{at}": KINDS[at % 5][0] for at in range(500)}),
        {f"f{at}": KINDS[at % 5][1] for at in range(500)},
    ),
    "20 records, nested": (record("L", {"id": "long", "name": "string", "next": ["null", "L"]}), chain(20)),
}


def codecs(text: str, value: Any) -> Mapping[str, Calls]:
    """Functions that write a value and read it, for each contestant; all write the same bytes."""
    import fastavro

    schema, ours = fastavro.parse_schema(json.loads(text)), load_texts(text)
    encode, decode = encoder(ours), decoder(ours)

    def write() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, value)
        return out.getvalue()

    payload = write()
    assert encode(value) == payload
    found: dict[str, Calls] = {
        "fastavro": (write, lambda: fastavro.schemaless_reader(io.BytesIO(payload), schema, None)),
        "kserdes": (lambda: encode(value), lambda: decode(payload)),
    }
    try:
        import cavro
    except ImportError as error:
        print(f"cavro is left out: {error}", file=sys.stderr)
        return found
    theirs = cavro.Schema(text)
    try:
        if theirs.binary_encode(value) == payload:
            found["cavro"] = (lambda: theirs.binary_encode(value), lambda: theirs.binary_decode(payload))
    except Exception as error:
        print(f"cavro is left out of a row: {type(error).__name__}", file=sys.stderr)
    return found


def levels(depth: int) -> Any:
    """The type of `chain` without recursion: a record type for each record."""
    made: Any = "null"
    for at in reversed(range(depth)):
        kinds = {"id": "long", "name": "string", "next": ["null", made] if at < depth - 1 else "null"}
        made = json.loads(record(f"L{at}", kinds))
    return made


def nested() -> Mapping[str, Calls]:
    """Twenty records inside of each other: of one recursive type, and each of a type of its own."""
    found: dict[str, Calls] = {}
    text, value = CASES["20 records, nested"]
    for name, schema in (("recursive", load_texts(text)), ("flat", load_texts(json.dumps(levels(20))))):
        found[name] = both_ways(encoder(schema), decoder(schema), value)
    return found


def both_ways(encode: Any, decode: Any, value: Any) -> Calls:
    payload = encode(value)
    assert decode(payload) == value
    return lambda: encode(value), lambda: decode(payload)


class Status(enum.Enum):
    NEW = "NEW"
    PAID = "PAID"
    SHIPPED = "SHIPPED"
    CANCELLED = "CANCELLED"


ADDRESS: dict[str, Any] = {"city": str, "postcode": str}
FIELDS: dict[str, Any] = {
    "id": str,
    "customer_id": int,
    "score": float,
    "created_at": Annotated[datetime.datetime, AvroType({"type": "long", "logicalType": "timestamp-millis"})],
    "status": Status,
    "coupon": str | None,
    "tags": list[str],
    "total": Annotated[Decimal, Precision(12, 2)],
    "quantity": Annotated[int, AvroType("int")],
    "gift": bool,
    "weight_kg": Annotated[float, AvroType("float")] | None,
}
MAKERS: Mapping[str, Callable[[str, dict[str, Any]], Any]] = {
    "dataclass(slots)": lambda name, given: dataclasses.make_dataclass(name, given.items(), slots=True),
    "dataclass": lambda name, given: dataclasses.make_dataclass(name, given.items()),
    "attrs": lambda name, given: attrs.define(type(name, (), {"__annotations__": given})),
    "msgspec.Struct": lambda name, given: msgspec.defstruct(name, list(given.items())),
    "NamedTuple": lambda name, given: NamedTuple(name, list(given.items())),  # type: ignore[misc]
    "TypedDict": lambda name, given: TypedDict(name, given),  # type: ignore[operator]
    "pydantic": lambda name, given: pydantic.create_model(
        name,
        **{key: (kind, ...) for key, kind in given.items()},  # type: ignore[call-overload]
    ),
}


def classes() -> Mapping[str, Calls]:
    """The order record as dicts, and as objects of classes of each kind."""
    plain = load_texts(text_of("order.avsc"))
    found: dict[str, Calls] = {"dict": both_ways(encoder(plain), decoder(plain), ORDER)}
    for name, make in MAKERS.items():
        inner = make("Address", ADDRESS)
        kind = make("Order", {**FIELDS, "address": inner})
        found[name] = of_class(kind, kind(**{**ORDER, "status": Status.PAID, "address": inner(**ORDER["address"])}))
    return found


def of_class(kind: Any, value: Any) -> Calls:
    schema, model = load_texts(avro_schema(kind)), Model(kind)
    return both_ways(encoder(schema, values=model), decoder(schema, values=model), value)


def measure(contestants: Mapping[str, Calls], seconds: float) -> dict[str, tuple[float, float]]:
    """Contestant → values written and read per second of CPU time."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, (write, read) in contestants.items():
            found[name].append((rate(write, seconds), rate(read, seconds)))
    return {
        name: (statistics.median(one for one, _ in rates), statistics.median(other for _, other in rates))
        for name, rates in found.items()
    }


def show(rates: Mapping[str, tuple[float, float]], base: str) -> None:
    for name, (written, read) in rates.items():
        ratios = written / rates[base][0], read / rates[base][1]
        print(f"  {name:18}{written:>13,.0f}{ratios[0]:>7.2f}{read:>13,.0f}{ratios[1]:>7.2f}")


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    peers.add_peers()
    print(f"  {'per second':18}{'written':>13}{'ratio':>7}{'read':>13}{'ratio':>7}")
    for name, (text, value) in CASES.items():
        print(name)
        show(measure(codecs(text, value), seconds), "fastavro")
    print("20 records, nested, one type each")
    show(measure(nested(), seconds), "flat")
    print("order as objects, against dicts")
    show(measure(classes(), seconds), "dict")


if __name__ == "__main__":
    main()
