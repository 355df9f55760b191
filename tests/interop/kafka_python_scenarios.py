"""Programs written for kafka-python, each a function that is given the package (theirs, or ours) and says what it saw.

Must not know which one it has. A result holds only what both must agree on: no ids, no times that the clock decides.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

LIMIT_S = 60.0
SCENARIOS: dict[str, Callable[[Kit], Any]] = {}


class Kit:
    """One package, one broker, and a topic of two partitions that only this scenario uses.

    Args:
        package: `kafka`, with its modules `errors`, `structs`, `serializer`, `partitioner`.
        servers: the broker.
        topic: the topic; its name serves as the group's, too.
    """

    def __init__(self, package: SimpleNamespace, servers: str, topic: str) -> None:
        self.package, self.servers, self.topic = package, servers, topic
        self.opened: list[Any] = []

    def producer(self, **conf: Any) -> Any:
        return self._made(self.package.KafkaProducer(bootstrap_servers=self.servers, **conf))

    def consumer(self, *topics: str, **conf: Any) -> Any:
        made = self._made(self.package.KafkaConsumer(*topics, bootstrap_servers=self.servers, **conf))
        if "group_id" in conf:
            # kafka-python can join, and lead a group, before it knows the topic: then nobody gets a partition, ever.
            until(lambda: made.partitions_for_topic(self.topic))
        return made

    def admin(self) -> Any:
        return self._made(self.package.KafkaAdminClient(bootstrap_servers=self.servers))

    def _made(self, client: Any) -> Any:
        self.opened.append(client)
        return client

    def place(self, partition: int = 0) -> Any:
        return self.package.TopicPartition(self.topic, partition)

    def offset(self, offset: int, metadata: str = "") -> Any:
        return self.package.OffsetAndMetadata(offset, metadata, -1)

    def fill(self, count: int = 10) -> None:
        """Record n goes to partition n % 2, at the time 1000 + n."""
        producer = self.producer()
        for number in range(count):
            producer.send(self.topic, b"v%d" % number, key=b"k", partition=number % 2, timestamp_ms=1000 + number)
        producer.flush(LIMIT_S)

    def take(self, consumer: Any, count: int) -> list[Any]:
        """So many records, by polling."""
        found: list[Any] = []
        deadline_s = time.monotonic() + LIMIT_S
        while len(found) < count and time.monotonic() < deadline_s:
            for records in consumer.poll(timeout_ms=500).values():
                found += records
        return found

    def poll(self, consumer: Any, **more: Any) -> Any:
        """The first poll's result that is not empty, or the names of its error's classes."""
        return until(lambda: kind(consumer.poll, timeout_ms=500, **more))

    def close(self) -> None:
        for client in reversed(self.opened):
            client.close()


def scenario(function: Callable[[Kit], Any]) -> Callable[[Kit], Any]:
    SCENARIOS[function.__name__] = function
    return function


def kind(call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """The value, or the names of the error's classes."""
    try:
        return call(*arguments, **more)
    except Exception as error:
        return [each.__name__ for each in type(error).__mro__]


def until(look: Callable[[], Any]) -> Any:
    """Looks until what it sees is true."""
    deadline_s = time.monotonic() + LIMIT_S
    while not (seen := look()):
        assert time.monotonic() < deadline_s, "it was not seen in time"
        time.sleep(0.02)
    return seen


def flat(record: Any) -> tuple[Any, ...]:
    """A record without its topic, whose name differs."""
    return tuple(record)[1:]


# ---- producing


@scenario
def a_future_tells_where_a_record_went(kit: Kit) -> Any:
    producer = kit.producer()
    future = producer.send(kit.topic, b"value", key=b"key", headers=[("h", b"12")], partition=1, timestamp_ms=1234)
    metadata = future.get(timeout=LIMIT_S)
    return [
        (future.is_done, future.succeeded(), future.failed(), future.retriable(), future.exception),
        tuple(metadata)[3:],
        metadata.topic == kit.topic and metadata.topic_partition == kit.place(1) and future.value == metadata,
        metadata._fields,
    ]


