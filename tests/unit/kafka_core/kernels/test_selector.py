"""The choice of an implementation, and the names that both have."""

from __future__ import annotations

import importlib
import inspect
import logging
import subprocess
import sys
from types import ModuleType

import pytest

from kafka_core import kernels as selected
from kafka_core.kernels import abc, pure
from kserdes_base import kernels


def test_both_have_the_same_names(kernels: ModuleType) -> None:
    assert kernels.__all__ == pure.__all__
    assert set(pure.__all__) <= set(selected.__all__)


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("Message", abc.MessageLike),
        ("ColumnSink", abc.ColumnSinkLike),
        ("RecordCursor", abc.RecordCursorLike),
        ("Batch", abc.BatchLike),
        ("Accumulator", abc.AccumulatorLike),
    ],
)
def test_both_have_what_the_protocols_name(kernels: ModuleType, name: str, protocol: type) -> None:
    wanted = {key for key in vars(protocol) if not key.startswith("_")} | set(inspect.get_annotations(protocol))
    made = {"Batch": lambda cls: cls("t", 0, 100, *(() if kernels is pure else (100,)), 1.0)}
    subject = getattr(kernels, name)
    if kernels is pure and name in made:
        subject = made[name](subject)
    if name == "Accumulator":
        subject = subject(
            batch_size_bytes=1, batch_max_records=1, max_queue_records=1, max_queue_bytes=1, max_message_bytes=1
        )
    if name == "ColumnSink":
        subject = subject()
    assert [key for key in sorted(wanted) if not hasattr(subject, key)] == []


def load(choice: str) -> tuple[str, ModuleType]:
    return kernels.load("kafka_core.kernels", "the client runs", choice)


def test_pure_on_request() -> None:
    assert load("pure") == ("pure", pure)


def test_no_such_choice() -> None:
    with pytest.raises(ValueError, match="KAFKA_CORE_KERNELS='fast': it is one of auto, native, pure"):
        load("fast")


@pytest.fixture
def no_native(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def fake(name: str) -> ModuleType:
        if name.endswith(".native"):
            raise ImportError("no accumulator")
        return real(name)

    monkeypatch.setattr(importlib, "import_module", fake)


@pytest.mark.usefixtures("no_native")
def test_auto_falls_back_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "kafka_core.kernels"):
        assert load("auto") == ("pure", pure)
    (record,) = caplog.records
    assert "not usable (no accumulator): the client runs on the pure-Python ones" in record.getMessage()
    assert "set KAFKA_CORE_KERNELS=pure if this is intended" in record.getMessage()


def test_pure_on_request_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kafka_core.kernels"):
        load("pure")
    assert caplog.records == []


def test_the_log_says_which_kernels_run() -> None:
    code = "import logging; logging.basicConfig(level='INFO'); import kafka_core.kernels, serdes.kernels"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"KAFKA_CORE_KERNELS": "pure", "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines() == [
        "INFO:kafka_core.kernels:kernels of the client: pure",
        "INFO:serdes.kernels:kernels of the serializers: pure",
    ]


@pytest.mark.usefixtures("no_native")
def test_native_without_the_build() -> None:
    with pytest.raises(ImportError, match=r"no accumulator.*make kernels"):
        load("native")


def test_the_environment_decides() -> None:
    code = "from kafka_core import kernels; print(kernels.IMPL, kernels.Message.__module__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"KAFKA_CORE_KERNELS": "pure", "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["pure", "kafka_core.kernels.pure.message"]
