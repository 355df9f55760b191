"""The registry clients of this process: one for each configuration, whose connections and caches all plans share.

Must not know of Spark or schemas. Python workers of Spark live on over tasks and plans; a client per look-up would load
the certificates of the system and connect anew each time.
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping

from registry import SchemaRegistryClient

_KEPT = 16
_clients: OrderedDict[str, SchemaRegistryClient] = OrderedDict()
_lock = threading.Lock()


def shared_client(conf: Mapping[str, object]) -> SchemaRegistryClient:
    """This process's client for a configuration; never close it.

    Raises:
        ValueError, TypeError: as `SchemaRegistryClient`.
    """
    key = json.dumps(dict(conf), sort_keys=True, default=lambda value: [type(value).__qualname__, id(value)])
    with _lock:
        client = _clients.get(key)
        if client is None:
            client = _clients[key] = SchemaRegistryClient(dict(conf))  # keeps what `id` was taken of alive
            if len(_clients) > _KEPT:
                _clients.popitem(last=False)  # not closed: a plan may be using it
        _clients.move_to_end(key)
        return client


def _after_fork() -> None:
    """The lock may have been held in the parent; the clients look after themselves."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
