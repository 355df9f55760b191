"""Fixtures of the tests beside other projects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry import SchemaRegistryClient
from registry.dev import serve

if TYPE_CHECKING:
    from tests.interop.contract_peers import Both

# kafka-python forgets the socket of a connection that is being made when its client is closed. It makes sockets with
# their protocol said (6), ours don't say it: ours are still looked after.
PEERS_SOCKET = r"ignore:unclosed <socket\.socket .* proto=6,:ResourceWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(PEERS_SOCKET))


@pytest.fixture(scope="module", autouse=True)
def _leave_nothing_of_the_peers() -> Iterator[None]:
    """Collects a peer's garbage here, before it is taken for a leak of another test."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def registry_url() -> Iterator[str]:
    """An embedded registry behind HTTP."""
    with serve() as server:
        yield server.url


@pytest.fixture
def both(registry_url: str) -> Iterator[Both]:
    """A topic of the test's own, with data contracts of both projects."""
    from tests.interop.contract_peers import Both, peer_forget_key, peer_local, peer_rules

    peer_forget_key()
    peer_local.LocalKmsDriver.register()
    with SchemaRegistryClient({"url": registry_url}) as client:
        made = Both(client, registry_url)
        yield made
        made.close()
    peer_forget_key()
    peer_rules.RuleRegistry.get_global_instance().clear()
