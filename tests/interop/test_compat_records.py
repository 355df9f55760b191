"""Batches, checksums, codecs and small helpers of the dialects, beside kafka-python's and aiokafka's own."""

from __future__ import annotations

import random
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from kserdes.compat.aiokafka import records as aiokafka_records
from kserdes.compat.kafka import util as our_util
from kserdes.compat.records import codecs, default, legacy, memory, util

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("kafka")
    pytest.importorskip("aiokafka")
    import aiokafka.codec
    import aiokafka.record.control_record as aiokafka_control
    import aiokafka.record.default_records as aiokafka_default
    import aiokafka.record.legacy_records as aiokafka_legacy
    import aiokafka.record.memory_records as aiokafka_memory
    import kafka.codec
    import kafka.record.default_records as kafka_default
    import kafka.record.legacy_records as kafka_legacy
    import kafka.record.memory_records as kafka_memory
    import kafka.record.util as kafka_util
    import kafka.util

KAFKA = SimpleNamespace(
    builder=kafka_default.DefaultRecordBatchBuilder,
    batch=kafka_default.DefaultRecordBatch,
    records=kafka_memory.MemoryRecords,
)
AIOKAFKA = SimpleNamespace(
    builder=aiokafka_default.DefaultRecordBatchBuilder,
    batch=aiokafka_default.DefaultRecordBatch,
    records=aiokafka_memory.MemoryRecords,
)
OURS = SimpleNamespace(
    builder=default.DefaultRecordBatchBuilder, batch=default.DefaultRecordBatch, records=memory.MemoryRecords
)
AIO = SimpleNamespace(builder=aiokafka_records.DefaultRecordBatchBuilder)
FACTS = (
    "base_offset", "magic", "crc", "attributes", "compression_type", "timestamp_type", "is_transactional",
    "is_control_batch", "last_offset_delta", "first_timestamp", "max_timestamp", "producer_id", "producer_epoch",
    "base_sequence", "next_offset",
)  # fmt: skip
MORE = ("size_in_bytes", "leader_epoch", "last_offset", "has_sequence", "last_sequence", "records_count")


def outcome(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)


def data(rng: random.Random) -> bytes | None:
    return rng.choice((None, b"", rng.randbytes(rng.randrange(200)), b"abc" * rng.randrange(100)))


def filled(side: Any, seed: int, codec: int = 0) -> tuple[bytes, list[Any]]:
    """A batch that a seed decides, and what the builder said of each record."""
    rng = random.Random(seed)
    builder = side.builder(
        magic=2,
        compression_type=codec,
        is_transactional=rng.random() < 0.5,
        producer_id=rng.choice((-1, 2**40)),
        producer_epoch=rng.choice((-1, 7)),
        base_sequence=rng.choice((-1, 0, 2**31 - 2)),
        batch_size=rng.choice((10, 100_000)) if seed % 2 else rng.choice((500, 5000)),
    )
    said = []
    for offset in range(rng.randrange(1, 30)):
        headers = [(rng.choice(("", "h", "ключ")), data(rng)) for _ in range(rng.randrange(3))]
        arguments = (1_600_000_000_000 + rng.randrange(-5000, 5000), data(rng), data(rng), headers)
        found = builder.append(offset, *arguments)
        said.append(None if found is None else (found.offset, found.size, found.timestamp, found.crc))
        said.append((builder.size(), side.builder.size_of(*arguments[1:])))
        said.append(side.builder.estimate_size_in_bytes(*arguments[1:]))
    return bytes(builder.build()), said


@pytest.mark.parametrize("seed", range(40))
def test_the_same_batches_are_built_and_read(seed: int) -> None:
    built = {name: filled(side, seed) for name, side in (("k", KAFKA), ("a", AIOKAFKA), ("o", OURS))}
    assert built["o"] == built["k"]
    if seed % 2:  # they judge differently whether a record still fits
        assert filled(AIO, seed)[0] == built["a"][0]
    buffer = built["o"][0]
    theirs, mine, other = KAFKA.batch(buffer), OURS.batch(buffer), AIOKAFKA.batch(buffer)
    assert [getattr(mine, fact) for fact in FACTS] == [getattr(other, fact) for fact in FACTS]
    assert [getattr(mine, fact) for fact in FACTS + MORE] == [getattr(theirs, fact) for fact in FACTS + MORE]
    assert mine.validate_crc() is theirs.validate_crc() is True
    assert str(mine) == str(theirs)
    assert [repr(each) for each in mine] == [repr(each) for each in theirs]
    assert [(each.key, each.value, each.headers) for each in OURS.batch(buffer)] == [
        (each.key, each.value, each.headers) for each in other
    ]


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_each_reads_what_the_other_compressed(codec: int, seed: int) -> None:
    plain = [repr(each) for each in OURS.batch(filled(OURS, seed)[0])]
    for writer in (OURS, AIOKAFKA):
        buffer = filled(writer, seed, codec)[0]
        assert OURS.batch(buffer).validate_crc()
        assert [repr(each) for each in OURS.batch(buffer)] == plain
        assert len(list(AIOKAFKA.batch(buffer))) == len(plain)


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_found(seed: int) -> None:
    rng = random.Random(seed)
    buffer = bytearray(filled(OURS, seed)[0])
    at = rng.randrange(61, len(buffer))
    buffer[at] ^= 1 << rng.randrange(8)
    assert OURS.batch(buffer).validate_crc() is KAFKA.batch(buffer).validate_crc() is False

    def read(side: Any) -> Any:
        try:
            return [repr(each) for each in side.batch(bytes(buffer))]
        except Exception as error:
            return type(error).__name__

    assert read(OURS) == read(KAFKA) or read(OURS) == "CorruptRecordError"


