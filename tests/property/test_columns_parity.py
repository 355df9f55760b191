"""The compiled decoder of Avro columns against the one by way of objects: values, nulls and errors are the same.

Generated writers, readers and values; projections and options; payloads that are damaged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
import pytest

from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnOptions, DecodeResult
from serdes.columnar.avro.format import AvroColumns
from serdes.errors import SerializationError
from serdes.formats.avro.codec import encoder, load_texts
from serdes.frames.framing import frame_prefix
from tests.strategies.avro_cases import AvroPair, pairs
from tests.strategies.columns import cells

pytest.importorskip("serdes.kernels.native.avro_columns")

BYTE = re.compile(r" \(at byte \d+\)")
OPTIONS = [
    ColumnOptions(recursive_max_depth=1),
    ColumnOptions(unions="dense", recursive_max_depth=2),
    ColumnOptions(enums="number", recursive_max_depth=3),
]


def decoders(pair: AvroPair, options: ColumnOptions) -> tuple[ColumnarDecoder, ColumnarDecoder] | None:
    """The compiled one and the other; None if the reader has no columns."""
    writer, reader = Schema(pair.texts[0]), Schema(pair.texts[1])
    try:
        made = [
            ColumnarDecoder({7: writer}.__getitem__, reader, options=options, impl=impl) for impl in ("native", "pure")
        ]
    except SerializationError as error:
        if "digits at most" not in str(error) and "nothing but recursion" not in str(error):
            raise
        return None
    return made[0], made[1]


def frames_of(pair: AvroPair) -> list[bytes]:
    encode = encoder(load_texts(pair.texts[0]), frame_prefix(7))
    return [encode(drawn.value) for drawn in pair.values]


def same(native: DecodeResult, pure: DecodeResult, frames: Sequence[bytes], texts: object) -> int:
    """Checks that two results are the same; gives how many rows are errors."""
    assert differing(native, pure) == [], texts
    return len(frames) - int(native.errors.null_count)


def differing(native: DecodeResult, pure: DecodeResult) -> list[tuple[object, ...]]:
    """The rows in which two results differ: in a value, or in whether there is one."""
    native.struct.validate(full=True)
    one, other = native.errors.to_pylist(), pure.errors.to_pylist()
    rows = zip(cells(native.struct), cells(pure.struct), one, other, strict=True)
    return [
        (row, mine, wanted, error, expected)
        for row, (mine, wanted, error, expected) in enumerate(rows)
        if mine != wanted or (error is None) is not (expected is None)
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=["structs", "dense", "numbers"])
def test_every_pair_of_schemas_gives_the_same_columns(options: ColumnOptions) -> None:
    compared = refused = 0
    for pair in pairs(21, 150, 4):
        both = decoders(pair, options)
        if both is None:
            continue
        frames = frames_of(pair)
        array = pa.array(frames, pa.binary())
        native, pure = (decoder.decode(array) for decoder in both)
        bad = same(native, pure, frames, pair.texts)
        for mine, wanted in zip(native.errors.to_pylist(), pure.errors.to_pylist(), strict=True):
            assert mine is None or "column" in mine or BYTE.sub("", mine) == wanted, pair.texts
        refused += bad
        compared += len(frames) - bad
    assert compared > 300
    assert refused > 20


def test_projections_give_the_columns_that_all_columns_have() -> None:
    rng = random.Random(5)
    compared = 0
    for pair in pairs(22, 120, 3):
        both = decoders(pair, OPTIONS[0])
        if both is None or not both[0].arrow_type.num_fields:
            continue
        names = [field.name for field in both[0].arrow_type]
        wanted = rng.sample(names, rng.randint(1, len(names)))
        options = ColumnOptions(columns=tuple(wanted), recursive_max_depth=1)
        narrow = decoders(pair, options)
        assert narrow is not None
        frames = frames_of(pair)
        array = pa.array(frames, pa.binary())
        native, pure = (decoder.decode(array) for decoder in narrow)
        same(native, pure, frames, (wanted, pair.texts))
        whole = both[0].decode(array)
        assert [field.name for field in native.struct.type] == [name for name in names if name in wanted]
        for name in wanted:
            for one, other, row in zip(
                cells(native.struct.field(name)), cells(whole.struct.field(name)), whole.errors.to_pylist(), strict=True
            ):
                if row is None:
                    assert one == other, pair.texts
                    compared += 1
    assert compared > 300


def damaged(rng: random.Random, frame: bytes) -> bytes:
    data = bytearray(frame)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(5, len(data) + 1) if len(data) > 5 else len(data)
        kind = rng.random()
        if kind < 0.4 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind < 0.55:
            del data[at:]
        elif kind < 0.7:
            data[at:at] = rng.randbytes(rng.randint(1, 6))
        elif kind < 0.8:
            data[at:at] = rng.choice(
                [b"\xfe\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\x80" * 10 + b"\x00", b"\x01\x7f"]
            )
        elif kind < 0.9 and at < len(data):
            data[at] = rng.randrange(256)
        else:
            del data[at : at + rng.randint(1, 4)]
    return bytes(data)


def mutations(seed: int, schemas: int, rounds: int) -> Iterator[tuple[AvroPair, list[bytes], ColumnOptions]]:
    rng = random.Random(seed)
    for pair in pairs(seed, schemas, 3):
        frames = frames_of(pair)
        options = rng.choice(OPTIONS)
        both = decoders(pair, options) if rng.random() < 0.4 else None
        if both is not None and both[0].arrow_type.num_fields > 1:
            names = [field.name for field in both[0].arrow_type]
            options = replace(options, columns=tuple(rng.sample(names, rng.randint(1, 2))))
        yield pair, [damaged(rng, rng.choice(frames)) for _ in range(rounds)], options


def compare_mutations(seed: int, schemas: int, rounds: int) -> tuple[int, int]:
    """Payloads compared, and how many of them are errors.

    What is skipped may differ: a block that says how many bytes it has is passed by the kernel, and read by the other.
    """
    compared = refused = passed = 0
    for pair, frames, options in mutations(seed, schemas, rounds):
        both = decoders(pair, options)
        if both is None:
            continue
        array = pa.array(frames, pa.binary())
        native, pure = (decoder.decode(array) for decoder in both)
        found = differing(native, pure)
        if found:
            assert "SKIP_LIST" in plan_of(pair, options), (found, pair.texts)
        passed += len(found)
        refused += len(frames) - native.errors.null_count
        compared += len(frames)
    assert passed <= compared // 500
    return compared, refused


def plan_of(pair: AvroPair, options: ColumnOptions) -> str:
    writer, reader = map(load_texts, pair.texts)
    return str(AvroColumns().plan(writer, reader, options))


def test_damaged_payloads_are_judged_alike() -> None:
    compared, refused = compare_mutations(31, 250, 200)
    assert compared >= 45_000
    assert compared // 4 < refused < compared


@pytest.mark.slow
def test_ten_million_damaged_payloads_are_judged_alike() -> None:
    compared = 0
    seed = 1000
    while compared < 10_000_000:
        compared += compare_mutations(seed, 500, 400)[0]
        seed += 1
