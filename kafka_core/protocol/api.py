"""The table of APIs: API key to request and response class, loaded on access, and the header version of each.

Importing this module loads no message module. Knows no bytes.
Spec: KIP-482 (header versions), KIP-511 (ApiVersions answers with the oldest header).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

from kafka_core.protocol.messages import API_MODULES, DATA_MODULES, ApiKey
from kafka_core.protocol.schema import ApiMessage, ApiRequest

ClassT = TypeVar("ClassT", bound=type[ApiMessage])
KeyT = TypeVar("KeyT")

_PACKAGE = "kafka_core.protocol.messages"


class LazyClasses(Mapping[KeyT, ClassT], Generic[KeyT, ClassT]):
    """Read-only mapping to message classes; a class's module is imported when it is first asked for."""

    def __init__(self, places: dict[KeyT, tuple[str, str]]) -> None:
        self._places = places
        self._loaded: dict[KeyT, ClassT] = {}

    def __getitem__(self, key: KeyT) -> ClassT:
        found = self._loaded.get(key)
        if found is None:
            module, name = self._places[key]
            found = self._loaded[key] = getattr(import_module(f"{_PACKAGE}.{module}"), name)
        return found

    def __iter__(self) -> Iterator[KeyT]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


REQUESTS: Mapping[int, type[ApiRequest[Any]]] = LazyClasses(
    {key: (module, request) for key, (module, request, _) in API_MODULES.items()}
)
"""API key -> request class; not there: requests between brokers or controllers (Vote, …) and removed ones."""
RESPONSES: Mapping[int, type[ApiMessage]] = LazyClasses(
    {key: (module, response) for key, (module, _, response) in API_MODULES.items()}
)
"""API key -> response class."""
DATA_MESSAGES: Mapping[str, type[ApiMessage]] = LazyClasses(
    {name: (module, name) for name, module in DATA_MODULES.items()}
)
"""Name -> class of headers and of data messages, such as `ConsumerProtocolSubscription`."""


def api_name(api_key: int) -> str:
    """`FETCH (1)`; a key nobody knows gives `unknown API (1234)`. For texts of errors and logs."""
    try:
        return f"{ApiKey(api_key).name} ({api_key})"
    except ValueError:
        return f"unknown API ({api_key})"


def request_header_version(cls: type[ApiMessage], version: int) -> int:
    """Header version of a request: 2 for flexible versions, else 1. (0 was ControlledShutdown v0's, removed in 4.0.)"""
    return 2 if cls.is_flexible(version) else 1


def response_header_version(cls: type[ApiMessage], version: int) -> int:
    """Header version of a response: 1 for flexible versions, else 0.

    ApiVersions always has 0, so that a client can read the refusal of a version the broker does not know (KIP-511).
    """
    return 1 if cls.is_flexible(version) and cls.API_KEY != ApiKey.API_VERSIONS else 0