def test_a_batch_that_is_cut_off() -> None:
    ending = filled(OURS, 1)[0][:-1]
    for batch in (AIOKAFKA.batch, aiokafka_records.DefaultRecordBatch):
        assert outcome(list, batch(ending))[0] == "CorruptRecordException"
    for batch in (KAFKA.batch, OURS.batch):
        assert outcome(list, batch(ending))[0] == "CorruptRecordError"


@pytest.mark.parametrize(
    "arguments",
    [
        ("x", 1, None, None, []),
        (1, "x", None, None, []),
        (1, 1, "x", None, []),
        (1, 1, None, 3, []),
        (1, 1, None, b"x", [(b"a", b"")]),
    ],
)
def test_wrong_arguments_of_append(arguments: Any) -> None:
    theirs, mine = (side.builder(2, 0, False, -1, -1, -1, 100) for side in (KAFKA, OURS))
    assert outcome(mine.append, *arguments) == outcome(theirs.append, *arguments)
    assert mine.size() == theirs.size()


def test_batches_one_behind_the_other() -> None:
    buffer = filled(OURS, 1)[0] + filled(OURS, 2)[0]
    for tail in (b"", b"\0" * 5, filled(OURS, 3)[0][:-1]):
        theirs, mine, other = (side.records(buffer + tail) for side in (KAFKA, OURS, AIOKAFKA))
        assert (mine.size_in_bytes(), mine.valid_bytes()) == (theirs.size_in_bytes(), theirs.valid_bytes())
        for _ in range(3):
            assert mine.has_next() == theirs.has_next() == other.has_next()
            assert str(mine.next_batch()) == str(theirs.next_batch())
            other.next_batch()
    damaged = b"\0" * 8 + b"\0\0\0\x02" + b"x" * 10
    assert outcome(OURS.records(damaged).next_batch)[0] == outcome(KAFKA.records(damaged).next_batch)[0]


def test_a_builder_is_filled_and_closed() -> None:
    def story(side: Any) -> list[Any]:
        builder = side.MemoryRecordsBuilder(2, 0, 120)
        seen = [builder.append(1, b"k", b"v"), builder.next_offset(), builder.is_full(), builder.size_in_bytes()]
        seen += [type(outcome(builder.records)), builder.append(1, b"k", b"v" * 100), builder.append(1, None, b"")]
        seen += [builder.skip(2), builder.next_offset(), builder.producer_id, builder.producer_epoch]
        builder.set_producer_state(5, 6, 7, True)
        builder.close()
        builder.close()
        seen += [builder.append(1, None, None), builder.size_in_bytes(), builder.compression_rate(), builder.is_full()]
        seen += [bytes(builder.buffer()), [repr(each) for each in builder.records().next_batch()]]
        seen.append(outcome(builder.set_producer_state, 1, 2, 3, False)[0])
        return [repr(each) for each in seen]

    assert story(memory) == story(kafka_memory)


def test_control_records() -> None:
    for key in (b"\0\0\0\0", b"\0\0\0\1", b"\0\1\0\1"):
        mine, theirs = (each.ControlRecord(1, 2, 3, 0, key, b"", []) for each in (default, kafka_default))
        for fact in ("version", "type", "abort", "commit"):
            assert getattr(mine, fact) == getattr(theirs, fact)


def test_varints_and_checksums() -> None:
    rng = random.Random(5)
    numbers = [sign * (1 << bits) + step for bits in range(63) for sign in (1, -1) for step in (-1, 0, 1)]
    for value in (*numbers, *(rng.randrange(-(2**63), 2**63) for _ in range(500))):
        if not -(2**63) <= value < 2**63:
            continue
        mine, theirs = bytearray(), bytearray()
        assert util.encode_varint(value, mine.append) == len(mine)  # theirs counts one less from 2**34 on
        kafka_util.encode_varint(value, theirs.append)
        assert mine == theirs
        assert util.size_of_varint(value) == len(mine)
        assert util.decode_varint(b"xx" + mine, 2) == (value, len(mine) + 2)
    for damaged in (b"\x80" * 11, b"\x80", b""):
        assert outcome(util.decode_varint, damaged)[0] == outcome(kafka_util.decode_varint, damaged)[0]
    for size in (0, 1, 9, 1000):
        payload = rng.randbytes(size)
        assert util.calc_crc32c(payload) == kafka_util.calc_crc32c(payload)
        assert util.calc_crc32(payload) == kafka_util.calc_crc32(payload)


