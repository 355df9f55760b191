"""The batch source beside Spark's own `format("kafka")`, option by option, on the same topics of a real broker.

What both read is compared in one job of each; what ours refuses is called as Spark calls it while it plans.
Differences stand in `DIFFERENT`, each with the sentence of docs/guide/spark-source.md that tells it.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kafka_core import IsolationLevel, Producer, TopicPartition
from kafka_core.admin import AdminClient, NewTopic, OffsetSpec
from tests.contract.clusters import LIMIT_S, wait_for, wait_until_led
from tools.real_kafka import RealKafka

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("connectors")]

RUN = uuid.uuid4().hex[:8]
A, B, CUT, TXN, NONE, NOWHERE = (f"beside-{RUN}-{name}" for name in ("a", "b", "cut", "txn", "none", "nowhere"))
FIRST_MS = 1_700_000_000_000
CUT_AT = 4
Options = dict[str, str]


class Read(NamedTuple):
    """A frame's content: its columns, its rows in order of their place, and the number of rows of each task."""

    schema: str
    rows: list[tuple[Any, ...]]
    tasks: list[int]


@pytest.fixture(scope="module")
def servers(real_kafka: RealKafka) -> Iterator[str]:
    """A broker with two plain topics, one whose first records are deleted, one with transactions, and an empty one."""
    conf = {"bootstrap.servers": real_kafka.bootstrap_servers}
    topics = {A: 2, B: 1, CUT: 1, TXN: 1, NONE: 2}
    with AdminClient(conf) as admin:
        config = {"retention.ms": "-1"}  # the records are old
        made = admin.create_topics([NewTopic(name, count, 1, config=config) for name, count in topics.items()])
        for answer in made.values():
            answer.result()
        wait_until_led(admin, topics)
        with Producer(conf) as producer:
            for name, partition, count in ((A, 0, 20), (A, 1, 7), (B, 0, 5), (CUT, 0, 10)):
                for at in range(count):
                    producer.produce(
                        name,
                        None if at % 5 == 4 else b"%s %d" % (name.encode(), at),
                        None if at % 3 == 0 else b"k%d" % at,
                        partition=partition,
                        timestamp=FIRST_MS + 1000 * at,
                        headers=[("a", b"1"), ("a", None), ("ü", b"")][: at % 4] or None,
                    )
        with Producer({**conf, "transactional.id": f"beside-{RUN}"}) as producer:
            producer.init_transactions(LIMIT_S)
            for number in range(3):
                producer.begin_transaction()
                producer.produce(TXN, b"%d" % number, timestamp=FIRST_MS)
                producer.flush(LIMIT_S)
                (producer.abort_transaction if number == 1 else producer.commit_transaction)(LIMIT_S)
        # Brokers answer before the markers are written; up to the last of them, three records and three markers.
        end = {TopicPartition(TXN, 0): OffsetSpec.latest()}

        def settled() -> bool:
            (found,) = admin.list_offsets(end, isolation_level=IsolationLevel.READ_COMMITTED).values()
            return found.result(LIMIT_S).offset == 6

        wait_for(settled, "the last marker")
        for cut in admin.delete_records([TopicPartition(CUT, 0, CUT_AT)]).values():
            cut.result()
        yield real_kafka.bootstrap_servers
        for gone in admin.delete_topics(list(topics)).values():
            gone.result()


def partitions(**topics: list[int]) -> str:
    """JSON of partitions."""
    return json.dumps({f"beside-{RUN}-{name}": them for name, them in topics.items()})


def offsets(**topics: list[int]) -> str:
    """JSON of offsets, or times, of the partitions in order."""
    return partitions(**{name: dict(enumerate(them)) for name, them in topics.items()})  # type: ignore[arg-type]


def ms(seconds: float) -> str:
    """A time after the first record's."""
    return str(FIRST_MS + int(1000 * seconds))


def times(*seconds: float) -> str:
    """JSON of times of the partitions of A."""
    return offsets(a=[int(ms(one)) for one in seconds])