@scenario
def callbacks_run_without_a_call(kit: Kit) -> Any:
    heard: list[Any] = []
    done = threading.Event()
    future = kit.producer().send(kit.topic, b"v", partition=0)
    future.add_callback(lambda *args, **more: heard.append((args[0], args[1].offset, more)), "first", more=1)
    future.add_errback(lambda error: heard.append("error"))
    future.add_both(lambda result: done.set())
    # Whoever is added while the callbacks run, runs before the last of them: not even kafka-python keeps their order.
    until(lambda: heard and done.is_set())
    future.add_callback(lambda metadata: heard.append(("late", metadata.partition)))
    return heard


@scenario
def a_failing_callback_harms_nobody(kit: Kit) -> Any:
    producer = kit.producer()
    future = producer.send(kit.topic, b"v", partition=0)
    future.add_callback(lambda metadata: 1 / 0)
    future.get(LIMIT_S)
    return producer.send(kit.topic, b"w", partition=0).get(LIMIT_S).offset


@scenario
def wrong_arguments_of_send(kit: Kit) -> Any:
    producer = kit.producer()
    return [
        kind(producer.send, kit.topic),
        kind(producer.send, kit.topic, "text"),
        kind(producer.send, kit.topic, b"v", key="text"),
        kind(producer.send, "a b", b"v"),
        kind(producer.send, "", b"v"),
        kind(producer.send, "." * 2, b"v"),
        kind(producer.send, "x" * 250, b"v"),
        kind(producer.send, 3, b"v"),
        kind(producer.send, kit.topic, b"v", headers=[("a", "b")]),
        kind(producer.send, kit.topic, b"v", headers={"a": b"b"}),
        kind(producer.send, kit.topic, b"v", headers=[("a", None)]),
        kind(producer.send, kit.topic, b"v", partition=77),
        kind(producer.send, kit.topic, b"v", partition=-1),
    ]


@scenario
def a_record_that_is_too_large(kit: Kit) -> Any:
    producer = kit.producer(max_request_size=2000)
    refused = kind(producer.send, kit.topic, b"v" * 5000)
    return [refused, producer.send(kit.topic, b"v", partition=0).get(LIMIT_S).offset]


@scenario
def a_record_that_the_broker_refuses(kit: Kit) -> Any:
    heard: list[Any] = []
    future = kit.producer(max_request_size=3_000_000).send(kit.topic, b"v" * 2_000_000, partition=0)
    future.add_errback(lambda error: heard.append(type(error).__name__))
    return [kind(future.get, LIMIT_S), until(lambda: heard)]


@scenario
def a_future_that_is_waited_for_too_shortly(kit: Kit) -> Any:
    producer = kit.producer(linger_ms=60_000)
    future = producer.send(kit.topic, b"v", partition=0)
    early = kind(future.get, timeout=0.05)
    producer.flush(LIMIT_S)
    return [early, future.is_done, future.get().offset]


@scenario
def flush_settles_every_future(kit: Kit) -> Any:
    producer = kit.producer(linger_ms=60_000)
    futures = [producer.send(kit.topic, b"%d" % number, partition=0) for number in range(100)]
    producer.flush()
    return [all(each.is_done for each in futures), [each.get().offset for each in futures]]


@scenario
def serializers_of_functions_and_classes(kit: Kit) -> Any:
    functions = kit.producer(key_serializer=str.encode, value_serializer=lambda value: repr(value).encode())
    classes = kit.producer(
        value_serializer=kit.package.JsonSerializer(), key_serializer=kit.package.DefaultSerializer()
    )
    functions.send(kit.topic, {"a": 1}, key="k", partition=0).get(LIMIT_S)
    classes.send(kit.topic, {"a": "é"}, key="k", partition=0).get(LIMIT_S)
    classes.send(kit.topic, None, key="tombstone", partition=0).get(LIMIT_S)
    consumer = kit.consumer(auto_offset_reset="earliest")
    consumer.assign([kit.place()])
    failed = kind(functions.send, kit.topic, 3, key=3)
    return [failed, [(each.key, each.value) for each in kit.take(consumer, 3)]]


