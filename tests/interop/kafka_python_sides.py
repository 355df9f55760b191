"""kafka-python and its dialect, side by side: scenarios run with each, on topics of their own."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_core.admin import AdminClient, NewTopic
from kserdes.compat import kafka as ours
from tests.contract.clusters import wait_until_led
from tests.interop.kafka_python_scenarios import Kit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    theirs = pytest.importorskip("kafka")

PARTS = ("admin", "errors", "serializer", "partitioner", "structs")
SIDES = {"theirs": (theirs, "kafka"), "ours": (ours, ours.__name__)}
Scenarios = Mapping[str, Callable[[Kit], Any]]
Topics = dict[tuple[str, str], str]


def whole(package: object, home: str) -> SimpleNamespace:
    """The package's names with the modules that scenarios use."""
    names = {name: getattr(package, name) for name in package.__all__}  # type: ignore[attr-defined]
    return SimpleNamespace(**names, **{part: importlib.import_module(f"{home}.{part}") for part in PARTS})


def topics_of(scenarios: Scenarios, prefix: str, servers: str) -> Topics:
    """A topic of two partitions for each scenario and side, all made at once."""
    names = {(name, side): f"{prefix}-{side}-{at}-x" for at, name in enumerate(scenarios) for side in SIDES}
    with AdminClient({"bootstrap.servers": servers}) as admin:
        for made in admin.create_topics([NewTopic(topic, 2, 1) for topic in names.values()]).values():
            made.result(60)
        wait_until_led(admin, dict.fromkeys(names.values(), 2))
    return names


def seen_by_both(scenarios: Scenarios, name: str, topics: Topics, servers: str) -> dict[str, Any]:
    """The result of one scenario on each side."""
    seen = {}
    for side, (package, home) in SIDES.items():
        kit = Kit(whole(package, home), servers, topics[name, side])
        try:
            seen[side] = scenarios[name](kit)
        finally:
            kit.close()
    return seen