@pytest.mark.parametrize("name", ["gzip", "snappy", "lz4", "zstd"])
def test_codecs(name: str) -> None:
    assert getattr(codecs, f"has_{name}")() is getattr(aiokafka.codec, f"has_{name}")() is True
    for payload in (b"", b"abc", b"abc" * 100_000, random.Random(1).randbytes(100_000)):
        mine, theirs = (getattr(each, f"{name}_encode")(payload) for each in (codecs, aiokafka.codec))
        assert getattr(codecs, f"{name}_decode")(theirs) == payload
        if payload or name != "snappy":  # an empty stream of blocks is none to them
            assert getattr(aiokafka.codec, f"{name}_decode")(mine) == payload
    assert isinstance(outcome(getattr(codecs, f"{name}_decode"), b"no such data"), tuple)


@pytest.mark.parametrize("name", ["a", "", None, 3, ".", "..", "a" * 249, "a" * 250, "a b", "ok.-_1", "é", "a\n"])
def test_names_of_topics(name: Any) -> None:
    mine, theirs = (outcome(each.ensure_valid_topic_name, name) for each in (our_util, kafka.util))
    assert mine == theirs


def test_timers_and_helpers() -> None:
    for limit in (None, 0, -1):
        mine, theirs = (each.Timer(limit, "late") for each in (our_util, kafka.util))
        for fact in ("expired", "timeout_ms", "timeout_secs"):
            assert getattr(mine, fact) == getattr(theirs, fact), (limit, fact)
        assert outcome(mine.maybe_raise) == outcome(theirs.maybe_raise)
    assert our_util.Timer(60_000, start_at=0).elapsed_ms > 0

    class Thing:
        def who(self, more: int) -> tuple[Any, int]:
            return type(self).__name__, more

    for each in (our_util, kafka.util):
        thing = Thing()
        method, same = each.WeakMethod(thing.who), each.WeakMethod(thing.who)
        assert method(3) == ("Thing", 3)
        assert (method == same, hash(method) == hash(same), method == each.WeakMethod(Thing().who)) == (
            True,
            True,
            False,
        )
    thing = Thing()
    method = our_util.WeakMethod(thing.who)
    del thing
    with pytest.raises(ReferenceError):  # theirs calls the method with None for its object
        method(3)


def old_messages(side: Any, seed: int, magic: int, codec: int = 0) -> tuple[bytes, list[Any]]:
    """Messages of magic 0 or 1 that a seed decides, and what the builder said of each."""
    rng = random.Random(seed)
    builder = side.LegacyRecordBatchBuilder(magic=magic, compression_type=codec, batch_size=rng.choice((300, 5000)))
    said: list[Any] = []
    for offset in range(rng.randrange(1, 12)):
        arguments = (offset, 1_600_000_000_000 + rng.randrange(5000), data(rng), data(rng))
        found = builder.append(*arguments)
        said.append(None if found is None else (found.offset, found.size, found.timestamp, found.crc))
        said.append((builder.size(), builder.size_in_bytes(*arguments), builder.record_overhead(magic)))
    return bytes(builder.build()), said


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("seed", range(12))
def test_messages_of_old_brokers_are_built_and_read(seed: int, magic: int) -> None:
    built = {
        side: old_messages(side, seed, magic) for side in (kafka_legacy, aiokafka_legacy, legacy, aiokafka_records)
    }
    assert built[legacy] == built[kafka_legacy]
    assert built[aiokafka_records] == built[aiokafka_legacy]
    assert built[legacy][0] == built[aiokafka_legacy][0]
    buffer = built[legacy][0]
    read = [[repr(each) for batch in side.records(buffer) for each in batch] for side in (OURS, KAFKA)]
    assert read[0] == read[1]
    facts = ("base_offset", "size_in_bytes", "timestamp_type", "compression_type", "magic")
    for mine, theirs in zip(OURS.records(buffer), KAFKA.records(buffer), strict=True):
        assert [getattr(mine, fact) for fact in facts] == [getattr(theirs, fact) for fact in facts]
        assert mine.validate_crc() is theirs.validate_crc() is True
        for one, other in zip(mine, theirs, strict=True):
            assert one.validate_crc() is other.validate_crc() is True
            assert (one.size_in_bytes, one.checksum, one.headers) == (other.size_in_bytes, other.checksum, [])


