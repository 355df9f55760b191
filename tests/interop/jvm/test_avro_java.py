"""50,000 values between our Avro and Java's: written here and read there and back, and resolved by both, to objects and
to columns; the slow set has 100,000 others.

Where both differ on purpose (docs/guide/avro.md): Java takes a number of one unit of time or scale for one of another,
which these cases don't have, and puts U+FFFD for bytes that are no text. All else must be the same, refusals included.
"""

from __future__ import annotations

import importlib.util
import random
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from registry import Schema
from registry.schemas.avro.model import NamedType, parse
from serdes.columnar import ColumnarDecoder, ColumnOptions
from serdes.errors import SerializationError
from serdes.formats.avro.codec import Decode, Tags, decoder, encoder, load_texts
from tests.parts import missing
from tests.strategies.avro_cases import AvroPair, pairs, spoiled, text_of
from tests.strategies.columns import decoded
from tools.real_kafka import java

pytestmark = pytest.mark.interop

PROGRAM = Path(__file__).with_name("AvroCases.java")
SEED, VALUES = 20261122, 20


def class_path() -> str:
    """The jars of Avro, as Spark brings them."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        missing("spark", "PySpark is not installed: its jars hold Avro in Java")
    folder = Path(spec.origin).parent / "jars"
    names = ("avro-[0-9]*", "jackson-core-[0-9]*", "jackson-databind-*", "jackson-annotations-*", "slf4j-api-*")
    return ":".join(str(jar) for name in (*names, "commons-compress-*") for jar in folder.glob(f"{name}.jar"))


@pytest.fixture(scope="module", params=[(SEED, 2500), pytest.param((SEED + 1, 5000), marks=pytest.mark.slow)], ids=str)
def cases(request: pytest.FixtureRequest) -> list[tuple[AvroPair, list[bytes]]]:
    """The pairs of schemas, with our payloads."""
    found = []
    seed, count = request.param
    for pair in pairs(seed, count, VALUES):
        encode = encoder(load_texts(pair.texts[0]))
        found.append((pair, [encode(drawn.value) for drawn in pair.values]))
    return found


@pytest.fixture(scope="module")
def answers(cases: list[tuple[AvroPair, list[bytes]]]) -> list[list[str]]:
    """Java's answers for each value."""
    lines = []
    for pair, payloads in cases:
        lines.append("\t".join(["S", *pair.texts]))
        lines += [f"V\t{payload.hex()}" for payload in payloads]
    command = [java(), "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", class_path(), str(PROGRAM)]
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, encoding="utf-8", timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    made = [line.split("\t") for line in done.stdout.split("\n") if line]
    assert len(made) == len(cases) * VALUES
    return made


def outcome(decode: Decode, model: object, payload: bytes) -> str:
    try:
        return text_of(model, decode(payload))  # type: ignore[arg-type]
    except SerializationError as error:
        return f"!{error}"


def test_java_reads_what_we_write_and_we_read_what_java_writes(
    cases: list[tuple[AvroPair, list[bytes]]], answers: list[list[str]]
) -> None:
    rows = iter(answers)
    for pair, payloads in cases:
        schema = load_texts(pair.texts[0])
        decode = decoder(schema, tags=Tags.PLACES)
        for drawn, payload in zip(pair.values, payloads, strict=True):
            written, _, again = next(rows)
            shown = (pair.texts[0], drawn)
            assert written == drawn.text, shown
            assert outcome(decode, schema.model, payload) == drawn.text, shown
            assert outcome(decode, schema.model, bytes.fromhex(again)) == drawn.text, shown


def test_both_resolve_to_the_reader_alike(cases: list[tuple[AvroPair, list[bytes]]], answers: list[list[str]]) -> None:
    rows = iter(answers)
    ends = {"changed": 0, "refused": 0}
    for pair, payloads in cases:
        writer, reader = map(load_texts, pair.texts)
        decode = decoder(writer, reader, tags=Tags.PLACES)
        for drawn, payload in zip(pair.values, payloads, strict=True):
            _, resolved, _ = next(rows)
            ours = outcome(decode, reader.model, payload)
            if "efbfbd" in resolved:  # Java puts U+FFFD for bytes that are no text
                assert "not UTF-8" in ours, (pair.texts, drawn, ours)
                continue
            same = ours[:1] == "!" if resolved[:1] == "!" else ours == resolved
            assert same, (pair.texts, drawn, ours, resolved)
            ends["refused" if resolved[:1] == "!" else "changed"] += resolved != drawn.text
    assert min(ends.values()) > 2000, ends


@pytest.mark.parametrize("impl", ["native", "pure"])
def test_columns_have_what_java_resolves_to(
    cases: list[tuple[AvroPair, list[bytes]]], answers: list[list[str]], impl: str
) -> None:
    """Every row of the columns, or its error, is what Java says of the payload."""
    rows = iter(answers)
    ends = {"same": 0, "refused": 0, "not for columns": 0, "no columns": 0}
    options = ColumnOptions(unions="dense")
    for pair, payloads in cases:
        resolved = [next(rows)[1] for _ in payloads]
        try:
            decoder = ColumnarDecoder(
                {7: Schema(pair.texts[0])}.__getitem__, Schema(pair.texts[1]), options=options, impl=impl
            )
        except SerializationError as refusal:
            if "digits at most" not in str(refusal) and "recursive" not in str(refusal):
                raise
            ends["no columns"] += len(payloads)
            continue
        model = parse(pair.texts[1])
        found = decoder.decode(pa.array([b"\0\0\0\0\7" + payload for payload in payloads], pa.binary()))
        values = decoded(model, found.struct)
        for value, error, theirs in zip(values, found.errors.to_pylist(), resolved, strict=True):
            if error is None:
                assert text_of(model, value) == theirs, (pair.texts, value, theirs)
                ends["same"] += 1
            elif "column" in error:  # a decimal with more digits than its schema says
                ends["not for columns"] += 1
            else:
                assert theirs[:1] == "!" or "efbfbd" in theirs, (pair.texts, error, theirs)
                ends["refused"] += 1
    assert ends["same"] > 25_000, ends
    assert ends["refused"] > 5_000, ends
    assert ends["not for columns"] < 500, ends


def test_what_does_not_fit_is_refused_at_its_place(cases: list[tuple[AvroPair, list[bytes]]]) -> None:
    rng = random.Random(SEED)
    refused = 0
    for pair, _ in cases:
        model = parse(pair.texts[0])
        encode = encoder(load_texts(pair.texts[0]))
        root = model.short_name if isinstance(model, NamedType) else ""
        for drawn in pair.values[::4]:
            found = spoiled(rng, model, drawn.value, root)
            if found is None:
                continue
            with pytest.raises(SerializationError) as caught:
                encode(found[0])
            assert caught.value.path == found[1], (pair.texts[0], found)
            refused += 1
    assert refused > 4000
