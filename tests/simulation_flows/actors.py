"""Clients and serializers as callers use them, over the virtual network, and with clocks and chance of the world.

Must not know how callers take turns: both shells use these.
"""

from __future__ import annotations

import math
import random
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import kserdes_base.waiting
import registry.client.aio_shell
import registry.client.blocking
import registry.client.shell
import serdes.engine.cache
from registry import AsyncSchemaRegistryClient, Schema, SchemaRegistryClient
from registry.dev import shared
from serdes.asks import Inquiry
from serdes.context import MessageField, SerializationContext
from serdes.engine.aio import AsyncDeserializer, AsyncSerializer
from serdes.engine.blocking import BlockingDeserializer, BlockingSerializer
from serdes.engine.deserializer import DeserializerEngine
from serdes.engine.serializer import SerializerEngine
from serdes.formats.protocol import Decode, Encode
from serdes.frames.framing import frame_prefix
from serdes.options import ReadOptions, WriteOptions
from serdes.subject import topic_subject_name_strategy
from tests.simulation_flows.world import TEXTS, World

SERIALIZERS = ("write latest", "write registering", "read", "read latest")
OWN_TEXT = TEXTS[2]
"""The schema that the registering serializer writes."""
TRANSPORT = shared("simulation").transport()
"""Never used: requests go through the world. It spares a client the TLS set-up."""


class TextFormat:
    """A format whose payload is the text of its schema, so that a frame shows what it was made with."""

    schema_type = "AVRO"
    needs_writer = True
    model = None

    def parse(self, schema: Schema, referenced: object) -> str:
        return schema.schema_str

    def name(self, parsed: Any) -> str | None:
        return "R"

    def indexes(self, parsed: Any) -> list[int] | None:
        return None

    def complete(self, schema: Schema, ctx: SerializationContext | None, options: WriteOptions) -> Inquiry[Schema]:
        yield from ()
        return schema

    def encoder(self, parsed: Any, prefix: bytes, hooks: Any = None) -> Encode:
        return lambda value: prefix + str(parsed).encode()

    def decoder(self, writer: Any, reader: Any, skip: int, indexes: Any, hooks: Any = None) -> Decode:
        return lambda frame: (writer, reader)

    def accept(self, written: Schema, indexes: list[int] | None) -> None:
        return None

    def check(self, parsed: Any) -> Callable[[Any], None] | None:
        return None


def _engine(kind: str, client: Any) -> SerializerEngine | DeserializerEngine:
    strategy = topic_subject_name_strategy
    if kind == "write latest":
        newest: Any = WriteOptions(auto_register=False, use_latest=True, strategy=strategy)
        return SerializerEngine(client, TextFormat(), None, newest)
    if kind == "write registering":
        return SerializerEngine(client, TextFormat(), Schema(OWN_TEXT), WriteOptions(strategy=strategy))
    options = ReadOptions(use_latest=kind == "read latest", strategy=strategy)
    return DeserializerEngine(client, TextFormat(), None, options)


def serializers(client: Any, asyncio: bool) -> dict[str, Any]:
    """Kind of operation → the one serializer that all callers share."""
    writes: Any = AsyncSerializer if asyncio else BlockingSerializer
    reads: Any = AsyncDeserializer if asyncio else BlockingDeserializer
    return {kind: (writes if kind.startswith("write") else reads)(_engine(kind, client)) for kind in SERIALIZERS}


def call_of(client: Any, made: dict[str, Any], world: World, kind: str, args: tuple[Any, ...]) -> Callable[[], Any]:
    """The function of an operation; with asyncio its result may have to be awaited."""
    if kind.startswith("outside"):
        return lambda: _outside(world, kind, args)
    if kind in made:
        subject = args[0]
        ctx = SerializationContext(subject.removesuffix("-value"), MessageField.VALUE)
        if kind.startswith("write"):
            return lambda: made[kind]({}, ctx)
        return lambda: made[kind](frame_prefix(args[1]), ctx)
    if kind in ("register_schema", "lookup_schema"):
        return lambda: getattr(client, kind)(args[0], Schema(args[1]))
    return lambda: getattr(client, kind)(*args)


def _outside(world: World, kind: str, args: tuple[Any, ...]) -> None:
    if kind == "outside registers":
        world.registry.register(args[0], args[1])
    else:
        world.registry.delete(args[0], None)


class _Current:
    """The world whose time and chance the patched modules show."""

    world: World


def _monotonic() -> float:
    return _Current.world.now_s


def _random(*seed: Any) -> random.Random:
    return random.Random(_Current.world.rng.random())


@contextmanager
def virtual(world: World, **blocking: Any) -> Iterator[None]:
    """Time and chance of the world in place of the real ones.

    Args:
        world: the run.
        blocking: what the blocking shell takes of other modules (`threading`, `Future`, `sleep`).
    """
    _Current.world = world
    clock = types.SimpleNamespace(monotonic=_monotonic, time=_monotonic, sleep=blocking.pop("sleep", None))
    chance = types.SimpleNamespace(Random=_random)
    with (
        patch.object(registry.client.shell, "time", clock),
        patch.object(kserdes_base.waiting, "time", clock),
        patch.object(kserdes_base.waiting, "SLICE_S", math.inf),
        patch.object(registry.client.aio_shell, "time", clock),
        patch.object(serdes.engine.cache, "time", clock),
        patch.object(registry.client.shell, "random", chance),
        patch.object(registry.client.aio_shell, "random", chance),
        patch.multiple(registry.client.blocking, **(blocking or {"Future": registry.client.blocking.Future})),
    ):
        yield


def client_class(asyncio: bool) -> Any:
    return AsyncSchemaRegistryClient if asyncio else SchemaRegistryClient