@scenario
def deserializers_of_functions_and_classes(kit: Kit) -> Any:
    kit.producer().send(kit.topic, b'{"a": 1}', key=b"k", partition=0).get(LIMIT_S)
    found = []
    for conf in (
        {"value_deserializer": kit.package.JsonSerializer(), "key_deserializer": kit.package.DefaultSerializer()},
        {"value_deserializer": len, "key_deserializer": bytes.decode},
    ):
        consumer = kit.consumer(auto_offset_reset="earliest", **conf)
        consumer.assign([kit.place()])
        found.append([(each.key, each.value, each.serialized_value_size) for each in kit.take(consumer, 1)])
    return found


@scenario
def keys_go_where_the_java_client_puts_them(kit: Kit) -> Any:
    producer = kit.producer()
    futures = [producer.send(kit.topic, b"v", key=b"key-%d" % number) for number in range(50)]
    return [each.get(LIMIT_S).partition for each in futures]


@scenario
def a_partitioner_of_the_user(kit: Kit) -> Any:
    class Last(kit.package.partitioner.Partitioner):  # type: ignore[misc, name-defined]
        def partition(self, topic: Any, key: Any, skey: Any, value: Any, svalue: Any, cluster: Any) -> int:
            seen.append((key, skey, value, svalue, sorted(cluster.partitions_for_topic(topic))))
            return int(max(cluster.available_partitions_for_topic(topic)))

    seen: list[Any] = []
    producer = kit.producer(partitioner=Last(), key_serializer=str.encode)
    return [producer.send(kit.topic, b"v", key="k").get(LIMIT_S).partition, seen]


@scenario
def every_codec_is_read_again(kit: Kit) -> Any:
    for codec in ("gzip", None):
        kit.producer(compression_type=codec).send(kit.topic, b"x" * 500, partition=0).get(LIMIT_S)
    consumer = kit.consumer(auto_offset_reset="earliest")
    consumer.assign([kit.place()])
    return [kind(kit.producer, compression_type="zip"), [each.value for each in kit.take(consumer, 2)]]


@scenario
def partitions_of_a_topic(kit: Kit) -> Any:
    return kit.producer().partitions_for(kit.topic)


@scenario
def a_closed_producer(kit: Kit) -> Any:
    producer = kit.producer()
    future = producer.send(kit.topic, b"v", partition=0)
    producer.close()
    return [future.is_done, future.get().offset, kind(producer.send, kit.topic, b"v"), kind(producer.close)]


@scenario
def arguments_of_constructors(kit: Kit) -> Any:
    return [
        kind(kit.producer, nope=1),
        kind(kit.consumer, nope=1),
        kind(kit.package.KafkaAdminClient, bootstrap_servers=kit.servers, nope=1),
        kind(kit.producer, acks=1, enable_idempotence=True),
        kind(kit.producer, retries=0, enable_idempotence=True),
        kind(kit.producer, max_in_flight_requests_per_connection=6, transactional_id="x"),
        kind(kit.consumer, isolation_level="never"),
        kind(kit.consumer, request_timeout_ms=400),
        kind(kit.consumer, ""),
        kind(kit.consumer, 3),
        type(kit.producer(acks=1)).__name__,
    ]


@scenario
def no_broker_there(kit: Kit) -> Any:
    nowhere = {"bootstrap_servers": "127.0.0.1:1", "bootstrap_timeout_ms": 300}
    package = kit.package
    return [kind(each, **nowhere) for each in (package.KafkaProducer, package.KafkaConsumer, package.KafkaAdminClient)]


# ---- transactions


