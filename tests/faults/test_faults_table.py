"""`make faults` itself, once, with the quickest of its faults: reset connections lose and double nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parts import missing
from tools.faults.cluster import FaultCluster
from tools.faults.report import report
from tools.faults.round import Round
from tools.faults.scenarios import FAULTS
from tools.real_kafka import KafkaUnavailableError

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.interop]


def test_reset_connections_lose_and_double_nothing(kafka_jars: Path, tmp_path: Path) -> None:
    fault = next(fault for fault in FAULTS if fault.name == "reset")
    try:
        cluster = FaultCluster()
    except KafkaUnavailableError as error:
        missing("kafka", str(error))
    with cluster:
        result = Round(cluster, fault, 0, tmp_path / "histories").play()
    assert all(verdict.acked > 100 for verdict in result.producers.values())
    assert all(verdict.delivered > 200 for verdict in result.groups.values())
    about_seconds = "connections are reset, "  # what a busy machine decides is left to `make faults`
    misses = report(FAULTS, [result], "").misses
    assert [miss for miss in misses if not miss.startswith(about_seconds)] == []