SAME: dict[str, tuple[Options, int]] = {
    "one topic": ({"subscribe": A}, 27),
    "two topics": ({"subscribe": f"{A},{B}"}, 32),
    "two topics, a space between, one of them twice": ({"subscribe": f"{A}, {B},{A}"}, 32),
    "an empty topic": ({"subscribe": NONE}, 0),
    "a pattern": ({"subscribePattern": f"beside-{RUN}-[ab]"}, 32),
    "a pattern in the middle of names": ({"subscribePattern": f"{RUN}-[ab]"}, 32),
    "a pattern of whole names": ({"subscribePattern": f"^beside-{RUN}-a$"}, 27),
    "a pattern that nothing matches": ({"subscribePattern": f"^{RUN}"}, 0),
    "partitions": ({"assign": partitions(a=[1], b=[0])}, 12),
    "headers": ({"subscribe": A, "includeHeaders": "true"}, 27),
    "no headers": ({"subscribe": A, "includeHeaders": "false"}, 27),
    "names of options in any case": ({"SUBSCRIBE": A, "startingoffsets": "EARLIEST"}, 27),
    "from the earliest to the latest": ({"subscribe": A, "startingOffsets": "earliest", "endingOffsets": "latest"}, 27),
    "from offsets": ({"subscribe": A, "startingOffsets": offsets(a=[15, -2])}, 12),
    "to offsets": ({"subscribe": A, "endingOffsets": offsets(a=[3, -1])}, 10),
    "partitions from offsets": ({"assign": partitions(a=[0]), "startingOffsets": offsets(a=[18])}, 2),
    "nothing between": (
        {"subscribe": A, "startingOffsets": offsets(a=[5, 0]), "endingOffsets": offsets(a=[5, 0])},
        0,
    ),
    "from a time": ({"subscribe": A, "startingTimestamp": ms(5.5)}, 15),
    "to a time": ({"subscribe": A, "endingTimestamp": ms(5)}, 10),
    "to a time that is too young": ({"subscribe": A, "endingTimestamp": ms(99)}, 27),
    "between times": ({"subscribe": A, "startingTimestamp": ms(2), "endingTimestamp": ms(4)}, 4),
    "from times": ({"subscribe": A, "startingOffsetsByTimestamp": times(19, 0)}, 8),
    "to times": ({"subscribe": A, "endingOffsetsByTimestamp": times(2, 99)}, 9),
    "a time that is too young, from the end": (
        {"subscribe": A, "startingTimestamp": ms(10), "startingOffsetsByTimestampStrategy": "latest"},
        10,
    ),
    "times that are too young, from the end": (
        {"subscribe": A, "startingOffsetsByTimestamp": times(99, 3), "startingOffsetsByTimestampStrategy": "latest"},
        4,
    ),
    "a time stands above times and offsets": (
        {
            "subscribe": A,
            "startingTimestamp": ms(5),
            "startingOffsetsByTimestamp": times(19, 0),
            "startingOffsets": "earliest",
        },
        17,
    ),
    "times stand above offsets": (
        {"subscribe": A, "endingOffsetsByTimestamp": times(2, 99), "endingOffsets": offsets(a=[1, 1])},
        9,
    ),
    "more tasks": ({"subscribe": A, "minPartitions": "6"}, 27),
    "fewer tasks than partitions": ({"subscribe": A, "minPartitions": "1"}, 27),
    "more tasks, none of them large": ({"subscribe": A, "minPartitions": "5", "maxRecordsPerPartition": "10"}, 27),
    "a limit for streams": ({"subscribe": A, "maxOffsetsPerTrigger": "5"}, 27),
    "deleted records": ({"subscribe": CUT}, 6),
    "deleted records are not missed": (
        {"subscribe": CUT, "startingOffsets": offsets(cut=[1]), "failOnDataLoss": "false"},
        6,
    ),
    "records of aborted transactions": ({"subscribe": TXN}, 3),
    "committed records": ({"subscribe": TXN, "kafka.isolation.level": "read_committed"}, 2),
    "names of the group": ({"subscribe": B, "groupIdPrefix": "mine"}, 5),
    "a group": ({"subscribe": B, "kafka.group.id": "mine"}, 5),
    "patience": (
        {
            "subscribe": B,
            "fetchOffset.numRetries": "2",
            "fetchOffset.retryIntervalMs": "20",
            "kafkaConsumer.pollTimeoutMs": "60000",
        },
        5,
    ),
    "Java's properties": ({"subscribe": B, "kafka.max.poll.records": "2", "kafka.fetch.max.wait.ms": "10"}, 5),
}
REFUSED: dict[str, tuple[Options, str]] = {
    "nothing to read": ({}, "say what to read"),
    "two ways to say it": ({"subscribe": A, "assign": partitions(a=[0])}, "give one of them only"),
    "an empty list": ({"subscribe": ""}, "say what to read"),
    "no JSON": ({"assign": "beside"}, "assign"),
    "no number": ({"subscribe": A, "minPartitions": "many"}, "minPartitions"),
    "no tasks": ({"subscribe": A, "minPartitions": "0"}, "minPartitions"),
    "no boolean": ({"subscribe": A, "failOnDataLoss": "maybe"}, "failOnDataLoss"),
    "no pattern": ({"subscribePattern": "["}, "subscribePattern"),
    "no time": ({"subscribe": A, "startingTimestamp": "yesterday"}, "startingTimestamp"),
    "no strategy": (
        {"subscribe": A, "startingTimestamp": ms(0), "startingOffsetsByTimestampStrategy": "guess"},
        "startingOffsetsByTimestampStrategy",
    ),
    "no offsets": ({"subscribe": A, "startingOffsets": "beginning"}, "offsets must look like"),
    "a topic that is not there": ({"subscribe": NOWHERE}, "can't be read"),
    "offsets of a topic that is not read": ({"subscribe": A, "startingOffsets": offsets(b=[0])}, "names the topic"),
    "a batch from the latest": ({"subscribe": A, "startingOffsets": "latest"}, "startingOffsets"),
    "a batch to the earliest": ({"subscribe": A, "endingOffsets": "earliest"}, "endingOffsets"),
    "an end at the earliest": ({"subscribe": A, "endingOffsets": offsets(a=[-2, -1])}, "endingOffsets"),
    "a start at the latest": ({"subscribe": A, "startingOffsets": offsets(a=[-1, -2])}, "startingOffsets"),
    "offsets of a partition that is not there": (
        {"subscribe": A, "startingOffsets": offsets(a=[0, 0, 0])},
        "has 2 partitions",
    ),
    "a time that is too young": ({"subscribe": A, "startingTimestamp": ms(10)}, "no record at or after"),
    "times that are too young": ({"subscribe": A, "startingOffsetsByTimestamp": times(99, 0)}, "no record at or after"),
    "an end before the start": (
        {"subscribe": A, "startingOffsets": offsets(a=[5, 0]), "endingOffsets": offsets(a=[3, 1])},
        "endingOffsets 3 is before startingOffsets 5",
    ),
    "an end before the start, and nothing is lost": (
        {
            "subscribe": A,
            "startingOffsets": offsets(a=[5, 0]),
            "endingTimestamp": ms(3),
            "failOnDataLoss": "false",
        },
        "endingOffsets 3 is before startingOffsets 5",
    ),
    "tasks without records": ({"subscribe": A, "maxRecordsPerPartition": "0"}, "maxRecordsPerPartition"),
    "offsets of a partition that is not read": (
        {"assign": partitions(a=[0]), "startingOffsets": offsets(a=[0, 0])},
        '"assign" does not',
    ),
    "offsets that are deleted": ({"subscribe": CUT, "startingOffsets": offsets(cut=[1])}, "holds the offsets 4 to 10"),
    "a place for new groups to begin": ({"subscribe": A, "kafka.auto.offset.reset": "latest"}, "startingOffsets"),
    "a deserializer": ({"subscribe": A, "kafka.value.deserializer": "x"}, "value.format"),
    "automatic commits": ({"subscribe": A, "kafka.enable.auto.commit": "true"}, "commitProgressToGroup"),
    "interceptors": ({"subscribe": A, "kafka.interceptor.classes": "x"}, "no Java here"),
}