@scenario
def a_transaction_that_counts_and_one_that_does_not(kit: Kit) -> Any:
    producer = kit.producer(transactional_id=kit.topic)
    producer.init_transactions()
    for number, end in enumerate(
        (producer.commit_transaction, producer.abort_transaction, producer.commit_transaction)
    ):
        producer.begin_transaction()
        producer.send(kit.topic, b"%d" % number, partition=0).get(LIMIT_S)
        if number == 2:
            producer.send_offsets_to_transaction({kit.place(1): kit.offset(7, "m")}, kit.topic)
        end()
    found = []
    for level in ("read_committed", "read_uncommitted"):
        consumer = kit.consumer(auto_offset_reset="earliest", isolation_level=level, group_id=kit.topic)
        consumer.assign([kit.place()])
        consumer.seek_to_beginning()
        found.append([each.value for each in kit.take(consumer, 2 if level == "read_committed" else 3)])
    # The marker in the group's partition may come a moment after the answer to the commit.
    return [found, until(lambda: consumer.committed(kit.place(1), metadata=True))]


@scenario
def transactions_in_the_wrong_order(kit: Kit) -> Any:
    plain = kit.producer()
    return [
        kind(call)
        for call in (
            plain.init_transactions,
            plain.begin_transaction,
            plain.commit_transaction,
            plain.abort_transaction,
        )
    ]


# ---- reading by hand


@scenario
def records_have_every_field(kit: Kit) -> Any:
    producer = kit.producer()
    producer.send(kit.topic, b"value", key=b"key", headers=[("h", b"1"), ("i", b"")], partition=0, timestamp_ms=99)
    producer.send(kit.topic, None, key=b"gone", partition=0, timestamp_ms=98)
    producer.flush()
    consumer = kit.consumer(auto_offset_reset="earliest")
    consumer.assign([kit.place()])
    found = kit.take(consumer, 2)
    return [[flat(each) for each in found], found[0]._fields, found[0].topic == kit.topic]