@pytest.mark.parametrize(("magic", "codec"), [(0, 1), (0, 2), (1, 1), (1, 2), (1, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_compressed_sets_of_old_messages(magic: int, codec: int, seed: int) -> None:
    def read(batch: Any) -> list[Any]:
        return [
            (each.offset, each.timestamp, each.timestamp_type, each.key, each.value, each.checksum) for each in batch
        ]

    for writer in (legacy, aiokafka_legacy):
        # The outer message has the offset of the last one and, with the other flag, the time of the broker.
        buffer = bytearray(old_messages(writer, seed, magic, codec)[0])
        buffer[7] = 100
        if magic:
            buffer[17] |= 8 * (seed % 2)
        mine = legacy.LegacyRecordBatch(buffer, magic)
        if codec == 1:  # kafka-python has the other codecs in packages that are not here
            assert read(mine) == read(kafka_legacy.LegacyRecordBatch(buffer, magic))
        assert read(mine) == read(mine)
        other = aiokafka_legacy.LegacyRecordBatch(bytes(buffer), magic)
        assert read(mine) == read(other)
        assert mine.next_offset == other.next_offset


def test_legacy_builders_refuse_values_of_wrong_types() -> None:
    wrong: list[tuple[Any, ...]] = [("1", 1, b"", b""), (1, "x", b"", b""), (1, 1, "x", b""), (1, 1, b"", 3)]
    for arguments in wrong:
        for side, error in ((legacy, kafka_legacy), (aiokafka_records, aiokafka_legacy)):
            mine, theirs = (each.LegacyRecordBatchBuilder(1, 0, 100) for each in (side, error))
            assert outcome(mine.append, *arguments)[0] == outcome(theirs.append, *arguments)[0] == "TypeError"
            assert mine.size() == 0
    for side in (legacy, aiokafka_records, aiokafka_legacy):
        assert outcome(side.LegacyRecordBatchBuilder(1, 7, 100).build)[0] == "UnsupportedCodecError"
    # As aiokafka without its compiled modules; those take every magic but 0 for 1.
    assert outcome(aiokafka_records.LegacyRecordBatchBuilder.record_overhead, 2)[0] == "ValueError"
    buffer = bytearray(old_messages(legacy, 3, 1)[0])
    first = next(iter(OURS.records(buffer)))
    whole = bytes(buffer[: first.size_in_bytes])
    for at in range(26, len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        batch = legacy.LegacyRecordBatch(damaged, 1)
        assert batch.validate_crc() is False
        read = outcome(list, batch)  # what is wrong with lengths is an error, never half a value
        assert read[0] == "CorruptRecordError" or len(read[0].key or b"") + len(read[0].value or b"") < len(whole)
    nothing = legacy.LegacyRecordBatchBuilder(1, 0, 100)
    nothing.append(0, 1, b"k", None)
    empty = nothing.build()
    empty[17] |= 1
    assert outcome(list, legacy.LegacyRecordBatch(empty, 1))[0] == "CorruptRecordError"
    assert outcome(list, aiokafka_records.LegacyRecordBatch(empty, 1))[0] == "CorruptRecordException"


def test_a_builder_of_old_messages_is_filled_and_closed() -> None:
    def story(side: Any) -> list[Any]:
        seen: list[Any] = []
        for magic in (0, 1):
            builder = side.MemoryRecordsBuilder(magic, 1, 120)
            seen += [builder.append(5, b"k", b"v" * 30).crc, builder.next_offset(), builder.producer_id]
            seen.append(outcome(builder.set_producer_state, 1, 2, 3, False))
            builder.close()
            seen += [builder.size_in_bytes() < 200, builder.compression_rate() > 0]
            seen.append([(each.key, each.value) for each in builder.records().next_batch()])
        for arguments in ((3, 0, 1), (2, 5, 1), (2, 0, 1, 0, True), (2, 0, 1, 0, False, 5), (2, 0, 1, 0, False, 5, 1),
                          (1, 0, 1, 0, True), (0, 0, 1, 0, False, 5)):  # fmt: skip
            seen.append(outcome(side.MemoryRecordsBuilder, *arguments)[0])
        return seen

    assert story(memory) == story(kafka_memory)


def test_markers_of_transactions() -> None:
    for key in (b"\0\0\0\0", b"\0\0\0\1", b"\0\1\0\1more", b"\0"):
        mine, theirs = (outcome(each.ControlRecord.parse, key) for each in (aiokafka_records, aiokafka_control))
        assert repr(mine) == repr(theirs)
    assert aiokafka_records.ControlRecord.parse(b"\0\0\0\1") == aiokafka_records.COMMIT_MARKER
    assert aiokafka_records.COMMIT_MARKER != aiokafka_records.ABORT_MARKER
