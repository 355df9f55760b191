"""The registry client of `confluent_kafka.avro`, on `registry.SchemaRegistryClient`.

Must not hold more than its way of calling: what is not found is None, other refusals are a `ClientError`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from kserdes.compat.legacy.schemas import ClientError, as_schema
from registry import RegisteredSchema, Schema, SchemaRegistryClient, SchemaRegistryError, TransportError

T = TypeVar("T")

logger: Final = logging.getLogger("kserdes.compat.legacy")

LEVELS: Final = ("NONE", "FULL", "FORWARD", "BACKWARD")
SOURCES: Final = ("URL", "USER_INFO", "SASL_INHERIT")
OLD_NAMES: Final = ("ca_location", "cert_location", "key_location")
ONLY_THERE: Final = ("auto.register.schemas", "sasl.mechanism")


class CachedSchemaRegistryClient:
    """Registers and finds Avro schemas; results are cached (by id, and by subject and schema).

    Args:
        url: the registry's address, or a dict of properties with `url` among them.
        max_schemas_per_subject: how many schemas are kept.
        ca_location: as the property `ssl.ca.location`; so are the next two.

    Attributes:
        url: the address, without what is secret in it.
        client: the client that does the work.

    Raises:
        TypeError: the address is no text.
        ValueError: there is none, it is no HTTP address, or a property is unknown.
    """

    def __init__(
        self,
        url: str | Mapping[str, Any],
        max_schemas_per_subject: int = 1000,
        ca_location: str | None = None,
        cert_location: str | None = None,
        key_location: str | None = None,
    ) -> None:
        conf: dict[str, Any] = (
            dict(url)
            if isinstance(url, Mapping)
            else {
                "url": url,
                "ssl.ca.location": ca_location,
                "ssl.certificate.location": cert_location,
                "ssl.key.location": key_location,
            }
        )
        address = conf.get("url", "")
        if not isinstance(address, str):
            raise TypeError("URL must be of type str")
        if not address.startswith(("http", "mock://")):
            raise ValueError("Invalid URL provided for Schema Registry")
        source = str(conf.pop("basic.auth.credentials.source", "URL")).upper()
        if source not in SOURCES:
            raise ValueError(f"schema.registry.basic.auth.credentials.source must be one of {list(SOURCES)}")
        user, password = conf.pop("sasl.username", ""), conf.pop("sasl.password", "")
        if source == "SASL_INHERIT":
            if str(conf.get("sasl.mechanism", "")).upper() == "GSSAPI":
                raise ValueError("SASL_INHERIT does not support SASL mechanism GSSAPI")
            conf["basic.auth.user.info"] = f"{user}:{password}"
        elif source == "URL":
            conf.pop("basic.auth.user.info", None)
        for name in ONLY_THERE:
            conf.pop(name, None)
        given = {name: value for name, value in conf.items() if value is not None}
        self.client = SchemaRegistryClient({**given, "cache.capacity": max_schemas_per_subject})
        scheme, _, rest = address.partition("://")
        self.url = f"{scheme}://{rest.rpartition('@')[2].rstrip('/')}"

    def close(self) -> None:
        """Closes the connections."""
        self.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ---- schemas

    def register(self, subject: str, avro_schema: Any) -> int:
        """Registers a schema under a subject, if it is not there yet; its id.

        Raises:
            ClientError: the registry refuses it: incompatible (409), no schema (422), …
        """
        schema = needed(avro_schema)
        return told("Unable to register schema", lambda: self.client.register_schema(subject, schema))

    def check_registration(self, subject: str, avro_schema: Any) -> int:
        """The id of a schema that is registered under the subject.

        Raises:
            ClientError: it is not (404), or the registry refuses.
        """
        schema = needed(avro_schema)
        found = told("Schema or subject not found", lambda: self.client.lookup_schema(subject, schema))
        return number(found.schema_id)

    def delete_subject(self, subject: str) -> list[int]:
        """Deletes a subject; the versions that it had. Raises ClientError."""
        return told("Unable to delete subject", lambda: self.client.delete_subject(subject))

    def get_by_id(self, schema_id: int) -> Schema | None:
        """The schema with this id, None if there is none."""
        return found_or_none("Schema not found", lambda: self.client.get_schema(schema_id))

    def get_latest_schema(self, subject: str) -> tuple[int | None, Schema | None, int | None]:
        """(id, schema, version) of the newest version; three times None if there is no such subject."""
        return triple(found_or_none("Schema not found", lambda: self.client.get_latest_version(subject)))

    def get_by_version(self, subject: str, version: int) -> tuple[int | None, Schema | None, int | None]:
        """(id, schema, version) of a version; three times None if it is not there."""
        return triple(found_or_none("Schema not found", lambda: self.client.get_version(subject, version)))

    def get_version(self, subject: str, avro_schema: Any) -> int | None:
        """The version of a schema in a subject, None if there is none."""
        schema = needed(avro_schema)
        found = found_or_none("Not found", lambda: self.client.lookup_schema(subject, schema))
        return None if found is None else number(found.version)

    # ---- compatibility

    def test_compatibility(self, subject: str, avro_schema: Any, version: int | str = "latest") -> bool:
        """Whether a schema is compatible with a version; false where the registry cannot tell."""
        schema = needed(avro_schema)
        try:
            return self.client.test_compatibility(subject, schema, version)
        except TransportError:
            raise
        except SchemaRegistryError as error:
            if error.not_found:
                return True  # the first version is compatible with whatever comes
            logger.warning("compatibility was not tested: %s", error)
            return False

    def update_compatibility(self, level: str, subject: str | None = None) -> str:
        """Sets the level of a subject, or of all that have none of their own: NONE, FULL, FORWARD, BACKWARD.

        Raises:
            ClientError: there is no such level, or the registry refuses.
        """
        if level not in LEVELS:
            raise ClientError(f"Invalid level specified: {level}")
        answer = told("Unable to update level", lambda: self.client.set_compatibility(subject, level))
        return str(answer.get("compatibility", level))

    def get_compatibility(self, subject: str | None = None) -> str:
        """The level of a subject, or of all that have none of their own. Raises ClientError."""
        return told("Unable to fetch compatibility level", lambda: self.client.get_compatibility(subject))


def needed(avro_schema: Any) -> Schema:
    """A schema of what was given.

    Raises:
        ClientError: nothing was.
    """
    schema = as_schema(avro_schema)
    if schema is None:
        raise ClientError("a schema is needed")
    return schema


def number(value: int | None) -> int:
    """The id or version, which a registry's answer about one schema always has."""
    if value is None:
        raise ClientError("the registry's answer lacks the id or the version")
    return value


def triple(found: RegisteredSchema | None) -> tuple[int | None, Schema | None, int | None]:
    """(id, schema, version)."""
    return (None, None, None) if found is None else (found.schema_id, found.schema, found.version)


def told(what: str, call: Callable[[], T]) -> T:
    """Calls, and raises a refusal of the registry as ClientError."""
    try:
        return call()
    except TransportError:
        raise
    except SchemaRegistryError as error:
        raise ClientError(
            f"{what}. Error code: {error.http_status_code} message: {error}", error.http_status_code
        ) from error


def found_or_none(what: str, call: Callable[[], T]) -> T | None:
    """Calls; None, with a line in the log, if the registry finds nothing."""
    try:
        return call()
    except TransportError:
        raise
    except SchemaRegistryError as error:
        if not error.not_found:
            raise ClientError(f"{what}: {error}", error.http_status_code) from error
        logger.info("%s: %s", what, error)
        return None
