"""An empty registry to ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from registry.dev import EmbeddedRegistry
from tests.unit.registry.dev.asking import Asking


@pytest.fixture
def registry() -> Iterator[Asking]:
    with EmbeddedRegistry() as made:
        yield Asking(made)
