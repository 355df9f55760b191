"""Futures, partitioners, serializers and helpers of the dialects: the same input to the packages and to ours."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kserdes.compat.aiokafka import partitioner as aiokafka_partitioner
from kserdes.compat.aiokafka import structs as aiokafka_structs
from kserdes.compat.aiokafka import util as aiokafka_util
from kserdes.compat.kafka import errors, future, partitioner, serializer

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    pytest.importorskip("kafka")
    pytest.importorskip("aiokafka")
    import aiokafka.partitioner
    import aiokafka.structs
    import aiokafka.util
    import kafka.errors
    import kafka.future
    import kafka.partitioner
    import kafka.serializer


def outcome(call: Any, *arguments: Any, **more: Any) -> Any:
    try:
        return call(*arguments, **more)
    except Exception as error:
        return type(error).__name__, str(error)


STEPS = st.lists(
    st.sampled_from(
        ("callback", "errback", "both", "with arguments", "failing", "chain", "success", "failure", "class")
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_futures(steps: list[str]) -> None:
    def story(here: Any, wrong: Any) -> list[Any]:
        heard: list[Any] = []
        subject, linked, done = here.Future(), here.Future(), False
        for number, step in enumerate(steps):
            if step in ("success", "failure", "class"):
                if not done:
                    error = wrong.NodeNotReadyError if step == "class" else wrong.KafkaError("no")
                    (subject.success if step == "success" else subject.failure)(number if step == "success" else error)
                done = True
            elif step == "chain":
                subject.chain(linked) if not linked.is_done else None
            elif step == "with arguments":
                subject.add_callback(lambda *args, **more: heard.append((args, more)), number, more=1)
            elif step == "failing":
                subject.add_both(lambda value: 1 / 0)
            else:
                add = {"callback": subject.add_callback, "errback": subject.add_errback, "both": subject.add_both}[step]
                assert add(lambda value, number=number: heard.append((number, str(value)))) is subject
        return heard + [
            (each.is_done, each.succeeded(), each.failed(), each.retriable(), each.value, str(each.exception))
            for each in (subject, linked)
        ]

    assert story(future, errors) == story(kafka.future, kafka.errors)


def test_futures_that_fail_wrongly_and_callbacks_that_may_raise() -> None:
    for here in (future, kafka.future):
        assert outcome(here.Future().failure, 3) == ("TypeError", "future failed without an exception")

        class Strict(here.Future):  # type: ignore[misc,name-defined]
            error_on_callbacks = True

        with pytest.raises(ZeroDivisionError):
            Strict().add_callback(lambda value: 1 / 0).success(1)


def test_futures_can_be_awaited() -> None:
    """kafka-python's can by its own loop only; ours by asyncio, from whatever thread they are settled."""

    async def work() -> Any:
        early, late, wrong = future.Future(), future.Future(), future.Future()
        early.success(1)
        threading.Thread(target=late.success, args=(2,)).start()
        threading.Thread(target=wrong.failure, args=(errors.KafkaError("no"),)).start()
        found = [await early, await late, await late]
        with pytest.raises(errors.KafkaError, match="no"):
            await wrong
        given_up = future.Future()

        async def wait() -> Any:
            return await given_up

        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        given_up.success(3)
        return [*found, await given_up]

    assert asyncio.run(work()) == [1, 2, 2, 3]


class Cluster:
    """The cluster for partitioners."""

    def __init__(self, partitions: dict[str, list[int]], available: dict[str, list[int]]) -> None:
        self._partitions, self._available = partitions, available

    def topics(self) -> set[str]:
        return set(self._partitions)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        found = self._partitions.get(topic)
        return None if found is None else set(found)

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        return None if topic not in self._partitions else set(self._available.get(topic, ()))


PARTITIONS = st.lists(st.integers(0, 50), min_size=1, max_size=9, unique=True)


@settings(max_examples=150, deadline=None)
@given(PARTITIONS, st.data(), st.binary(max_size=40))
def test_keys_choose_partitions(partitions: list[int], data: Any, key: bytes) -> None:
    leading = data.draw(st.lists(st.sampled_from(partitions), unique=True))
    cluster = Cluster({"t": partitions}, {"t": leading})
    for name in ("DefaultPartitioner", "StickyPartitioner"):
        mine, theirs = getattr(partitioner, name)(), getattr(kafka.partitioner, name)()
        assert mine.partition("t", "k", key, None, b"", cluster) == theirs.partition("t", "k", key, None, b"", cluster)
        assert outcome(mine.partition, "u", None, None, None, b"", cluster) == outcome(
            theirs.partition, "u", None, None, None, b"", cluster
        )
        assert mine.partition("t", None, None, None, b"", cluster) in (leading or partitions)
    ordered = sorted(partitions)
    assert aiokafka_partitioner.DefaultPartitioner()(
        key, ordered, leading
    ) == aiokafka.partitioner.DefaultPartitioner()(key, ordered, leading)
    assert aiokafka_partitioner.DefaultPartitioner()(None, ordered, leading) in (leading or ordered)
    for here, there in ((partitioner, kafka.partitioner), (aiokafka_partitioner, aiokafka.partitioner)):
        assert here.murmur2(key) == there.murmur2(key)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_records_without_a_key_stay_until_a_batch_is_new(data: Any) -> None:
    """With one or two partitions to choose from nothing is left to chance, so both choose the same."""
    mine, theirs = partitioner.StickyPartitioner(), kafka.partitioner.StickyPartitioner()
    for sticky in (mine, theirs):
        sticky.partition("t", None, None, None, b"", Cluster({"t": [3]}, {"t": [3]}))
    for _ in range(data.draw(st.integers(1, 8))):
        partitions = data.draw(st.sampled_from(([3], [3, 4], [4], [3, 4])))
        leading = data.draw(st.lists(st.sampled_from(partitions), unique=True))
        cluster = Cluster({"t": partitions}, {"t": leading})
        before = {sticky.partition("t", None, None, None, b"", Cluster({"t": [3, 4]}, {})) for sticky in (mine, theirs)}
        assert len(before) == 1
        if data.draw(st.booleans()) and leading:
            topic = data.draw(st.sampled_from(("t", "u")))
            prev = data.draw(st.sampled_from((3, 4)))
            for sticky in (mine, theirs):
                sticky.on_new_batch(topic, cluster, prev)
        elif len(leading) == 1 or len(partitions) == 1:
            chosen = {sticky.partition("t", None, None, None, b"", cluster) for sticky in (mine, theirs)}
            assert len(chosen) == 1


