"""The real registry of the tests (started once per session), beside the embedded one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parts import missing
from tools.real_registry import RealRegistry, RegistryUnavailableError


@pytest.fixture(scope="session")
def real_registry() -> Iterator[RealRegistry]:
    """One Apicurio Registry with Confluent's API; missing Java or Maven is said loudly."""
    try:
        registry = RealRegistry()
    except RegistryUnavailableError as error:
        missing("registry", str(error))
    with registry:
        yield registry