class Difference(NamedTuple):
    """The two sources' results for the same options.

    Attributes:
        options: these.
        ours, theirs: numbers of rows of each task, or a part of the error.
        told: the sentence of the guide.
    """

    options: Options
    ours: list[int] | str
    theirs: list[int] | str
    told: str


UNNAMED = (
    "Partitions that the JSON does not name begin at the earliest and end at the latest offset; Spark's own source"
    " wants all of them named."
)
ABSENT = (
    "A partition in `assign` that is not there is an error, and so is an `assign` without partitions; Spark's source"
    " reads what there is."
)
UNKNOWN = (
    "Options that are unknown, `kafka.…` too, are errors that name the nearest one; Spark's source passes over them."
)
DIFFERENT: dict[str, Difference] = {
    "more tasks than partitions with records": Difference(
        {"subscribe": f"{A},{NONE}", "minPartitions": "4"},
        [6, 7, 7, 7],
        [7, 20],
        "`minPartitions` is the least number of tasks; Spark's source takes partitions without records for tasks.",
    ),
    "an end before the start, with no record between": Difference(
        {
            "subscribe": B,
            "startingOffsetsByTimestamp": offsets(b=[FIRST_MS + 500]),
            "endingOffsetsByTimestamp": offsets(b=[FIRST_MS + 200]),
        },
        [],
        "is greater than the end timestamp",
        "An end before the start is an error where a record lies between; Spark's source refuses such times of a"
        " partition, too.",
    ),
    "small tasks": Difference(
        {"subscribe": A, "maxRecordsPerPartition": "8"},
        [6, 7, 7, 7],
        [7, 20],
        "`maxRecordsPerPartition` divides the ranges of a batch; Spark's source leaves them whole.",
    ),
    "partitions without offsets": Difference(
        {"subscribe": A, "startingOffsets": offsets(a=[15])},
        [5, 7],
        "Partitions specified for Kafka start offsets don't match",
        UNNAMED,
    ),
    "partitions without times": Difference(
        {"subscribe": A, "startingOffsetsByTimestamp": times(15)},
        [5, 7],
        "Partitions specified for Kafka timestamp based start offsets don't match",
        UNNAMED,
    ),
    "a partition that is not there": Difference(
        {"assign": partitions(a=[0, 7])},
        'has 2 partitions, but "assign" names [7]',
        [20],
        ABSENT,
    ),
    "no partition": Difference(
        {"assign": "{}"},
        "there is no partition in it",
        [],
        ABSENT,
    ),
    "an unknown option": Difference(
        {"subscribe": A, "startingOffset": "earliest"},
        "did you mean 'startingOffsets'?",
        [7, 20],
        UNKNOWN,
    ),
    "an unknown option of the client": Difference(
        {"subscribe": A, "kafka.fetch.min.byte": "1"},
        "did you mean 'kafka.fetch.min.bytes'?",
        [7, 20],
        UNKNOWN,
    ),
}


