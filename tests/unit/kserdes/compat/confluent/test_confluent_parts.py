"""Private helpers of confluent_kafka that code imports, without the package; tests/interop compares them with it."""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import pytest

from kafka_core import KafkaError, KafkaException
from kserdes.compat.aliases import Alias, Dialect
from kserdes.compat.confluent.aws import extensions as aws_extensions
from kserdes.compat.confluent.aws import tokens as aws_tokens
from kserdes.compat.confluent.aws.settings import AwsOAuthBearerConfig
from kserdes.compat.confluent.client import batching, checks, loop_calls, strings


def awaited(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test that runs in a loop."""

    @functools.wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


class Producer:
    """Queues batches, all but the values in `refused`."""

    def __init__(self, *refused: bytes, fails: bool = False) -> None:
        self.refused = refused
        self.fails = fails
        self.batches: list[tuple[str, int, list[bytes]]] = []
        self.flushed: list[float] = []
        self.was_flushed = threading.Event()
        self.due: list[Any] = []

    def produce_batch(self, topic: str, messages: list[dict[str, Any]], *, partition: int) -> None:
        if self.fails:
            raise RuntimeError("no room")
        self.batches.append((topic, partition, [message["value"] for message in messages]))
        for message in messages:
            if message["value"] in self.refused:
                message["_error"] = KafkaError(KafkaError._MSG_TIMED_OUT)
            else:
                self.due.append(message)

    def poll(self, timeout: float) -> int:
        due, self.due = self.due, []
        for message in due:
            message["callback"](None, message["value"])
        return len(due)

    def flush(self, timeout: float) -> int:
        self.flushed.append(timeout)
        self.was_flushed.set()
        return 0


async def managed(producer: Producer, *values: bytes) -> tuple[batching.ProducerBatchManager, list[Any]]:
    manager = batching.ProducerBatchManager(batching.ProducerBatchExecutor(producer, ThreadPoolExecutor(1)))
    futures = [asyncio.get_running_loop().create_future() for _ in values]
    for number, (value, future) in enumerate(zip(values, futures, strict=True)):
        manager.add_message({"topic": f"t{number % 2}", "value": value, "headers": {"a": "b"}}, future)
    return manager, futures


@awaited
async def test_what_waits_goes_out_by_topic_and_settles_its_futures() -> None:
    producer = Producer(b"3")
    manager, futures = await managed(producer, b"1", b"2", b"3")
    assert manager.get_buffer_size() == 3
    assert [batch.info for batch in manager.create_batches("t1")] == ["MessageBatch(topic='t1', partition=-1, size=1)"]
    await manager.flush_buffer("t0")
    assert producer.batches == [("t0", -1, [b"1", b"3"])]
    assert manager.get_buffer_size() == 1
    await manager.flush_buffer()
    assert manager.is_buffer_empty()
    assert [future.done() for future in futures] == [True] * 3
    assert [futures[0].result(), futures[1].result()] == [b"1", b"2"]
    with pytest.raises(KafkaException) as caught:
        futures[2].result()
    assert caught.value.args[0].code() == KafkaError._MSG_TIMED_OUT


@awaited
async def test_a_batch_that_fails_waits_again_and_its_futures_fail() -> None:
    manager, futures = await managed(Producer(fails=True), b"1")
    with pytest.raises(RuntimeError, match="no room"):
        await manager.flush_buffer()
    assert manager._message_buffer == [{"topic": "t0", "value": b"1", "key": None, "headers": {"a": "b"}}]
    with pytest.raises(RuntimeError, match="no room"):
        futures[0].result()
    manager.cancel_pending_futures()
    manager.clear_buffer()
    assert manager.is_buffer_empty()


@awaited
async def test_an_idle_buffer_is_flushed_and_the_task_keeps_nothing_alive() -> None:
    producer = Producer()
    manager, futures = await managed(producer, b"1")
    timer = batching.BufferTimeoutManager(manager, manager._kafka_executor, 0.01)
    timer.start_timeout_monitoring()
    assert await asyncio.wait_for(futures[0], 60) == b"1"
    assert await asyncio.to_thread(producer.was_flushed.wait, 60)
    task, gone = timer._timeout_task, weakref.ref(timer)
    assert task is not None
    del timer
    gc.collect()
    await asyncio.wait_for(task, 60)
    assert gone() is None
    assert set(producer.flushed) == {0}
    off = batching.BufferTimeoutManager(manager, manager._kafka_executor, 0)
    off.start_timeout_monitoring()
    assert off._timeout_task is None


@awaited
async def test_callbacks_of_other_threads_run_in_the_loop() -> None:
    heard: list[Any] = []
    loop = asyncio.get_running_loop()

    async def callback(*args: Any, **kwargs: Any) -> str:
        heard.append((asyncio.get_running_loop() is loop, args, kwargs))
        return "done"

    logger = mock.Mock(spec=logging.Logger)
    conf: dict[str, Any] = {"error_cb": callback, "logger": logger, "bootstrap.servers": "h"}
    loop_calls.wrap_common_callbacks(loop, conf)
    with ThreadPoolExecutor(1) as executor:
        assert await loop_calls.async_call(executor, conf["error_cb"], 1, b=2) == "done"
        edited = loop_calls.wrap_callback(loop, callback, lambda args: args[1:], lambda named: {**named, "c": 3})
        assert await loop_calls.async_call(executor, edited, 1, 2) == "done"
        await loop_calls.async_call(executor, conf["logger"].log, logging.INFO, "text")
    await asyncio.sleep(0)
    assert heard == [(True, (1,), {"b": 2}), (True, (2,), {"c": 3})]
    logger.log.assert_called_once_with(logging.INFO, "text")


@awaited
async def test_a_class_whose_init_is_awaited() -> None:
    @checks.asyncinit
    class Made:
        async def __init__(self, value: int) -> None:  # type: ignore[misc]
            self.value = value

    assert (await Made(5)).value == 5  # type: ignore[misc]


def test_settings_and_tokens_of_aws() -> None:
    assert strings.parse_key_values(r"a=b\,c, d=e=f", ",") == [("a", "b,c"), ("d", "e=f")]
    assert aws_extensions.parse("a=b") == {"a": "b"}
    assert AwsOAuthBearerConfig.parse("region=eu,audience=x,tag_a=1").tags == {"a": "1"}
    with pytest.raises(ValueError, match="exactly 3"):
        aws_tokens.extract_sub("a.b")
    with pytest.raises(ValueError, match=r"sasl\.oauthbearer\.config' is missing"):
        aws_tokens.create_handler("", None)


def test_an_old_boto3_is_refused() -> None:
    config = AwsOAuthBearerConfig(region="eu", audience="x")
    with mock.patch.object(aws_tokens.boto3, "__version__", "1.42.24"), pytest.raises(ImportError, match="found boto3"):
        aws_tokens.AwsStsTokenProvider(config)


def test_a_name_that_tests_replace_is_replaced_in_the_module_behind() -> None:
    dialect = Dialect("other", {"_util": ("kserdes.compat.confluent.client.strings",)}, "a guide")
    alias: Any = Alias("other._util", dialect)
    original = strings.split
    with mock.patch.object(alias, "split", return_value=["a=1"]):
        assert alias.parse_key_values("x=2", ",") == [("a", "1")]
    assert strings.split is original
    assert alias.split is original
    with mock.patch.object(alias, "split", return_value=["a=1"]):  # now it was looked up before
        assert alias.parse_key_values("x=2", ",") == [("a", "1")]
    assert strings.split is original
    assert alias.parse_key_values("x=2", ",") == [("x", "2")]
