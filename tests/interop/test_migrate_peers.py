"""`kserdes migrate check` on the installed packages' public names, compared with importing them from ours."""

from __future__ import annotations

import importlib
import inspect
import warnings
from pathlib import Path
from typing import Any

import pytest

from kserdes.cli.migrate.checking import Status, check
from kserdes.compat.aiokafka.table import MISSING as AIOKAFKA_MISSING
from kserdes.compat.kafka.table import METHODS_NOT_HERE as KAFKA_METHODS

pytestmark = pytest.mark.interop
MODULES = ("kafka", "kafka.admin", "kafka.errors", "kafka.structs", "kafka.future", "aiokafka", "aiokafka.structs")


def public(name: str) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(name.partition(".")[0])
        module = importlib.import_module(name)
    listed: Any = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            each
            for each, value in vars(module).items()
            if not each.startswith("_") and inspect.isclass(value) and value.__module__ == module.__name__
        ]
    return sorted(listed)


@pytest.mark.parametrize("module", MODULES)
def test_every_name_has_the_verdict_of_the_tables(module: str, tmp_path: Path) -> None:
    names = public(module)
    assert names
    (tmp_path / "use.py").write_text("".join(f"from {module} import {name}\n" for name in names))
    findings, unreadable = check(tmp_path)
    assert unreadable == []
    missing = {each.name.rpartition(".")[2] for each in findings if each.status is Status.MISSING}
    assert missing == (set(AIOKAFKA_MISSING) & set(names) if module == "aiokafka" else set())
    assert len(findings) == len(names)


def test_every_call_of_the_administrator_is_found(tmp_path: Path) -> None:
    public("kafka")
    calls = [name for name in dir(importlib.import_module("kafka").KafkaAdminClient) if not name.startswith("_")]
    lines = ["from kafka import KafkaAdminClient", "admin = KafkaAdminClient()", *(f"admin.{name}()" for name in calls)]
    (tmp_path / "use.py").write_text("\n".join(lines))
    findings, _ = check(tmp_path)
    assert [each.name for each in findings if each.status is Status.MISSING] == []
    assert len(findings) == len(calls) + 1


def test_a_method_that_is_not_here_has_the_reason_of_its_table(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text("from kafka.cluster import ClusterMetadata\nClusterMetadata.ttl\n")
    (_, method), _ = check(tmp_path)
    assert (method.status, method.note) == (Status.MISSING, KAFKA_METHODS["cluster.ClusterMetadata.ttl"])
