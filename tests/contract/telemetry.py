"""Clusters that take clients' telemetry, and what they have got of it, whichever kind of cluster it is.

A real broker has a plug-in of ours (tests/kafka/TelemetryReporter.java) that decodes what is pushed and writes it down.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_core.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from kafka_core.broker import EmbeddedCluster
from kafka_core.model import Uuid
from kafka_core.protocol.messages.telemetry import GetTelemetrySubscriptionsRequest
from tests.contract.clusters import LIMIT_S, Cluster, wait_for
from tests.contract.share_wire import Wire
from tools.real_kafka import java

REPORTER = Path(__file__).parents[1] / "kafka" / "TelemetryReporter.java"
QUICKEST = "100"
KINDS = {"delta": "AGGREGATION_TEMPORALITY_DELTA", "gauge": "GAUGE"}


@dataclass(frozen=True)
class Push:
    """A client's push: values by name, each with its kind and its labels."""

    instance: str
    client_id: str
    terminating: bool
    labels: str
    values: Mapping[str, list[tuple[str, float, str]]] = field(default_factory=dict)


@dataclass(slots=True)
class TelemetryCluster(Cluster):
    """A cluster that takes telemetry."""

    file: Path = Path()
    _seen: list[Push] = field(default_factory=list)

    def pushes(self, client_id: str) -> list[Push]:
        """Everything that one client has pushed so far, but for pushes with nothing in them."""
        if isinstance(self.partner, EmbeddedCluster):
            self._seen += [_embedded(item) for item in self.partner.telemetry() if item.payload]
        else:
            self._seen = _written(self.file)
        return [push for push in self._seen if push.client_id == client_id]

    def subscribe(self, name: str, **properties: str | None) -> None:
        """Sets properties of a subscription (`_` for a dot; None takes one away)."""
        entries = [
            ConfigEntry(
                key.replace("_", "."),
                value or "",
                incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
            )
            for key, value in properties.items()
        ]
        resource = ConfigResource(ResourceType.CLIENT_METRICS, name, incremental_configs=entries)
        for done in self.admin.incremental_alter_configs([resource]).values():
            done.result(LIMIT_S)

    def want(self, client_id: str, *metrics: str) -> None:
        """Subscribes to metrics of one client, as often as can be, and waits until the broker knows of it."""
        self.subscribe(client_id, metrics=",".join(metrics), interval_ms=QUICKEST, match=f"client_id={client_id}")

        def known() -> bool:
            with Wire(self, client_id) as wire:
                return sorted(wire.ask(GetTelemetrySubscriptionsRequest()).requested_metrics) == sorted(metrics)

        wait_for(known, "the broker knows the subscription")

    def names(self, client_id: str) -> set[str]:
        """The metrics that a client has pushed so far."""
        return {name for push in self.pushes(client_id) for name in push.values}


def _embedded(item: Any) -> Push:
    values: dict[str, list[tuple[str, float, str]]] = {}
    for metric in item.metrics:
        values.setdefault(metric.name, []).append((metric.kind, metric.value, _text(metric.attributes)))
    instance = str(Uuid.from_uuid(item.client_instance_id))
    return Push(instance, item.client_id or "", item.terminating, _text(item.resource), values)


def _text(labels: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{key}={value}" for key, value in sorted(labels.items())) + "}"


def _written(file: Path) -> list[Push]:
    """The plug-in's pushes so far, without one that it may still be writing."""
    found: list[Push] = []
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    for line in lines:
        if not line.endswith("\n"):
            break
        kind, *words = line.rstrip("\n").split("\t")
        if kind == "push":
            instance, client_id, terminating, labels = words
            found.append(Push(instance, client_id, terminating == "true", labels, {}))
        else:
            name, wire_kind, value, labels = words
            shown = next(key for key, long in KINDS.items() if long == wire_kind)
            values = found[-1].values
            assert isinstance(values, dict)
            values.setdefault(name, []).append((shown, float(value), labels))
    return found


def compiled_reporter(jars: Path, folder: Path) -> Path:
    """The folder with the plug-in's class."""
    compiler = [java(), "-m", "jdk.compiler/com.sun.tools.javac.Main"]
    classes = ":".join(map(str, jars.glob("*.jar")))
    subprocess.run([*compiler, "-nowarn", "-cp", classes, "-d", folder, REPORTER], check=True, capture_output=True)
    return folder
