"""The mock clients of confluent_kafka.schema_registry: clients of an embedded registry, inside this process.

Must not know what an operation does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kserdes.compat.confluent.schema_registry.clients import AsyncSchemaRegistryClient, SchemaRegistryClient
from registry import ResponseError
from registry.dek import DekRegistryClient

__all__ = ["AsyncMockSchemaRegistryClient", "MockDekRegistryClient", "MockSchemaRegistryClient"]

SUBJECT_NOT_FOUND: Final = 40401


def _mock(conf: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration with a registry inside this process: that of its `mock://` URL, or a fresh one."""
    url = str(conf.get("url", ""))
    return {**conf, "url": url if url.startswith("mock://") else "mock://"}


def _nothing(error: ResponseError) -> list[int]:
    """No versions, if the subject is not there; decision 0112."""
    if error.error_code != SUBJECT_NOT_FOUND:
        raise error
    return []


class MockSchemaRegistryClient(SchemaRegistryClient):
    """A client of a registry inside this process, whatever the URL: an embedded one, with all its rules.

    As confluent_kafka's, it has no versions of a subject that is not there, where other clients raise a 404.
    """

    def __init__(self, conf: Mapping[str, Any]) -> None:
        super().__init__(_mock(conf))

    def get_versions(
        self, subject_name: str, deleted: bool = False, deleted_only: bool = False, offset: int = 0, limit: int = -1
    ) -> list[int]:
        """The numbers of a subject's versions; none if it is not there."""
        try:
            return super().get_versions(subject_name, deleted, deleted_only, offset, limit)
        except ResponseError as error:
            return _nothing(error)

    def delete_subject(self, subject_name: str, permanent: bool = False) -> list[int]:
        """Deletes a subject and returns its versions; none if it is not there."""
        try:
            return super().delete_subject(subject_name, permanent)
        except ResponseError as error:
            return _nothing(error)


class AsyncMockSchemaRegistryClient(AsyncSchemaRegistryClient):
    """`MockSchemaRegistryClient` for tasks."""

    def __init__(self, conf: Mapping[str, Any]) -> None:
        super().__init__(_mock(conf))

    async def get_versions(
        self, subject_name: str, deleted: bool = False, deleted_only: bool = False, offset: int = 0, limit: int = -1
    ) -> list[int]:
        """The numbers of a subject's versions; none if it is not there."""
        try:
            return await super().get_versions(subject_name, deleted, deleted_only, offset, limit)
        except ResponseError as error:
            return _nothing(error)

    async def delete_subject(self, subject_name: str, permanent: bool = False) -> list[int]:
        """Deletes a subject and returns its versions; none if it is not there."""
        try:
            return await super().delete_subject(subject_name, permanent)
        except ResponseError as error:
            return _nothing(error)


class MockDekRegistryClient(DekRegistryClient):
    """A client of data keys inside this process, whatever the URL."""

    def __init__(self, conf: Mapping[str, Any]) -> None:
        super().__init__(_mock(conf))
