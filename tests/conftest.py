"""Fixtures and rules shared by all tests: which real parts are here, and what must not be skipped in silence."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kafka_core import kernels
from tests.parts import PARTS, REQUIRED, MissingPart

pytest_plugins = ["tests.fix_kafka", "tests.fix_refusing", "tests.fix_registry"]

settings.register_profile("fast", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(  # the verdict on a commit is the same in every run; the others look for new examples
    "ci", settings.get_profile("fast"), derandomize=True
)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.register_profile("night", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

DESELECTED = "not (slow or broker or registry or interop or spark)"
MISSING = pytest.StashKey[dict[str, list[str]]]()


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what runs in the background with Ctrl-C ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unknown = REQUIRED - PARTS
    if unknown:
        raise pytest.UsageError(f"KSERDES_REQUIRE names unknown parts: {', '.join(sorted(unknown))}")
    config.stash[MISSING] = {}
    if not config.option.markexpr:
        config.option.markexpr = DESELECTED


def pytest_collection_finish() -> None:
    """Keeps imported and collected objects to the end: no collection of garbage looks at them again."""
    gc.collect()
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str:
    return f"kernels: {kernels.IMPL} (asked for: {os.environ.get('KAFKA_CORE_KERNELS', 'auto')})"


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Remembers tests that were skipped because a real part is missing."""
    if call.excinfo is not None and isinstance(call.excinfo.value, MissingPart):
        item.config.stash[MISSING].setdefault(str(call.excinfo.value), []).append(item.nodeid)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for reason, names in config.stash[MISSING].items():
        terminalreporter.section(f"NOT RUN, {len(names)} tests: {reason}", sep="!", red=True)
        for name in sorted(names):
            terminalreporter.line(name)


@pytest.fixture(scope="session")
def project_root() -> Path:
    return Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _no_stray_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see no proxy settings of the machine: loopback is loopback."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
