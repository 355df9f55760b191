"""Constructors of kafka-python's clients called with values that cannot be, beside our dialect's.

Both refuse them with the same class before anything is sent: nobody listens at the address.
"""

from __future__ import annotations

import gc
import warnings
from types import ModuleType
from typing import Any, Final

import pytest

from kserdes.compat import kafka as ours

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    theirs = pytest.importorskip("kafka")

CLIENTS: Final = ("KafkaProducer", "KafkaConsumer", "KafkaAdminClient")
COMMON: Final[tuple[dict[str, Any], ...]] = (
    {"api_version": "x"},
    {"api_version": "2.x"},
    {"api_version": 3},
    {"api_version": [2, 6]},
    {"bootstrap_servers": None},
    {"bootstrap_servers": 3},
)
PRODUCER: Final[tuple[dict[str, Any], ...]] = (
    {"delivery_timeout_ms": 1},
    {"delivery_timeout_ms": -1},
    {"delivery_timeout_ms": "x"},
    {"delivery_timeout_ms": 1000, "linger_ms": 500, "request_timeout_ms": 600},
    {"linger_ms": "x"},
    {"request_timeout_ms": None},
    {"compression_type": "x"},
    {"no_such": 1},
    {"acks": 1, "enable_idempotence": True},
    {"transactional_id": "x", "enable_idempotence": False},
)
CONSUMER: Final[tuple[dict[str, Any], ...]] = (
    {"group_instance_id": "x"},
    {"isolation_level": "x"},
    {"fetch_max_wait_ms": 1000, "request_timeout_ms": 500},
    {"connections_max_idle_ms": 1000},
    {"no_such": 1},
)
CASES: Final = [
    *((client, conf) for client in CLIENTS for conf in COMMON),
    *(("KafkaProducer", conf) for conf in PRODUCER),
    *(("KafkaConsumer", conf) for conf in CONSUMER),
    ("KafkaAdminClient", {"no_such": 1}),
]


def refusal(package: ModuleType, client: str, conf: dict[str, Any]) -> str:
    """The name of the error's class."""
    arguments = {"bootstrap_servers": "127.0.0.1:1", "api_version": (2, 6), "bootstrap_timeout_ms": 10, **conf}
    with pytest.raises(Exception) as caught:
        getattr(package, client)(**arguments)
    return caught.type.__name__


# kafka-python forgets what a constructor that failed had opened.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("client", "conf"), CASES)
def test_arguments_are_refused_alike(client: str, conf: dict[str, Any]) -> None:
    assert refusal(ours, client, conf) == refusal(theirs, client, conf)
    gc.collect()  # what theirs forgot is reported here, not in a later test
