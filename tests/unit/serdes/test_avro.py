from __future__ import annotations

import subprocess
import sys

import pytest

import serdes
import serdes.avro


def test_public_names() -> None:
    assert serdes.avro.__all__ == [
        "AsyncAvroDeserializer",
        "AsyncAvroSerializer",
        "AvroDeserializer",
        "AvroSerializer",
    ]
    assert all(hasattr(serdes, name) for name in serdes.__all__)
    assert serdes.__all__ == sorted(serdes.__all__)


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        serdes.nonsense  # noqa: B018


@pytest.mark.parametrize("module", ["serdes", "serdes.avro", "serdes.columnar"])
def test_clients_are_imported_at_their_first_use(module: str) -> None:
    code = f"import sys, {module}; print('serdes.clients' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
