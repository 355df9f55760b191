from __future__ import annotations

import inspect

import pytest

from serdes.formats.avro.format import AvroFormat
from serdes.formats.json.format import JsonFormat
from serdes.formats.protobuf.format import ProtobufFormat
from serdes.formats.protocol import ReadHooks, SchemaFormat, WriteHooks

METHODS = ("parse", "name", "indexes", "complete", "encoder", "decoder")


@pytest.mark.parametrize("form", [AvroFormat, JsonFormat, ProtobufFormat])
def test_all_formats_have_the_same_methods(form: type) -> None:
    for name in METHODS:
        wanted = list(inspect.signature(getattr(SchemaFormat, name)).parameters)
        assert list(inspect.signature(getattr(form, name)).parameters) == wanted


def test_hooks_do_nothing_by_default() -> None:
    assert (WriteHooks().value, WriteHooks().payload, WriteHooks().blocking) == (None, None, False)
    assert (ReadHooks().payload, ReadHooks().migrate, ReadHooks().value) == (None, None, None)
