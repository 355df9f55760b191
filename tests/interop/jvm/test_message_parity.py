"""Bytes of every message in every version, compared with what the real kafka-clients jar writes.

`DumpMessages.java` fills the jar's own message classes and prints their values (as JSON) and bytes.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kafka_core.protocol import DATA_MESSAGES, REQUESTS, RESPONSES, ApiMessage, ApiRequest, decode, encode_bytes
from kafka_core.protocol.api import request_header_version, response_header_version
from kafka_core.protocol.schema import Field, Struct
from tests.patience import PROCESS_S

pytestmark = pytest.mark.broker

PROGRAM = Path(__file__).with_name("DumpMessages.java")
UNKNOWN_TAGS = [(5000, b"unknown"), (700000, b"")]


@dataclass(frozen=True, slots=True)
class Sample:
    """One message as Java has it."""

    cls: type[ApiMessage]
    version: int
    variant: str
    values: dict[str, Any]
    data: bytes

    @property
    def title(self) -> str:
        return f"{self.cls.__name__} v{self.version} {self.variant}"


def all_classes() -> list[type[ApiMessage]]:
    return [*REQUESTS.values(), *RESPONSES.values(), *DATA_MESSAGES.values()]


@pytest.fixture(scope="module")
def dump(kafka_jars: Path) -> list[list[str]]:
    """The program's output, split into columns."""
    command = ["java", "-cp", f"{kafka_jars}/*", str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return [line.split("\t") for line in done.stdout.split("\n") if line]


@pytest.fixture(scope="module")
def samples(dump: list[list[str]]) -> list[Sample]:
    """Java's messages, but for those that clients never see (`test_requests_and_responses_are_paired` lists them)."""
    classes = {cls.__name__: cls for cls in all_classes()}
    return [
        Sample(classes[row[0]], int(row[1]), row[2], json.loads(row[3]), bytes.fromhex(row[4]))
        for row in dump
        if row[0] in classes
    ]


def build(struct: type[Struct], values: dict[str, Any], sample: Sample) -> Any:
    """An object of ours from Java's JSON; what JSON leaves out stays at its default."""
    found = {key.lower(): value for key, value in values.items()}
    arguments = {}
    for item in struct.FIELDS:
        key = item.name.replace("_", "")
        if key in found:
            arguments[item.name] = convert(item, item.kind, found.pop(key), sample)
        elif key + "sizeinbytes" in found:
            size = found.pop(key + "sizeinbytes")
            arguments[item.name] = bytes((i * 7 + size) & 0xFF for i in range(size))
    assert not found, f"{sample.title}: {struct.__name__} has no {sorted(found)}"
    if sample.variant == "LARGE" and sample.cls.is_flexible(sample.version):
        arguments["unknown_tagged"] = list(UNKNOWN_TAGS)
    return struct(**arguments)


def convert(item: Field, kind: str, value: Any, sample: Sample) -> Any:
    if value is None:
        return None
    if kind.startswith("[]"):
        return [convert(item, kind[2:], element, sample) for element in value]
    if kind == "struct":
        assert item.struct is not None
        return build(item.struct, value, sample)
    if kind == "uuid":
        return UUID(bytes=base64.urlsafe_b64decode(value + "=="))
    return base64.b64decode(value) if kind == "bytes" else value


def mismatches(samples: list[Sample], ours: Any, theirs: Any) -> Iterator[str]:
    for sample in samples:
        mine, wanted = ours(sample), theirs(sample)
        if mine != wanted:
            yield f"{sample.title}: {mine!r:.300} instead of {wanted!r:.300}"


def test_the_sample_covers_every_message_and_version(samples: list[Sample]) -> None:
    wanted = {
        (cls, version, variant)
        for cls in all_classes()
        for version in range(cls.VALID_VERSIONS[0], cls.VALID_VERSIONS[1] + 1)
        for variant in ("DEFAULT", "NULL", "SMALL", "LARGE")
    }
    assert {(sample.cls, sample.version, sample.variant) for sample in samples} == wanted


def test_apis_header_versions_and_stability_are_javas(dump: list[list[str]]) -> None:
    def facts(request: type[ApiRequest[Any]], version: int) -> list[str]:
        unstable = request.LATEST_VERSION_UNSTABLE and version == request.VALID_VERSIONS[1]
        headers = request_header_version(request, version), response_header_version(request.RESPONSE, version)
        return ["#api", str(request.API_KEY), str(version), *map(str, headers), str(unstable).lower()]

    ours = [
        facts(request, version)
        for request in REQUESTS.values()
        for version in range(request.VALID_VERSIONS[0], request.VALID_VERSIONS[1] + 1)
    ]
    assert ours == [row for row in dump if row[0] == "#api" and int(row[1]) in REQUESTS]


def test_decoding_javas_bytes_gives_javas_values(samples: list[Sample]) -> None:
    def decoded(sample: Sample) -> ApiMessage:
        return decode(sample.cls, sample.version, sample.data)

    assert not list(mismatches(samples, decoded, lambda sample: build(sample.cls, sample.values, sample)))


def test_encoding_javas_values_gives_javas_bytes(samples: list[Sample]) -> None:
    def encoded(sample: Sample) -> bytes:
        return encode_bytes(build(sample.cls, sample.values, sample), sample.version)

    assert not list(mismatches(samples, encoded, lambda sample: sample.data))


def test_decoded_messages_are_written_back_byte_for_byte(samples: list[Sample]) -> None:
    def rewritten(sample: Sample) -> bytes:
        return encode_bytes(decode(sample.cls, sample.version, sample.data), sample.version)

    assert not list(mismatches(samples, rewritten, lambda sample: sample.data))
