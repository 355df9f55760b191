"""Serializers of three formats against the bare libraries and confluent-kafka, in one run on one order record.

The bare libraries do the same work: they put the frame's prefix in front or cut it off, and where JSON is validated,
the validator that serializers use judges there too.

`python -m benchmarks.serdes [seconds] [--save]` prints records per second of CPU time as the median of several rounds,
with ratios to the bare library and to confluent-kafka, and compares them with `benchmarks/baselines/serdes.json`. The
rounds of all contestants alternate, so that a busy machine slows all of them.
"""

from __future__ import annotations

import datetime
import decimal
import io
import json
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from registry import Schema
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.context import MessageField, SerializationContext
from serdes.formats.json.validator import Engine
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer

ROOT = Path(__file__).parent.parent
BASELINE = Path(__file__).parent / "baselines" / "serdes.json"
ROUNDS = 9
SLOWER = 0.10
"""Ratios that are lower than the baseline's by more are reported."""
Pair = tuple[Callable[[], Any], Callable[[], Any]]
"""Writes one record, reads one frame."""

ORDER: dict[str, Any] = {
    "id": "ord-2026-000317",
    "customer_id": 48_151_623,
    "score": 0.8125,
    "created_at": datetime.datetime(2026, 3, 14, 15, 9, 26, 535000, tzinfo=datetime.UTC),
    "status": "PAID",
    "coupon": "SPRING",
    "tags": ["new", "gift"],
    "total": decimal.Decimal("149.90"),
    "address": {"city": "Hamburg", "postcode": "20095"},
    "quantity": 3,
    "gift": True,
    "weight_kg": 1.25,
}
JSON_ORDER = {**ORDER, "created_at": "2026-03-14T15:09:26.535Z", "total": "149.90"}


def text_of(name: str) -> str:
    return (ROOT / "schemas" / name).read_text()


def proto_order() -> Any:
    from google.protobuf.message_factory import GetMessageClass

    from registry.schemas.protobuf import parser as protobuf_parser

    pool = protobuf_parser.pool(Schema(text_of("order.proto"), "PROTOBUF"), (), "order.proto")
    kind: Any = GetMessageClass(pool.FindMessageTypeByName("kserdes.bench.Order"))
    message = kind(**{key: value for key, value in ORDER.items() if key not in ("created_at", "total")})
    message.total_cents = 14990
    message.created_at.FromDatetime(ORDER["created_at"])
    return message


class Registry:
    """One schema with id 1."""

    def __init__(self, text: str, kind: str) -> None:
        self._schema = Schema(text, kind)

    def config(self) -> dict[str, object]:
        return {}

    def register_schema_full_response(self, subject: str, schema: Any, normalize: bool) -> Any:
        from registry import RegisteredSchema

        return RegisteredSchema(subject, 1, 1, None, schema)

    def get_schema(self, schema_id: int) -> Schema:
        return self._schema


def calls(serialize: Any, deserialize: Any, value: Any, context: Any) -> Pair:
    frame = serialize(value, context)
    assert deserialize(frame, context) is not None
    return lambda: serialize(value, context), lambda: deserialize(frame, context)


def ours() -> Mapping[str, Pair]:
    context = SerializationContext("orders", MessageField.VALUE)
    avro: Any = Registry(text_of("order.avsc"), "AVRO")
    plain: Any = Registry(text_of("order.schema.json"), "JSON")
    order = proto_order()
    proto: Any = Registry(text_of("order.proto"), "PROTOBUF")
    unchecked = {"validate": False}
    return {
        "avro": calls(AvroSerializer(avro, text_of("order.avsc")), AvroDeserializer(avro), ORDER, context),
        "json": calls(
            JSONSerializer(text_of("order.schema.json"), plain),
            JSONDeserializer(None, schema_registry_client=plain),
            JSON_ORDER,
            context,
        ),
        "json, not validated": calls(
            JSONSerializer(text_of("order.schema.json"), plain, conf=unchecked),
            JSONDeserializer(None, schema_registry_client=plain, conf=unchecked),
            JSON_ORDER,
            context,
        ),
        "protobuf": calls(
            ProtobufSerializer(type(order), proto), ProtobufDeserializer(type(order), {}, proto), order, context
        ),
    }


def bare() -> Mapping[str, Pair]:
    import fastavro
    import orjson

    schema = fastavro.parse_schema(json.loads(text_of("order.avsc")))

    def write() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, ORDER)
        return out.getvalue()

    payload, head = write(), b"\x00\x00\x00\x00\x01"
    text = head + orjson.dumps(JSON_ORDER)
    is_valid = Engine(json.loads(text_of("order.schema.json")), {}).is_valid

    def write_valid() -> bytes:
        assert is_valid(JSON_ORDER)
        return head + orjson.dumps(JSON_ORDER)

    def read_valid() -> Any:
        value = orjson.loads(text[5:])
        assert is_valid(value)
        return value

    order = proto_order()
    kind, prefix = type(order), b"\x00\x00\x00\x00\x01\x00"
    frame = prefix + order.SerializeToString()
    return {
        "avro": (write, lambda: fastavro.schemaless_reader(io.BytesIO(payload), schema, None)),
        "json": (write_valid, read_valid),
        "json, not validated": (lambda: head + orjson.dumps(JSON_ORDER), lambda: orjson.loads(text[5:])),
        "protobuf": (lambda: prefix + order.SerializeToString(), lambda: kind.FromString(frame[6:])),
    }


