"""`kserdes migrate check`: what code bases use of other clients, and how it maps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kserdes.cli.migrate.group import migrate
from kserdes.compat.kafka.settings import PRODUCER

SERVICE = """
import kafka
import kafka.errors as problems
from aiokafka import AIOKafkaProducer as Producer
from confluent_kafka import Consumer
from kafka import KafkaConsumer, SimpleProducer
from kafka.admin import *
from kafka.common import OffsetRequest
from kafka.protocol import Metrics
from .kafka import own
import json


class Service:
    def __init__(self) -> None:
        self.producer = kafka.KafkaProducer(
            bootstrap_servers="x",
            selector=None,
            nope=1,
        )
        self.admin = kafka.KafkaAdminClient()

    def go(self) -> None:
        self.producer.send("t", b"x")
        self.producer.nope()
        self.admin.nope(1)
        self.admin.elect_leaders(0)
        own.nope(json.nope)
        try:
            pass
        except problems.KafkaTimeoutError:
            pass
        except problems.NoSuchError:
            pass


async def main() -> None:
    async with Producer(loop=None) as producer:
        await producer.send_and_wait("t")
        producer.nothing
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(migrate, ["check", *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "service.py").write_text(SERVICE)
    for left_out in (".venv", "node_modules", "__pycache__", "env"):
        (tmp_path / left_out).mkdir()
        (tmp_path / left_out / "x.py").write_text("import kafka.nope")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "notes.txt").write_text("import kafka.nope")
    return tmp_path


def found(folder: Path) -> dict[tuple[int, str], tuple[str, str]]:
    result = run("--all", "--json", str(folder))
    listed: list[dict[str, Any]] = json.loads(result.output)["findings"]
    return {(each["line"], each["name"]): (each["status"], each["note"]) for each in listed}


def test_uses_are_found_with_their_lines(folder: Path) -> None:
    uses = found(folder)
    assert {key: value[0] for key, value in uses.items()} == {
        (2, "kafka"): "works",
        (3, "kafka.errors"): "works",
        (4, "aiokafka.AIOKafkaProducer"): "works",
        (5, "confluent_kafka.Consumer"): "works",
        (6, "kafka.KafkaConsumer"): "works",
        (6, "kafka.SimpleProducer"): "differs",
        (7, "kafka.admin.*"): "works",
        (8, "kafka.common.OffsetRequest"): "differs",
        (9, "kafka.protocol.Metrics"): "missing",
        (16, "kafka.KafkaProducer"): "works",
        (17, "kafka.KafkaProducer(bootstrap_servers=)"): "works",
        (18, "kafka.KafkaProducer(selector=)"): "differs",
        (19, "kafka.KafkaProducer(nope=)"): "missing",
        (21, "kafka.KafkaAdminClient"): "works",
        (24, "kafka.KafkaProducer.send"): "works",
        (25, "kafka.KafkaProducer.nope"): "missing",
        (26, "kafka.KafkaAdminClient.nope"): "missing",
        (27, "kafka.KafkaAdminClient.elect_leaders"): "differs",
        (31, "kafka.errors.KafkaTimeoutError"): "works",
        (33, "kafka.errors.NoSuchError"): "missing",
        (38, "aiokafka.AIOKafkaProducer(loop=)"): "differs",
        (39, "aiokafka.AIOKafkaProducer.send_and_wait"): "works",
        (40, "aiokafka.AIOKafkaProducer.nothing"): "missing",
    }


def test_notes_are_those_of_the_tables(folder: Path) -> None:
    uses = found(folder)
    assert uses[26, "kafka.KafkaAdminClient.nope"][1] == "KafkaAdminClient of kserdes has no nope"
    assert uses[18, "kafka.KafkaProducer(selector=)"][1] == f"no effect: {PRODUCER.rows['selector'].why_unused}"
    assert "kserdes.compat.simple" in uses[6, "kafka.SimpleProducer"][1]
    assert uses[24, "kafka.KafkaProducer.send"][1] == ""


def test_text_and_exit_statuses(folder: Path) -> None:
    result = run(str(folder))
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[-1] == "12 works, 5 differs, 6 missing"
    assert f"{folder}/service.py:25: missing: kafka.KafkaProducer.nope: KafkaProducer of kserdes has no nope" in lines
    assert not any(": works:" in line for line in lines)
    assert any(": works:" in line for line in run("--all", str(folder)).output.splitlines())
    (folder / "service.py").write_text("from kafka import KafkaProducer\nKafkaProducer(selector=1)\n")
    result = run(str(folder))
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "1 works, 1 differs, 0 missing")
    assert run(str(folder / "service.py")).exit_code == 0
    assert run(str(folder / "nowhere")).exit_code == 2


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    result = run("--json", str(folder))
    assert result.exit_code == 2
    assert "1 of the files can't be read" in result.output
    assert f"{folder}/broken.py: invalid syntax" in result.output


def test_other_code_is_none_of_its_business(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import json\nfrom . import kafka\nkafka.KafkaProducer(nope=1)\njson.nope\n")
    assert run("--all", str(tmp_path)).output == "0 works, 0 differs, 0 missing\n"