@scenario
def polling_by_partition_and_by_number(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(auto_offset_reset="earliest", max_poll_records=3)
    consumer.assign([kit.place(0)])
    sizes: list[int] = []
    while sum(sizes) < 5:
        sizes.append(len(kit.poll(consumer)[kit.place(0)]))
    consumer.seek(kit.place(0), 0)
    return [
        max(sizes) <= 3,
        sum(sizes),
        [len(each) for each in kit.poll(consumer, max_records=1).values()],
        kit.poll(consumer)[kit.place(0)][0].offset,
    ]


@scenario
def wrong_arguments_of_poll(kit: Kit) -> Any:
    consumer = kit.consumer()
    return [
        kind(consumer.poll),
        kind(consumer.poll, -1),
        kind(consumer.poll, max_records=0),
        kind(consumer.poll, max_records="1"),
    ]


@scenario
def iteration_ends_after_its_time(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(kit.topic, auto_offset_reset="earliest", consumer_timeout_ms=500, max_poll_records=1)
    found: list[Any] = []
    until(lambda: found.extend(consumer) or len(found) == 10)  # an iteration may end before a slow broker answers
    kit.producer().send(kit.topic, b"later", partition=0).get(LIMIT_S)
    later = until(lambda: next(consumer, None))
    return [sorted(each.value for each in found), later.value, kind(next, consumer), iter(consumer) is consumer]


@scenario
def seeking_and_positions(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(auto_offset_reset="earliest")
    place = kit.place()
    consumer.assign([place])
    seen = [consumer.position(place)]
    seen.append(consumer.seek(place, 3) or consumer.position(place))
    seen.append([each.offset for each in kit.take(consumer, 2)])
    seen.append(consumer.position(place))
    seen.append(consumer.seek_to_beginning() or consumer.position(place))
    seen.append([each.offset for each in kit.take(consumer, 5)])
    seen.append(consumer.seek_to_end(place) or consumer.position(place))
    seen.append(consumer.seek(place, 1) or [each.offset for each in kit.take(consumer, 4)])
    seen.append(consumer.highwater(place))
    return seen


@scenario
def wrong_positions(kit: Kit) -> Any:
    consumer = kit.consumer()
    place = kit.place()
    before = [
        kind(consumer.position, place),
        kind(consumer.seek, place, 0),
        kind(consumer.highwater, place),
        kind(consumer.pause, place),
        kind(consumer.seek_to_beginning),
    ]
    consumer.assign([place])
    return [
        *before,
        kind(consumer.position, 3),
        kind(consumer.seek, place, -1),
        kind(consumer.seek, place, "1"),
        kind(consumer.seek, kit.topic, 1),
        kind(consumer.seek, kit.place(1), 1),
        kind(consumer.seek_to_end, kit.place(1)),
        kind(consumer.pause, "x"),
        kind(consumer.highwater, place) in (None, 0),  # ours fetches without being polled
    ]


@scenario
def pausing(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(auto_offset_reset="earliest")
    consumer.assign([kit.place(0), kit.place(1)])
    consumer.pause(kit.place(0))
    first = sorted({each.partition for each in kit.take(consumer, 5)})
    paused = consumer.paused() == {kit.place(0)}
    consumer.resume(kit.place(0))
    return [first, paused, sorted({each.partition for each in kit.take(consumer, 5)}), consumer.paused()]


@scenario
def pauses_and_assignments(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(auto_offset_reset="earliest")
    both = [kit.place(0), kit.place(1)]
    consumer.assign(both)
    consumer.pause(kit.place(0), kit.place(1))
    consumer.assign([kit.place(0)])
    kept = consumer.paused() == {kit.place(0)}, consumer.poll(timeout_ms=500)
    consumer.assign(both)
    return [kept, consumer.paused() == {kit.place(0)}, sorted({each.partition for each in kit.take(consumer, 5)})]


@scenario
def where_reading_begins(kit: Kit) -> Any:
    kit.fill()
    found = []
    for reset in ("earliest", "latest", "smallest", "largest"):
        consumer = kit.consumer(auto_offset_reset=reset)
        consumer.assign([kit.place()])
        found.append(consumer.position(kit.place()))
    return found


@scenario
def no_offset_and_one_out_of_range(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(auto_offset_reset="none")
    consumer.assign([kit.place()])
    first = kit.poll(consumer), kind(consumer.position, kit.place())
    consumer.seek(kit.place(), 1000)
    return [first, kit.poll(consumer)]


@scenario
def out_of_range_with_a_reset(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(auto_offset_reset="earliest")
    consumer.assign([kit.place()])
    consumer.seek(kit.place(), 1000)
    return [each.offset for each in kit.take(consumer, 5)]


@scenario
def a_deserializer_that_fails(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(auto_offset_reset="earliest", value_deserializer=lambda data: int(data))
    consumer.assign([kit.place()])
    return kit.poll(consumer)  # its error, once: after it, kafka-python's poll does not come back


@scenario
def offsets_by_kind_and_time(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer()
    both = [kit.place(0), kit.place(1)]
    found = [consumer.beginning_offsets(both), consumer.end_offsets(both)]
    times = consumer.offsets_for_times({both[0]: 1003, both[1]: 10**13})
    return [
        [sorted(each.values()) for each in found],
        [times[both[0]], times[both[1]]],
        kind(consumer.offsets_for_times, {both[0]: -5}),
    ]


@scenario
def topics_and_their_partitions(kit: Kit) -> Any:
    consumer = kit.consumer()
    return [kit.topic in consumer.topics(), consumer.partitions_for_topic(kit.topic)]


@scenario
def a_closed_consumer(kit: Kit) -> Any:
    consumer = kit.consumer(kit.topic)
    consumer.close()
    return [kind(consumer.poll), kind(next, consumer), kind(consumer.close), consumer.assignment()]


# ---- subscriptions and groups


@scenario
def one_way_to_choose(kit: Kit) -> Any:
    consumer = kit.consumer()
    seen = [consumer.subscription(), consumer.assignment()]
    seen += [kind(consumer.subscribe), kind(consumer.subscribe, kit.topic), kind(consumer.subscribe, [1])]
    seen += [kind(consumer.subscribe, [kit.topic], pattern="x"), kind(consumer.subscribe, [kit.topic], listener=3)]
    consumer.subscribe([kit.topic])
    seen += [consumer.subscription() == {kit.topic}, kind(consumer.assign, [kit.place()])]
    consumer.unsubscribe()
    seen += [consumer.subscription(), consumer.assignment()]
    consumer.assign([kit.place()])
    return [*seen, kind(consumer.subscribe, [kit.topic]), consumer.subscription()]


def listener(kit: Kit, calls: list[Any], name: str) -> Any:
    """A listener that notes what it is told under a name, but for rejoins that change nothing.

    A member may join again, for metadata that came late.
    """

    class Listener(kit.package.ConsumerRebalanceListener):  # type: ignore[name-defined,misc]
        def on_partitions_revoked(self, revoked: Any) -> None:
            if revoked:  # ours is not told of none
                calls.append((name, "revoked", sorted(place.partition for place in revoked)))

        def on_partitions_assigned(self, assigned: Any) -> None:
            numbers = sorted(place.partition for place in assigned)
            if calls[-2:] == [(name, "assigned", numbers), (name, "revoked", numbers)]:
                del calls[-1]
            else:
                calls.append((name, "assigned", numbers))

    return Listener()


@scenario
def a_partition_is_assigned_after_unsubscribe(kit: Kit) -> Any:
    calls: list[Any] = []
    kit.fill(6)
    consumer = kit.consumer(
        group_id=kit.topic, auto_offset_reset="earliest", enable_auto_commit=False, max_poll_records=1
    )
    consumer.subscribe([kit.topic], listener=listener(kit, calls, "first"))
    kit.take(consumer, 2)
    consumer.unsubscribe()
    seen = [consumer.assignment(), list(calls)]
    consumer.assign([kit.place()])
    seen += [[record.value for record in kit.take(consumer, 3)]]
    consumer.pause(kit.place())
    consumer.poll(timeout_ms=100)
    consumer.unsubscribe()
    consumer.subscribe([kit.topic], listener=listener(kit, calls, "second"))
    seen += [len(kit.take(consumer, 6)), sorted(consumer.paused())]
    consumer.unsubscribe()
    return [*seen, calls]


@scenario
def commits_without_a_group(kit: Kit) -> Any:
    consumer = kit.consumer()
    return [
        kind(consumer.commit),
        kind(consumer.commit_async),
        kind(consumer.committed, kit.place()),
        tuple(consumer.group_metadata()),
    ]


@scenario
def a_group_of_one_commits(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(kit.topic, group_id=kit.topic, auto_offset_reset="earliest", enable_auto_commit=False)
    place = kit.place()
    seen = [consumer.committed(place), len(kit.take(consumer, 10))]
    seen += [consumer.assignment() == {kit.place(0), kit.place(1)}]
    consumer.commit()
    seen += [consumer.committed(place), consumer.committed(kit.place(1))]
    consumer.commit({place: kit.offset(2, "note")})
    seen += [consumer.committed(place, metadata=True)]
    seen += [kind(consumer.commit, {place: 3}), kind(consumer.commit, [1]), kind(consumer.committed, 3)]
    metadata = consumer.group_metadata()
    return [*seen, metadata.group_id == kit.topic, metadata.generation_id > 0, metadata.state]


@scenario
def commits_without_waiting(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(group_id=kit.topic, enable_auto_commit=False)
    consumer.assign([kit.place()])
    heard: list[Any] = []
    offsets = {kit.place(): kit.offset(4, "m")}
    future = consumer.commit_async(offsets, callback=lambda given, answer: heard.append((given == offsets, answer)))
    deadline_s = time.monotonic() + LIMIT_S
    while not future.is_done and time.monotonic() < deadline_s:
        consumer.poll(50)
    return [future.succeeded(), consumer.committed(kit.place())]


@scenario
def automatic_commits_at_the_end(kit: Kit) -> Any:
    kit.fill()
    found = []
    conf = {"group_id": kit.topic, "auto_offset_reset": "earliest", "auto_commit_interval_ms": 3_600_000}
    for autocommit in (False, True):
        consumer = kit.consumer(kit.topic, **conf)
        kit.take(consumer, 10)
        consumer.close(autocommit=autocommit)
        reader = kit.consumer(group_id=kit.topic)
        found.append([reader.committed(kit.place(0)), reader.committed(kit.place(1))])
    return found


@scenario
def automatic_commits_while_polling(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(
        group_id=kit.topic, auto_offset_reset="earliest", auto_commit_interval_ms=100, max_poll_records=2
    )
    consumer.assign([kit.place()])
    taken = kit.take(consumer, 2)
    consumer.pause(kit.place())
    reader = kit.consumer(group_id=kit.topic)
    # kafka-python may commit the position before the first record, before that behind what was taken.
    until(lambda: consumer.poll(100) == {} and reader.committed(kit.place()) == taken[-1].offset + 1)
    return [each.offset for each in taken][:2]


@scenario
def where_a_group_goes_on(kit: Kit) -> Any:
    kit.fill()
    first = kit.consumer(group_id=kit.topic)
    first.assign([kit.place()])
    first.commit({kit.place(): kit.offset(3)})
    second = kit.consumer(group_id=kit.topic)
    second.assign([kit.place()])
    return [second.position(kit.place()), [each.offset for each in kit.take(second, 2)]]


@scenario
def two_members_share(kit: Kit) -> Any:
    kit.fill()
    heard: list[Any] = []

    class Listener(kit.package.ConsumerRebalanceListener):  # type: ignore[misc, name-defined]
        def on_partitions_revoked(self, revoked: Any) -> None:
            heard.append(("revoked", type(revoked).__name__, sorted(each.partition for each in revoked)))

        def on_partitions_assigned(self, assigned: Any) -> None:
            heard.append(("assigned", type(assigned).__name__, sorted(each.partition for each in assigned)))

    conf = {
        "group_id": kit.topic,
        "auto_offset_reset": "earliest",
        "heartbeat_interval_ms": 100,
        "metadata_max_age_ms": 1000,
    }
    first = kit.consumer(**conf)
    first.subscribe([kit.topic], listener=Listener())
    assert len(kit.take(first, 10)) == 10
    second = kit.consumer(kit.topic, **conf)
    ended = threading.Event()

    def join() -> None:
        while not second.assignment() and not ended.is_set():
            second.poll(1000)

    thread = threading.Thread(target=join)
    thread.start()
    deadline_s = time.monotonic() + LIMIT_S
    while (len(first.assignment()) != 1 or thread.is_alive()) and time.monotonic() < deadline_s:
        first.poll(1000)
    ended.set()
    thread.join()
    shared = first.assignment() | second.assignment() == {kit.place(0), kit.place(1)}
    said = [each for each in heard if each[2]]
    return [said[:2], sorted(len(each.assignment()) for each in (first, second)), shared, said[-1][0]]


@scenario
def a_pattern_finds_its_topics(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(group_id=kit.topic, auto_offset_reset="earliest")
    consumer.subscribe(pattern=kit.topic[:-1] + ".$")
    return [len(kit.take(consumer, 10)), consumer.subscription() == {kit.topic}]


@scenario
def reading_a_topic_without_a_group(kit: Kit) -> Any:
    kit.fill()
    consumer = kit.consumer(kit.topic, auto_offset_reset="earliest")
    return [sorted(each.value for each in kit.take(consumer, 10)), len(consumer.assignment())]


# ---- administration


@scenario
def topics_are_made_and_deleted(kit: Kit) -> Any:
    admin, name = kit.admin(), kit.topic + "-new"
    made = admin.create_topics({name: {"num_partitions": 3, "replication_factor": 1}})["topics"][0]
    admin.wait_for_topics([name], timeout_ms=int(1000 * LIMIT_S))
    again = admin.create_topics([name], raise_errors=False)["topics"][0]
    return [
        (made["name"] == name, made["error_code"], made["error_message"]),
        kind(admin.create_topics, [name]),
        again["error_code"],
        name in admin.list_topics(),
        sorted(part["partition_index"] for part in admin.describe_topics([name])[0]["partitions"]),
        kind(admin.create_partitions, {name: 1}),
        admin.delete_topics([name])["topics"][0]["error_code"],
        kind(admin.delete_topics, [name + "-nope"]),
        admin.describe_topics([name + "-nope"])[0]["error_code"],
        kind(admin.wait_for_topics, [name + "-nope"], timeout_ms=200),
    ]


@scenario
def configurations_are_read_and_changed(kit: Kit) -> Any:
    from_package = kit.package.admin
    admin, topic = kit.admin(), from_package.ConfigResourceType.TOPIC

    def one(configs: Any = None) -> list[Any]:
        return [from_package.ConfigResource(topic, kit.topic, configs)]

    seen = [admin.describe_configs(one())["topic"][kit.topic]]
    seen.append(admin.alter_configs(one({"retention.ms": "99999"}))["topic"][kit.topic])
    # The controller answers before the broker that is asked knows.
    entry = until(lambda: admin.describe_configs(one())["topic"][kit.topic].get("retention.ms"))
    seen.append({name: entry[name] for name in ("value", "read_only", "config_source", "is_sensitive")})
    seen.append(kind(admin.alter_configs, one({"nope": "1"})))
    seen.append(admin.alter_configs(one({"retention.ms": "x"}))["topic"][kit.topic].split(":")[0])
    seen.append(admin.reset_configs(one(["retention.ms"]))["topic"][kit.topic])
    until(lambda: not admin.describe_configs(one())["topic"][kit.topic])
    seen.append(len(admin.describe_configs(one(), config_filter="all")["topic"][kit.topic]) > 10)
    return seen


@scenario
def groups_and_their_offsets(kit: Kit) -> Any:
    kit.fill()
    admin, place, group = kit.admin(), kit.place(), kit.topic
    consumer = kit.consumer(kit.topic, group_id=group, auto_offset_reset="earliest", client_id="somebody")
    kit.take(consumer, 10)
    consumer.commit({place: kit.offset(5)})
    listed = [each for each in admin.list_groups() if each["group_id"] == group]
    described = admin.describe_groups([group])[group]
    member = described["members"][0]
    seen = [
        {name: listed[0][name] for name in ("protocol_type", "group_state", "group_type")},
        {name: described[name] for name in ("group_state", "protocol_type", "protocol_data", "error")},
        (
            member["client_id"],
            member["client_host"],
            member["member_assignment"]["assigned_partitions"][0]["partitions"],
        ),
        admin.delete_groups([group])[group],
        admin.list_group_offsets({group: [place]})[group][place],
    ]
    consumer.close(autocommit=False)
    until(lambda: admin.describe_groups([group])[group]["group_state"] == "Empty")
    spec = kit.package.OffsetSpec
    seen += [
        [each.__name__ for each in admin.alter_group_offsets(group, {place: kit.offset(3, "x")}).values()],
        admin.list_group_offsets([group])[group][place],
        [each["offset"] for each in admin.reset_group_offsets(group, {place: spec.EARLIEST}).values()],
        admin.delete_groups([group])[group],
        admin.delete_groups([group + "-nope"])[group + "-nope"],
        admin.describe_groups([group + "-nope"])[group + "-nope"]["group_state"],
    ]
    return seen


@scenario
def offsets_of_partitions_and_deleted_records(kit: Kit) -> Any:
    kit.fill()
    admin, place, spec = kit.admin(), kit.place(), kit.package.OffsetSpec
    stamp = kit.package.admin.OffsetTimestamp(1003)
    return [
        admin.list_partition_offsets({place: spec.LATEST})[place],
        admin.list_partition_offsets({place: stamp})[place],
        kind(admin.list_partition_offsets, {kit.place(77): spec.LATEST}),
        admin.delete_records({place: 2})[place],
        admin.list_partition_offsets({place: spec.EARLIEST})[place].offset,
    ]


@scenario
def the_cluster(kit: Kit) -> Any:
    found = kit.admin().describe_cluster()
    broker = found["brokers"][0]
    return [found["cluster_id"], found["controller_id"], (broker["broker_id"], broker["host"], broker["port"])]
