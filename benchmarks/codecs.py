"""The codecs' whole table: what each path has to reach, what it reaches, and whether that is enough.

`python -m benchmarks.codecs [seconds]` (a few minutes on a quiet machine of two cores; `seconds` is how long each
contestant runs in each round) prints a row for each goal. Rates are records per second of CPU time of one core; the
contestants of a ratio take turns. cavro, ptars and protarrow come from `benchmarks.peers`.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator

from benchmarks import avro_objects, columns, columns_encode, columns_protobuf, peers, serdes
from benchmarks.goals import Row, heading

NOISE = 0.95
"""The share of another's rate that counts as just as fast in one run."""


def avro_columns(seconds: float) -> Iterator[Row]:
    found = columns.measure(seconds)
    order, flight = found["order, 12 fields"], found["flight, 19 nullable"]
    for name, rates, wanted in (("order, 12 fields", order, 4e6), ("flight, 19 nullable fields", flight, 3e6)):
        yield Row(f"Avro → Arrow, {name}", rates["kernel"], wanted, "/s")
        beside = f"without kernels {rates['objects']:,.0f}/s, fastavro to dicts {rates['fastavro']:,.0f}/s"
        yield Row("… to fastavro and pa.array", rates["kernel"] / rates["fastavro to Arrow"], 25, "×", beside=beside)
    for name, title, wanted in (
        ("order, other reader", "… order, writer ≠ reader, to all of it", 0.7),
        ("order, 2 of 12", "… order, 2 of 12 columns, to all of it", 1.7),
    ):
        yield Row(title, found[name]["kernel"] / order["kernel"], wanted, "×")
    yield Row("… a batch of 10 rows", columns.small_batch(), 30, " µs", least=False)


def memory() -> Iterator[Row]:
    for form in columns.FORMATS:
        found = columns.memory(form)
        yield Row(f"peak of a decode of a million orders, {form}", found, 2, "× output", least=False)


def other_columns(rounds: int) -> Iterator[Row]:
    writing = medians(columns_encode.rates(columns_encode.writing(), rounds))
    beside = f"{writing['ours'] / writing['to_pylist and fastavro']:.0f}× to_pylist and fastavro"
    yield Row("Arrow → Avro, order", writing["ours"], 3e6, "/s", beside=beside)
    ways = columns_protobuf.ways(columns_protobuf.ROWS)
    for title, way, wanted in (
        ("Protobuf → Arrow, order", "Protobuf -> Arrow", 3e6),
        ("Arrow → Protobuf, order", "Arrow -> Protobuf", 2e6),
    ):
        rates = columns_protobuf.medians(ways[way])
        ours = rates["kserdes"]
        others = [f"{ours / rates[name]:.2f}× {name}" for name in ("ptars", "protarrow") if name in rates]
        yield Row(title, ours, wanted, "/s", beside=", ".join(others))
    reading = medians(columns_encode.rates(columns_encode.reading(), rounds))
    ratio = reading["ours"] / reading["pyarrow.json"]
    yield Row("JSON → Arrow, order, to pyarrow.json", ratio, 0.8, "×", beside=f"{reading['ours'] / 1e6:.2f} M/s")


def medians(rates: dict[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(found) for name, found in rates.items()}


def objects(seconds: float) -> Iterator[Row]:
    for name, (text, value) in avro_objects.CASES.items():
        found = avro_objects.measure(avro_objects.codecs(text, value), seconds)
        wanted = 6.0 if name.startswith("order") else 4.0
        for title, at in (("dict → Avro", 0), ("Avro → dict", 1)):
            ours = found["kserdes"][at]
            peer = f", {ours / found['cavro'][at]:.1f}× cavro" if "cavro" in found else ""
            beside = f"{ours:,.0f}/s{peer}"
            yield Row(f"{title}, {name}, to fastavro", ours / found["fastavro"][at], wanted, "×", beside=beside)
    found = avro_objects.measure(avro_objects.nested(), seconds)
    for title, at in (("written", 0), ("read", 1)):
        ratio = found["recursive"][at] / found["flat"][at]
        yield Row(f"20 records of one recursive type, {title}, to 20 types", ratio, NOISE, "×")
    found = avro_objects.measure(avro_objects.classes(), seconds)
    for name in ("dataclass(slots)", "dataclass", "attrs", "msgspec.Struct", "NamedTuple"):
        read, written = (found[name][at] / found["dict"][at] for at in (1, 0))
        yield Row(f"Avro → {name}, to dict", read, NOISE, "×", beside=f"written {written:.2f}×")


def calls(seconds: float) -> Iterator[Row]:
    rates = serdes.measure(seconds)
    for way, wanted in (("serialize", 5.0), ("deserialize", 10.0)):
        cells = rates[f"avro {way}"]
        if "confluent-kafka" in cells:
            ratio = cells["kserdes"] / cells["confluent-kafka"]
            beside = f"{cells['kserdes']:,.0f}/s"
            yield Row(f"Avro {way}, order, to confluent-kafka", ratio, wanted, "×", beside=beside)
    for form in ("json", "json, not validated", "protobuf"):
        for way in ("serialize", "deserialize"):
            cells = rates[f"{form} {way}"]
            beside = f"{cells['kserdes']:,.0f}/s"
            if "confluent-kafka" in cells:
                beside += f", {cells['kserdes'] / cells['confluent-kafka']:.1f}× confluent-kafka"
            yield Row(f"{form} {way}, to the bare library", cells["kserdes"] / cells["bare"], 0.8, "×", beside=beside)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.2
    peers.add_peers()
    print(heading("one core"))
    for rows in (
        avro_columns(seconds),
        other_columns(columns_encode.ROUNDS),
        memory(),
        objects(seconds / 2),
        calls(seconds),
    ):
        for row in rows:
            print(row, flush=True)


if __name__ == "__main__":
    main()
