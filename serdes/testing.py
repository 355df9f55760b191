"""Fixtures for pytest: an embedded Kafka cluster and an embedded registry for the test that asks for them.

The plugin `kserdes` brings them wherever kserdes is installed (`-p no:kserdes` keeps it out), so they import everything
else: tests that do not use them pay nothing. Each test gets a cluster and a registry of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafka_core.broker import EmbeddedCluster
    from registry import SchemaRegistryClient
    from registry.dev import RegistryServer

__all__ = ["kafka_cluster", "kafka_cluster_options", "schema_registry", "schema_registry_client"]


@pytest.fixture
def kafka_cluster_options() -> dict[str, Any]:
    """Arguments of the `EmbeddedCluster` behind `kafka_cluster`; a project overrides this fixture to set them."""
    return {}


@pytest.fixture
def kafka_cluster(kafka_cluster_options: dict[str, Any]) -> Iterator[EmbeddedCluster]:
    """A running cluster, in memory: any Kafka client finds it at `kafka_cluster.bootstrap_servers`."""
    from kafka_core.broker import EmbeddedCluster

    with EmbeddedCluster(**kafka_cluster_options) as cluster:
        yield cluster


@pytest.fixture
def schema_registry() -> Iterator[RegistryServer]:
    """A running registry, in memory: any registry client finds it at `schema_registry.url` (extra `server`)."""
    from registry.dev import serve

    with serve() as server:
        yield server


@pytest.fixture
def schema_registry_client(schema_registry: RegistryServer) -> Iterator[SchemaRegistryClient]:
    """A client of `schema_registry`; closed at the end of the test."""
    from registry import SchemaRegistryClient

    with SchemaRegistryClient({"url": schema_registry.url}) as client:
        yield client
