"""pipeline.workers.Arrival stands in all that tasks of Spark are sent: each begins with a prompt connection."""

from __future__ import annotations

import pickle
import socket
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipeline import workers
from pipeline.columns.plan import DecodeArguments, plan_for
from pipeline.functions import frames, udf, writing
from pipeline.sink.writers import make_stream_writer, make_writer
from pipeline.source.formats import plan_read
from pipeline.source.options import ReadOptions
from pipeline.source.readers import FilteringReader, KserdesReader
from pipeline.source.stream import KserdesStreamReader
from registry import Schema, SchemaRegistryClient

pytest.importorskip("pyspark.sql.pandas.functions")

from pyspark import cloudpickle
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

SERVERS = {"kafka.bootstrap.servers": "127.0.0.1:9"}
ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
VALUES = StructType([StructField("value", StructType([StructField("id", LongType())]))])
FRAMES = StructType([StructField("value", BinaryType())])


class Frame:
    """As much of a DataFrame as functions of frames ask for; keeps the function that tasks would run."""

    def __init__(self, schema: StructType) -> None:
        self.schema, self.columns = schema, schema.names

    def mapInArrow(self, function: Any, schema: StructType) -> Any:
        return function


@pytest.fixture
def registry() -> Iterator[dict[str, object]]:
    conf: dict[str, object] = {"url": f"mock://{uuid.uuid4()}"}
    with SchemaRegistryClient(conf) as client:
        client.register_schema("t-value", Schema(ORDER, "AVRO"))
        yield conf


@pytest.fixture
def is_prompt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], bool]]:
    """Whether this process's connection to itself sends at once when something was unpickled in a task."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as line:

        def asked(sent: Any) -> bool:
            text = cloudpickle.dumps(sent)
            assert not line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            with monkeypatch.context() as patch:
                patch.setattr(workers, "_in_task", lambda: True)
                pickle.loads(text)
            return bool(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

        yield asked


@pytest.mark.parametrize("kind", [KserdesReader, FilteringReader, KserdesStreamReader])
def test_readers(kind: Any, is_prompt: Callable[[Any], bool]) -> None:
    assert is_prompt(kind(plan_read(ReadOptions.parse({**SERVERS, "subscribe": "t"}))))


@pytest.mark.parametrize("make", [make_writer, make_stream_writer])
def test_writers(make: Any, is_prompt: Callable[[Any], bool]) -> None:
    assert is_prompt(make({**SERVERS, "topic": "t"}, FRAMES, False))


def test_functions_that_decode(registry: dict[str, object], is_prompt: Callable[[Any], bool]) -> None:
    assert is_prompt(udf.decoding(plan_for(registry, DecodeArguments(topic="t"))).func)


def test_functions_that_encode(
    registry: dict[str, object], is_prompt: Callable[[Any], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(writing, "arrow_function", lambda: lambda function, kind: sent.append(function) or print)
    monkeypatch.setattr(writing, "column_of", str)
    writing.to_registry("v", registry, topic="t")
    assert is_prompt(sent[0])


def test_functions_of_frames(registry: dict[str, object], is_prompt: Callable[[Any], bool]) -> None:
    frame: Any = Frame(FRAMES)
    assert is_prompt(frames.decode_frame(frame, "value", registry, topic="t"))


def test_functions_of_frames_that_encode(registry: dict[str, object], is_prompt: Callable[[Any], bool]) -> None:
    frame: Any = Frame(VALUES)
    assert is_prompt(frames.encode_frame(frame, "value", registry, topic="t"))
