"""The ground that the parts of the blocking AdminClient stand on: a coroutine becomes a future, or one for each key.

Must not know of any call.
"""

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Hashable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from kafka_core.admin_model import Outcome
from kafka_core.aio.administering.admin import AIOAdminClient

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class AdminCalls(ABC):
    """A part of AdminClient, which says how its calls are made."""

    _core: AIOAdminClient

    @abstractmethod
    def _seconds(self, value: float | None, name: str = "request_timeout") -> float: ...

    @abstractmethod
    def _future(self, call: Coroutine[Any, Any, T]) -> Future[T]: ...

    @abstractmethod
    def _futures(self, keys: Sequence[K], call: Coroutine[Any, Any, dict[K, Outcome[T]]]) -> dict[K, Future[Any]]: ...
