"""Names that are imported at their first use."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from tests.patience import PROCESS_S


@pytest.mark.parametrize("package", ["registry", "registry.client", "registry.dev"])
def test_every_public_name_has_a_home_and_is_listed(package: str) -> None:
    module = importlib.import_module(package)
    assert sorted(name for names in module.HOMES.values() for name in names) == sorted(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    for home, names in module.HOMES.items():
        for name in names:
            assert getattr(module, name) is getattr(importlib.import_module(home), name)
            assert vars(module)[name] is getattr(module, name)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Nothing'"):
        _ = module.Nothing


def test_modules_are_there_after_one_import() -> None:
    code = "import registry; assert {'models', 'Schema'} <= {*dir(registry)}; registry.errors.ResponseError"
    assert "registry.errors" in loaded(code, "registry.")
    assert loaded("import registry", "registry.") == []


def loaded(code: str, *packages: str) -> list[str]:
    """The modules of these packages that a new process has imported after the code."""
    show = f"import sys; print(*(m for m in sys.modules if m.startswith({packages!r})))"
    run = subprocess.run([sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, timeout=PROCESS_S)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.mark.parametrize("name", ["SchemaRegistryClient", "AsyncSchemaRegistryClient"])
def test_a_client_of_a_real_registry_loads_neither_the_embedded_one_nor_the_engine(name: str) -> None:
    code = f"from registry import {name}; {name}({{'url': 'http://127.0.0.1:1'}})"
    assert loaded(code, "registry.dev", "registry.compat", "registry.schemas", "kserdes.cli.schema.") == []
    assert "registry.dev.server.embedded" in loaded(code.replace("http://127.0.0.1:1", "mock://here"), "registry.dev")


def test_former_modules_are_still_imported_by_name() -> None:
    code = (
        "from registry.client import SchemaRegistryClient; from registry.aio import AsyncSchemaRegistryClient; "
        "from registry.dek import DekRegistryClient; from registry.canonical import canonical_text"
    )
    assert "registry.client.blocking" in loaded(code, "registry.client")
