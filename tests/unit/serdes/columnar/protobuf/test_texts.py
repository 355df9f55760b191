from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from google.protobuf import descriptor_pool, json_format, struct_pb2

from serdes.columnar.protobuf.texts import json_of
from serdes.errors import SerializationError

POOL = descriptor_pool.Default()


def drawn(rng: random.Random, depth: int) -> struct_pb2.Value:
    """A value of any kind, or of none."""
    made = struct_pb2.Value()
    kind = rng.randrange(7 if depth else 5)
    if kind == 1:
        made.null_value = struct_pb2.NULL_VALUE
    elif kind == 2:
        made.number_value = rng.choice([0.0, -0.0, 5.0, 0.1, 1e300, 5e-324, float(2**53)])
    elif kind == 3:
        made.string_value = rng.choice(["", "a", "é\u2028", '"\\\n', "\U0001f600"])
    elif kind == 4:
        made.bool_value = rng.random() < 0.5
    elif kind == 5:
        made.list_value.values.extend(drawn(rng, depth - 1) for _ in range(rng.randrange(4)))
        made.list_value.SetInParent()
    elif kind == 6:
        made.struct_value.SetInParent()
        for key in rng.sample(["", "a", "b", "é"], rng.randrange(4)):
            made.struct_value.fields[key].CopyFrom(drawn(rng, depth - 1))
    return made


def test_texts_are_those_of_the_library() -> None:
    rng = random.Random(20261123)
    for _ in range(500):
        value = drawn(rng, 4)
        for message in (value, value.struct_value, value.list_value):
            wanted = json.dumps(
                json_format.MessageToDict(message), ensure_ascii=False, sort_keys=True, separators=(",", ":")
            )
            assert json_of(message.DESCRIPTOR.full_name, message.SerializeToString(), POOL) == wanted


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_without_a_json_form_are_refused(number: float) -> None:
    values: list[Any] = [struct_pb2.Value(number_value=number), struct_pb2.Struct(), struct_pb2.ListValue()]
    values[1].fields["a"].number_value = number
    values[2].values.add().number_value = number
    for message in values:
        with pytest.raises(SerializationError, match="can't be JSON text: ValueError"):
            json_of(message.DESCRIPTOR.full_name, message.SerializeToString(), POOL)
