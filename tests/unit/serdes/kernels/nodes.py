"""Nodes of one implementation, put together for a schema, and what calls of them come to."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from registry.schemas.avro.model import parse
from serdes.formats.avro import reading as avro_reading
from serdes.formats.avro import writing as avro_writing
from serdes.kernels.misfit import Misfit
from serdes.models import avro_reading as model_reading
from serdes.models import avro_writing as model_writing

NODES: list[str] = importlib.import_module("serdes.kernels.avro").__all__


class Built:
    """Writer and reader of a schema with one implementation."""

    def __init__(
        self,
        kernel: SimpleNamespace,
        node: Any,
        monkeypatch: pytest.MonkeyPatch,
        reader: Any = None,
        kind: Any = None,
    ) -> None:
        for name in NODES:
            for module in (avro_reading, avro_writing, model_reading, model_writing):
                if hasattr(module, name) and hasattr(kernel, name):
                    monkeypatch.setattr(module, name, getattr(kernel, name))
        monkeypatch.setattr(avro_writing, "LEAVES", dict(LEAVES(kernel)))
        monkeypatch.setattr(avro_reading, "LEAVES", dict(READ_LEAVES(kernel)))
        model = parse(json.dumps(node))
        target = model if reader is None else parse(json.dumps(reader))
        if kind is None:
            write, read = avro_writing.writer_of(model), avro_reading.reader_of(model, target)
        else:
            write = model_writing.object_writer(model, kind, True)
            read = model_reading.object_reader(model, target, kind)
        self.encode = kernel.Encoder(write, b"!", lambda error: error)
        self.decode = kernel.Decoder(read, 1, 10, lambda error, size: error)


def LEAVES(kernel: SimpleNamespace) -> Iterator[tuple[Any, Any]]:
    for kind, make in avro_writing.LEAVES.items():
        name = f"Write{kind.value.capitalize()}"
        made = getattr(kernel, name)
        plain = name in ("WriteNull", "WriteBoolean", "WriteFloat", "WriteDouble")
        yield kind, (lambda what, made=made: made()) if plain else made
        assert make is not None


def READ_LEAVES(kernel: SimpleNamespace) -> Iterator[tuple[Any, Any]]:
    for kind in avro_reading.LEAVES:
        bits = {"int": 32, "long": 64}.get(kind.value)
        name = "ReadInt" if bits else f"Read{kind.value.capitalize()}"
        made = getattr(kernel, name)
        yield kind, made if bits is None else (lambda made=made, bits=bits: made(bits))


def nodes_of(implementation: str) -> SimpleNamespace:
    """The nodes of one implementation, from all its modules."""
    found: dict[str, Any] = {}
    try:
        for module in ("avro", "avro_logical", "avro_objects"):
            found.update(vars(importlib.import_module(f"serdes.kernels.{implementation}.{module}")))
    except ImportError as error:
        pytest.skip(f"the native kernels are not built (make kernels): {error}")
    return SimpleNamespace(**found)


def outcome(function: Any, argument: Any) -> Any:
    try:
        return repr(function(argument))
    except Misfit as error:
        return (type(error), error.reason, error.path("R"))