def confluent() -> Mapping[str, Pair]:
    warnings.simplefilter("ignore")
    try:
        from confluent_kafka import schema_registry, serialization
        from confluent_kafka.schema_registry import avro, json_schema, protobuf
    except ImportError as error:
        print(f"confluent-kafka is left out: {error}", file=sys.stderr)
        return {}
    client = schema_registry.SchemaRegistryClient.new_client({"url": "mock://benchmark"})
    conf = {"subject.name.strategy": schema_registry.topic_subject_name_strategy}

    def context(topic: str) -> Any:
        return serialization.SerializationContext(topic, serialization.MessageField.VALUE)

    order, text = proto_order(), text_of("order.schema.json")
    kind: Any = type(order)
    return {
        "avro": calls(
            avro.AvroSerializer(client, text_of("order.avsc"), conf=conf),
            avro.AvroDeserializer(client, conf=conf),
            ORDER,
            context("a"),
        ),
        "json": calls(
            json_schema.JSONSerializer(text, client, conf=conf),
            json_schema.JSONDeserializer(None, schema_registry_client=client, conf=conf),
            JSON_ORDER,
            context("j"),
        ),
        "json, not validated": calls(
            json_schema.JSONSerializer(text, client, conf={**conf, "validate": False}),
            json_schema.JSONDeserializer(None, schema_registry_client=client, conf={**conf, "validate": False}),
            JSON_ORDER,
            context("n"),
        ),
        "protobuf": calls(
            protobuf.ProtobufSerializer(kind, client, conf),
            protobuf.ProtobufDeserializer(kind, {**conf, "use.deprecated.format": False}, client),
            order,
            context("p"),
        ),
    }


def rate(function: Callable[[], Any], seconds: float) -> float:
    """Calls per second of CPU time."""
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        for _ in range(200):
            function()
        count += 200
    return count / spent


def measure(seconds: float) -> dict[str, dict[str, float]]:
    """Format and way → contestant → records per second."""
    contestants = {"bare": bare(), "kserdes": ours(), "confluent-kafka": confluent()}
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(ROUNDS):
        for name, formats in contestants.items():
            for form, pair in formats.items():
                for way, function in zip(("serialize", "deserialize"), pair, strict=True):
                    found.setdefault(f"{form} {way}", {}).setdefault(name, []).append(rate(function, seconds))
    return {row: {name: statistics.median(all_of) for name, all_of in cells.items()} for row, cells in found.items()}


def ratios(rates: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Ours as ratios to the others."""
    return {
        row: {name: round(cells["kserdes"] / cells[name], 3) for name in cells if name != "kserdes"}
        for row, cells in sorted(rates.items())
    }


def slowdowns(now: dict[str, dict[str, float]], before: dict[str, dict[str, float]]) -> list[str]:
    """A sentence for each ratio that fell by more than `SLOWER`."""
    return [
        f"{row}: {ratio:.2f} times {name}, the baseline has {before[row][name]:.2f}"
        for row, cells in now.items()
        for name, ratio in cells.items()
        if name in before.get(row, {}) and ratio < before[row][name] * (1 - SLOWER)
    ]


def main() -> None:
    arguments = [item for item in sys.argv[1:] if item != "--save"]
    rates = measure(float(arguments[0]) if arguments else 0.2)
    made = ratios(rates)
    print(
        f"{'records/s of CPU time':34} {'bare':>10} {'kserdes':>10} {'confluent':>10} {'to bare':>8} {'to confl.':>9}"
    )
    for row, cells in sorted(rates.items()):
        numbers = "".join(f"{cells.get(name, 0):>11,.0f}" for name in ("bare", "kserdes", "confluent-kafka"))
        print(f"{row:34}{numbers}{made[row]['bare']:>9.2f}{made[row].get('confluent-kafka', 0):>10.2f}")
    if "--save" in sys.argv:
        machine = f"{platform.machine()}, Python {platform.python_version()}"
        text = json.dumps({"machine": machine, "ratios": made}, indent=2, sort_keys=True)
        BASELINE.write_text(f"{text}\n")
    elif BASELINE.exists():
        slower = slowdowns(made, json.loads(BASELINE.read_text())["ratios"])
        print("\n".join(slower) or f"no ratio is more than {SLOWER:.0%} below the baseline")


if __name__ == "__main__":
    main()
