"""The cost of `SerializingProducer.produce` and `DeserializingConsumer.poll` and `consume`, beside confluent-kafka's.

`python -m benchmarks.serdes_clients [records]` prints microseconds of CPU time of the calling thread per record (the
clients' own threads are left out, ours and theirs), as the least of several rounds: the bare client (key and value
taken), the codec alone (a string as key, an order in Avro as value), both in one typed call, and what that call costs
above its two parts. The broker is the embedded one, in a process of its own; the contestants take turns.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import kafka_core
import serdes
from benchmarks.serdes import ORDER, Registry, text_of
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer, AvroSerializer

ROUNDS = 5
TOPIC = "orders"
KEY = "ord-2026-000317"
TIMEOUT_S = 60.0
BATCH = 500
Costs = dict[str, float]
BROKER = """
import sys
from kafka_core.broker import EmbeddedCluster
with EmbeddedCluster() as cluster:
    print(cluster.bootstrap_servers, flush=True)
    sys.stdin.read()
"""


@contextmanager
def broker() -> Iterator[str]:
    """An embedded broker in a process of its own; its address."""
    child = subprocess.Popen([sys.executable, "-c", BROKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield child.stdout.readline().strip()
    finally:
        child.stdin.close()
        child.wait(TIMEOUT_S)


class Contestant:
    """A client library with its serializers.

    Args:
        clients: has Producer, Consumer, TopicPartition, SerializingProducer and DeserializingConsumer.
        functions: serializer of keys and of values, deserializer of keys and of values.
        context: topic, field → context.
    """

    def __init__(self, clients: Any, functions: tuple[Any, Any, Any, Any], context: Callable[..., Any]) -> None:
        self.clients = clients
        self.write_key, self.write_value, self.read_key, self.read_value = functions
        self.key, self.value = context(TOPIC, MessageField.KEY), context(TOPIC, MessageField.VALUE)
        self.frame = self.write_value(ORDER, self.value)

    def round(self, address: str, count: int) -> Costs:
        """Microseconds per record, by row."""
        client = self.clients
        to = {"bootstrap.servers": address, "queue.buffering.max.messages": 4 * count}
        typed = {"key.serializer": self.write_key, "value.serializer": self.write_value}
        costs = {
            "write codec": self._spent(count, self._encode),
            "produce client": self._produced(client.Producer(to), count, KEY.encode(), self.frame),
            "produce typed": self._produced(client.SerializingProducer({**to, **typed}), count, KEY, ORDER),
            "read codec": self._spent(count, self._decode),
            "read and keep codec": self._spent(count // BATCH, self._decode_batch) / BATCH,
        }
        deserializers = {"key.deserializer": self.read_key, "value.deserializer": self.read_value}
        ways = {"poll": lambda consumer: consumer.poll(1.0), "consume": lambda consumer: consumer.consume(BATCH, 1.0)}
        for name, take in ways.items():
            costs[f"{name} client"] = self._consumed(client.Consumer, {}, address, count, take)
            if name == "poll" or client is Ours:  # confluent_kafka's typed consumer has no consume()
                kind = client.DeserializingConsumer
                costs[f"{name} typed"] = self._consumed(kind, deserializers, address, count, take)
        return costs

    def _encode(self) -> None:
        self.write_key(KEY, self.key)
        self.write_value(ORDER, self.value)

    def _decode(self) -> None:
        self.read_key(b"ord-2026-000317", self.key)
        self.read_value(self.frame, self.value)

    def _decode_batch(self) -> None:
        """As many values as a `consume` gives, all of which live until it is done: so does its garbage collection."""
        key, value = self.key, self.value
        kept = [(self.read_key(b"ord-2026-000317", key), self.read_value(self.frame, value)) for _ in range(BATCH)]
        del kept

    def _spent(self, count: int, call: Callable[[], None]) -> float:
        start = time.thread_time()
        for _ in range(count):
            call()
        return (time.thread_time() - start) / count * 1e6

    def _produced(self, producer: Any, count: int, key: Any, value: Any) -> float:
        for _ in range(100):  # the topic's metadata and the schema are found
            producer.produce(TOPIC, key=key, value=value)
        producer.flush(TIMEOUT_S)
        spent = self._spent(count, lambda: producer.produce(TOPIC, key=key, value=value))
        assert producer.flush(TIMEOUT_S) == 0
        return spent

    def _consumed(self, kind: Any, more: dict[str, Any], address: str, count: int, take: Callable[..., Any]) -> float:
        conf = {"bootstrap.servers": address, "group.id": "benchmark", "auto.offset.reset": "earliest", **more}
        consumer = kind({**conf, "enable.auto.commit": False})
        consumer.assign([self.clients.TopicPartition(TOPIC, 0, 0)])
        spent, found, first = 0.0, 0, True
        end_s = time.monotonic() + TIMEOUT_S
        try:
            while found < count:
                assert time.monotonic() < end_s, "the broker has not sent what was produced"
                start = time.thread_time()
                taken = take(consumer)
                for message in taken if isinstance(taken, list) else [taken] if taken is not None else []:
                    message.key()
                    message.value()
                cost = time.thread_time() - start
                number = len(taken) if isinstance(taken, list) else int(taken is not None)
                if first and number:  # the first takes the time of getting started
                    first = False
                elif number:
                    spent, found = spent + cost, found + number
        finally:
            consumer.close()
        return spent / found * 1e6


class Ours:
    """The names of our clients."""

    Producer, Consumer, TopicPartition = kafka_core.Producer, kafka_core.Consumer, kafka_core.TopicPartition
    SerializingProducer, DeserializingConsumer = serdes.SerializingProducer, serdes.DeserializingConsumer


def ours() -> Contestant:
    registry: Any = Registry(text_of("order.avsc"), "AVRO")
    functions = (
        serdes.StringSerializer(),
        AvroSerializer(registry, text_of("order.avsc")),
        serdes.StringDeserializer(),
        AvroDeserializer(registry),
    )
    return Contestant(Ours, functions, SerializationContext)


def confluent() -> Contestant:
    warnings.simplefilter("ignore")
    import confluent_kafka
    from confluent_kafka import schema_registry, serialization
    from confluent_kafka.schema_registry import avro

    client = schema_registry.SchemaRegistryClient.new_client({"url": "mock://benchmark-clients"})
    conf = {"subject.name.strategy": schema_registry.topic_subject_name_strategy}
    functions = (
        serialization.StringSerializer(),
        avro.AvroSerializer(client, text_of("order.avsc"), conf=conf),
        serialization.StringDeserializer(),
        avro.AvroDeserializer(client, conf=conf),
    )
    return Contestant(confluent_kafka, functions, serialization.SerializationContext)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    least: dict[str, Costs] = {}
    for _ in range(ROUNDS):
        for name, make in (("kserdes", ours), ("confluent", confluent)):
            with broker() as address:  # each reads what it wrote
                for row, cost in make().round(address, count).items():
                    known = least.setdefault(name, {})
                    known[row] = min(cost, known.get(row, cost))
    print(f"{'µs of the calling thread':<26}{'client':>9}{'codec':>9}{'typed':>9}{'above':>9}{'to confl.':>11}")
    for call in ("produce", "poll", "consume"):
        codec = {"produce": "write codec", "poll": "read codec", "consume": "read and keep codec"}[call]
        for name, costs in least.items():
            typed = costs.get(f"{call} typed")
            if typed is None:
                continue
            client, coding = costs[f"{call} client"], costs[codec]
            ratio = least["confluent"].get(f"{call} typed", 0.0) / typed
            numbers = f"{client:>9.2f}{coding:>9.2f}{typed:>9.2f}{typed - client - coding:>9.2f}"
            print(f"{f'{call} {name}':<26}{numbers}{f'{ratio:.2f}' if ratio else '':>11}")


if __name__ == "__main__":
    main()