def reader(spark: Any, kind: str, servers: str, options: Options) -> Any:
    return spark.read.format(kind).option("kafka.bootstrap.servers", servers).options(**options)


def read(spark: Any, kind: str, servers: str, cases: dict[str, Options]) -> dict[str, Read]:
    """The rows of the source for each of the options, read in one job."""
    schemas: dict[str, str] = {}
    frames = []
    for name, options in cases.items():
        frame = reader(spark, kind, servers, options).load()
        schemas[name] = frame.schema.simpleString()
        headers = "headers" if "headers" in frame.columns else "cast(null as array<struct<key:string,value:binary>>)"
        columns = [column for column in frame.columns if column not in ("headers", "timestamp")]
        frames.append(
            frame.selectExpr(
                f"'{name.replace(chr(39), '_')}' as name",
                *columns,
                "unix_millis(timestamp) as ms",
                f"{headers} as headers",
                "spark_partition_id() as task",
            )
        )
    rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    tasks: dict[str, Counter[int]] = defaultdict(Counter)
    for row in functools.reduce(lambda one, other: one.union(other), frames).collect():
        rows[row.name].append(tuple(_plain(value) for value in row[1:-1]))
        tasks[row.name][row.task] += 1
    found = {}
    for name in cases:
        key = name.replace("'", "_")
        found[name] = Read(schemas[name], sorted(rows[key], key=lambda row: row[2:5]), sorted(tasks[key].values()))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list):
        return [(header.key, None if header.value is None else bytes(header.value)) for header in value]
    return value


def refusal(spark: Any, kind: str, servers: str, options: Options) -> str:
    """The error of the plan, or of what Spark's source finds out later; empty if there is none."""
    try:
        if kind == "kafka":
            frame = reader(spark, kind, servers, options).load()
            frame._jdf.queryExecution().executedPlan()
            frame.collect()
        else:
            from pyspark_kserdes import DefaultSource

            given = {name.lower(): value for name, value in options.items()}  # as Spark hands them over
            source = DefaultSource({"kafka.bootstrap.servers": servers, **given})
            source.reader(source.schema()).partitions()
    except Exception as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def both(spark: Any, servers: str) -> tuple[dict[str, Read], dict[str, Read]]:
    """The rows of our source and Spark's in all the cases that both take."""
    cases = {name: options for name, (options, _) in SAME.items()}
    return read(spark, "kserdes", servers, cases), read(spark, "kafka", servers, cases)


@pytest.mark.parametrize("name", SAME)
def test_both_read_the_same(both: tuple[dict[str, Read], dict[str, Read]], name: str) -> None:
    ours, theirs = both[0][name], both[1][name]
    assert ours == theirs
    assert len(ours.rows) == SAME[name][1]


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse_the_same(spark: Any, servers: str, name: str) -> None:
    options, text = REFUSED[name]
    assert text in refusal(spark, "kserdes", servers, options)
    assert refusal(spark, "kafka", servers, options)


@pytest.mark.parametrize("name", DIFFERENT)
def test_differences_from_sparks_source_are_documented(spark: Any, servers: str, project_root: Path, name: str) -> None:
    case = DIFFERENT[name]
    page = " ".join((project_root / "docs" / "guide" / "spark-source.md").read_text().split())
    assert case.told in page
    for kind, wanted in (("kserdes", case.ours), ("kafka", case.theirs)):
        if isinstance(wanted, str):
            assert wanted in refusal(spark, kind, servers, case.options)
        else:
            assert read(spark, kind, servers, {name: case.options})[name].tasks == wanted
