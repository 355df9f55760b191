"""The registry clients of confluent_kafka.schema_registry: ours, with the private `_rest_client` that programs read.

Must not know what an operation does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import registry

if TYPE_CHECKING:
    from kserdes.compat.confluent.schema_registry.rest_view import AsyncRestView, RestView

__all__ = ["AsyncSchemaRegistryClient", "SchemaRegistryClient"]


class SchemaRegistryClient(registry.SchemaRegistryClient):
    """`registry.SchemaRegistryClient`, whose settings and plain calls are in `_rest_client`, too."""

    @cached_property
    def _rest_client(self) -> RestView:
        """Settings and plain calls by confluent_kafka's names; few ask for them, so they are loaded then."""
        from kserdes.compat.confluent.schema_registry.rest_view import RestView

        return RestView(self._config, self._conf, self._verification(), lambda: self._http, self._drive)

    @staticmethod
    def new_client(conf: Mapping[str, object]) -> SchemaRegistryClient:
        """A client for this configuration; a `mock://` URL needs no network."""
        return SchemaRegistryClient(conf)


class AsyncSchemaRegistryClient(registry.AsyncSchemaRegistryClient):
    """`SchemaRegistryClient` for tasks."""

    @cached_property
    def _rest_client(self) -> AsyncRestView:
        """Settings and plain calls by confluent_kafka's names; few ask for them, so they are loaded then."""
        from kserdes.compat.confluent.schema_registry.rest_view import AsyncRestView

        return AsyncRestView(self._config, self._conf, self._verification(), lambda: self._http, self._drive)

    @staticmethod
    def new_client(conf: Mapping[str, object]) -> AsyncSchemaRegistryClient:
        """A client for this configuration; a `mock://` URL needs no network."""
        return AsyncSchemaRegistryClient(conf)
