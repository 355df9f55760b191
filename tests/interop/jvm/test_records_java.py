"""Batches between us and the Kafka client in Java: every codec, both ways."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafka_core.records import Codec, NewRecord, build_batch, open_batches
from tests.patience import PROCESS_S

pytestmark = pytest.mark.broker

PROGRAM = Path(__file__).with_name("Batches.java")
NOW_MS = 1_700_000_000_000
ROWS = [
    NewRecord(
        None if n % 5 == 0 else b"value " * n + b"%d" % n,
        None if n % 3 == 0 else b"k%d" % n,
        [("h", b"x%d" % n), ("n", None)] if n % 2 else [],
        NOW_MS + n,
    )
    for n in range(500)
]


WAYS: list[tuple[Codec, int | None]] = [
    *((codec, None) for codec in Codec),
    *((Codec.GZIP, level) for level in (0, 1, 9)),
    *((Codec.LZ4, level) for level in (1, 12)),
    *((Codec.ZSTD, level) for level in (1, 22)),
]
"""Codecs and levels; None is the codec's own."""


@pytest.fixture(scope="module")
def lines(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The program's output for our batches of every codec and level."""
    log = tmp_path_factory.mktemp("log") / "00000000000000000000.log"
    log.write_bytes(
        b"".join(
            build_batch(ROWS, base_offset=place * len(ROWS), codec=codec, level=level, partition_leader_epoch=0)
            for place, (codec, level) in enumerate(WAYS)
        )
    )
    command = ["java", "-cp", f"{kafka_jars}/*", str(PROGRAM), str(log)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return [line.split("\t") for line in done.stdout.split("\n") if line]


def text(data: bytes | None) -> str:
    return "null" if data is None else base64.b64encode(data).decode()


@pytest.mark.parametrize(("codec", "level"), WAYS)
def test_java_reads_what_we_write(codec: Codec, level: int | None, lines: list[list[str]]) -> None:
    start = WAYS.index((codec, level)) * len(ROWS)
    mine = range(start, start + len(ROWS))
    found = [line[2:] for line in lines if line[:2] == ["read", str(codec.value)] and int(line[2]) in mine]
    assert found == [
        [
            str(start + place),
            str(row.timestamp_ms),
            text(row.key),
            text(row.value),
            *(f"{name}={text(value)}" for name, value in row.headers),
        ]
        for place, row in enumerate(ROWS)
    ]


@pytest.mark.parametrize("codec", Codec)
def test_we_read_what_java_writes(codec: Codec, lines: list[list[str]]) -> None:
    (data,) = (base64.b64decode(line[2]) for line in lines if line[:2] == ["wrote", str(codec.value)])
    (batch,) = open_batches(data, "t", 0, 0)
    assert batch.header.attributes == codec
    out: list[Any] = []
    batch.cursor.take(out, 1000)
    assert [(item.timestamp(), item.key(), item.value(), item.headers() or []) for item in out] == [
        ((1, row.timestamp_ms), row.key, row.value, list(row.headers)) for row in ROWS
    ]
    if codec is Codec.NONE:
        assert data == build_batch(ROWS)
