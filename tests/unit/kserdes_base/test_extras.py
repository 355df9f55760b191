"""Modules that need an extra say which one, if its packages are not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "package", "advice"),
    [
        ("serdes.columnar", "pyarrow", "pip install pyarrow (the extra 'arrow' of kserdes)"),
        ("kafka_core.otel", "opentelemetry", "pip install opentelemetry-api (the extra 'otel' of kserdes)"),
        (
            "kafka_core.prometheus",
            "prometheus_client",
            "pip install prometheus-client (the extra 'prometheus' of kserdes)",
        ),
    ],
)
def test_without_its_extra_a_module_says_what_to_install(module: str, package: str, advice: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(f"ModuleNotFoundError: {package} is not installed: {advice}\n")