VALUES = st.one_of(
    st.none(), st.text(max_size=20), st.integers(), st.lists(st.integers(), max_size=3), st.binary(max_size=9)
)


@settings(max_examples=150, deadline=None)
@given(VALUES, st.sampled_from(("utf-8", "latin-1", "utf-16")))
def test_serializers(value: Any, encoding: str) -> None:
    for name in ("DefaultSerializer", "JsonSerializer"):
        mine, theirs = getattr(serializer, name)(encoding), getattr(kafka.serializer, name)(encoding)
        assert mine.encoding == theirs.encoding
        written = outcome(mine.serialize, "t", [], value)
        assert written == outcome(theirs.serialize, "t", [], value)
        if isinstance(written, bytes):
            assert outcome(mine.deserialize, "t", [], written) == outcome(theirs.deserialize, "t", [], written)
        assert mine.close() is theirs.close() is None
    for name, method in (("SerializeWrapper", "serialize"), ("DeserializeWrapper", "deserialize")):
        for function in (None, repr, len):
            mine, theirs = getattr(serializer, name)(function), getattr(kafka.serializer, name)(function)
            assert mine.fn is theirs.fn
            assert outcome(getattr(mine, method), "t", [], value) == outcome(getattr(theirs, method), "t", [], value)


def test_helpers_of_aiokafka() -> None:
    theirs, mine = aiokafka.util, aiokafka_util
    texts = (
        "2.3",
        "2.3.1",
        "0.9",
        "0.8.2",
        "3.0",
        "1",
        "2.3.1.4",
        "x",
        "",
        "2.4.0rc1",
        "v2.1",
        " 2.1 ",
        "2.1-beta",
        "2.x",
    )
    for text in texts:
        found, expected = (outcome(here.parse_kafka_version, text) for here in (mine, theirs))
        assert found == expected if isinstance(found[0], int) else expected[0] in ("ValueError", "InvalidVersion"), text

    def offsets(here: Any) -> list[Any]:
        here = here.TopicPartition("t", 0), here.OffsetAndMetadata
        partition, pair = here
        return [
            {partition: 5}, {partition: (5, "m")}, {partition: pair(5, "m")}, {}, None, [], {("t", 0): 5}, {"t": 5},
            {partition: (5, 6)}, {partition: (5,)}, {partition: "ab"}, {partition: None}, {partition: True},
        ]  # fmt: skip

    for ours_given, theirs_given in zip(offsets(aiokafka_structs), offsets(aiokafka.structs), strict=True):
        assert repr(outcome(mine.commit_structure_validate, ours_given)) == repr(
            outcome(theirs.commit_structure_validate, theirs_given)
        )
    assert (mine.INTEGER_MAX_VALUE, mine.INTEGER_MIN_VALUE) == (theirs.INTEGER_MAX_VALUE, theirs.INTEGER_MIN_VALUE)

    async def story(here: Any) -> list[Any]:
        async def value() -> int:
            return 3

        never = here.create_future()
        late = asyncio.ensure_future(here.wait_for(never, 0.01))
        await asyncio.wait([late])
        return [
            await here.create_task(value()),
            await here.wait_for(value(), 60),
            await here.wait_for(value()),
            type(late.exception()),
            never.cancelled(),
            here.get_running_loop() is asyncio.get_running_loop(),
            here.create_future(asyncio.get_running_loop()).done(),
        ]

    assert asyncio.run(story(mine)) == asyncio.run(story(theirs))
    work = story(mine)
    with pytest.raises(RuntimeError, match="should be created within an async function"):
        mine.create_task(work)
    work.close()
    for name in (*theirs.__all__, "commit_structure_validate", "parse_kafka_version", "wait_for", "get_running_loop"):
        if inspect.isfunction(getattr(theirs, name)):
            assert list(inspect.signature(getattr(mine, name)).parameters) == list(
                inspect.signature(getattr(theirs, name)).parameters
            )


def test_chance_is_even() -> None:
    """Records without a key reach every partition that has a leader, and no other one."""
    cluster = Cluster({"t": [0, 1, 2]}, {"t": [0, 2]})
    state = random.getstate()
    random.seed(3)
    try:
        chosen = {partitioner.DefaultPartitioner().partition("t", None, None, None, b"", cluster) for _ in range(100)}
    finally:
        random.setstate(state)
    assert chosen == {0, 2}
    assert SimpleNamespace(**vars(aiokafka_partitioner)).murmur2(b"abc") == partitioner.murmur2(b"abc")
