"""Plans that the driver remembers, so that `foreachBatch` neither asks the registry nor compiles again for each batch.

Must not know how plans are made. What is secret in a configuration is only hashed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from registry import Schema

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

REMEMBERED_S: Final = 300.0
KEPT: Final = 64

PlanT = TypeVar("PlanT")


class Remembered(Generic[PlanT]):
    """Plans by the configuration of the registry and the arguments they were made for; for any thread."""

    def __init__(self) -> None:
        self._plans: OrderedDict[str, tuple[float, PlanT, tuple[object, ...]]] = OrderedDict()
        self._lock = threading.Lock()
        _all.add(self)

    def get(
        self,
        registry: Mapping[str, object],
        arguments: DataclassInstance,
        make: Callable[[], PlanT],
        *,
        anew: bool = False,
    ) -> PlanT:
        """The plan, made now if `anew` or unless it was within the last five minutes (`cache.latest.ttl.sec`)."""
        asked = {field.name: getattr(arguments, field.name) for field in dataclasses.fields(arguments)}
        text = json.dumps([dict(registry), asked], sort_keys=True, default=_told)
        key = hashlib.sha256(text.encode()).hexdigest()
        now = time.monotonic()
        with self._lock:
            found = self._plans.get(key)
        if found is not None and found[0] > now and not anew:
            return found[1]
        made = make()
        remembered_s: Any = registry.get("cache.latest.ttl.sec")
        until = now + (REMEMBERED_S if remembered_s is None else float(remembered_s))
        with self._lock:
            # Objects that the key knows by their place in memory live as long as the key: no others get that place.
            self._plans[key] = until, made, (dict(registry), asked)
            while len(self._plans) > KEPT:
                self._plans.popitem(last=False)
        return made

    def forget(self) -> None:
        """Forgets all plans."""
        with self._lock:
            self._plans.clear()


_all: Final = weakref.WeakSet[Remembered[Any]]()


def forget_plans() -> None:
    """Forgets all plans of this process: the next `from_registry` or `to_registry` asks the registry again."""
    for remembered in list(_all):
        remembered.forget()


def _told(value: Any) -> object:
    """Schemas and Spark's types by what they say, functions, classes and all else by what they are."""
    if isinstance(value, Mapping):
        return [dict(value)]
    if isinstance(value, Schema):
        return value.to_dict()
    if not isinstance(value, type) and hasattr(value, "jsonValue"):
        return value.jsonValue()
    return [type(value).__qualname__, id(value)]
