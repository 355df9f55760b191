"""Modules of aiokafka 0.14, our modules behind them, and what is missing, with the reasons.

Holds names only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kserdes.compat.aliases import Dialect

__all__ = ["DIALECT", "HOMES", "METHODS_NOT_HERE", "MISSING", "NAMES_NOT_HERE", "REFUSED", "ROOT"]

ROOT: Final = "aiokafka"

_HERE: Final = "kserdes.compat.aiokafka"
_ASSIGNORS: Final = (f"{_HERE}.assignors",)

HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "": (_HERE,),
    "abc": (f"{_HERE}.interfaces",),
    "admin": (f"{_HERE}.admin",),
    "admin.client": (f"{_HERE}.admin",),
    "admin.config_resource": (f"{_HERE}.admin",),
    "admin.new_partitions": (f"{_HERE}.admin",),
    "admin.new_topic": (f"{_HERE}.admin",),
    "admin.records_to_delete": (f"{_HERE}.admin",),
    "client": (f"{_HERE}.client",),
    "cluster": (f"{_HERE}.cluster",),
    "consumer": (f"{_HERE}.consumer",),
    "consumer.consumer": (f"{_HERE}.consumer",),
    "coordinator": (),
    "coordinator.assignors": (),
    "coordinator.assignors.abstract": _ASSIGNORS,
    "coordinator.assignors.range": _ASSIGNORS,
    "coordinator.assignors.roundrobin": _ASSIGNORS,
    "coordinator.assignors.sticky": (),
    "coordinator.assignors.sticky.sticky_assignor": _ASSIGNORS,
    "coordinator.protocol": _ASSIGNORS,
    "errors": (f"{_HERE}.errors",),
    "helpers": (f"{_HERE}.helpers",),
    "partitioner": (f"{_HERE}.partitioner",),
    "producer": (f"{_HERE}.producer",),
    "producer.message_accumulator": (f"{_HERE}.batch",),
    "producer.producer": (f"{_HERE}.producer",),
    "codec": ("kserdes.compat.records.codecs",),
    "record": ("kserdes.compat.aiokafka.records",),
    "record.control_record": ("kserdes.compat.aiokafka.records",),
    "record.legacy_records": ("kserdes.compat.aiokafka.records",),
    "record.default_records": ("kserdes.compat.aiokafka.records", "kserdes.compat.records.util"),
    "record.memory_records": ("kserdes.compat.aiokafka.records",),
    "record.util": ("kserdes.compat.records.util",),
    "structs": (f"{_HERE}.structs",),
    "util": (f"{_HERE}.util",),
}
"""Module of aiokafka, without its root, to ours."""

DIALECT: Final = Dialect(ROOT, HOMES, "docs/guide/migrating-aiokafka.md", {})

MISSING: Final[Mapping[str, str]] = {}
"""Public names of the root that are not here, and why."""

_CLIENT: Final = "how aiokafka's clients work inside; ours work otherwise"

REFUSED: Final[Mapping[str, str]] = {
    "conn": "connections with aiokafka's own protocol modules",
    "consumer.fetcher": _CLIENT,
    "consumer.group_coordinator": _CLIENT,
    "consumer.subscription_state": _CLIENT,
    "coordinator.assignors.sticky.partition_movements": _CLIENT,
    "coordinator.assignors.sticky.sorted_set": _CLIENT,
    "producer.sender": _CLIENT,
    "producer.transaction_manager": _CLIENT,
    "protocol": "messages of the protocol are generated classes here, not public; `AIOKafkaAdminClient` has the calls",
}
"""Modules (with all below them) that are not here: why. What starts with `_` is aiokafka's own and is not either."""

_STICKY: Final = "steps of one algorithm; sticky shares come from the engine's"
_BUILT: Final = "a choice between compiled code and Python; the functions without `_py` are here"


def _names(module: str, why: str, *names: str) -> dict[str, str]:
    return {f"{module}.{name}": why for name in names}


_SCHEMA: Final = "a value here, not a message of the protocol"

METHODS_NOT_HERE: Final[Mapping[str, str]] = {
    **_names("client.AIOKafkaClient", "requests of aiokafka's protocol have no classes here", "send"),
    **_names("coordinator.assignors.sticky.sticky_assignor.StickyPartitionAssignor", _STICKY, "parse_member_metadata"),
    **_names("coordinator.protocol.ConsumerProtocolMemberAssignment", _SCHEMA, "decode", "encode", "get_item"),
    **_names("coordinator.protocol.ConsumerProtocolMemberMetadata", _SCHEMA, "decode", "encode", "get_item"),
}
"""Methods of classes that are here, without these: why. tests/interop/test_peer_signatures.py compares."""

NAMES_NOT_HERE: Final[Mapping[str, str]] = {
    **MISSING,
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "ConsumerGenerationPair", "ConsumerSubscription"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "StickyAssignmentExecutor"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "StickyAssignorMemberMetadataV1"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "StickyAssignorUserDataV1"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "has_identical_list_elements"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "partitions_comparator_key", "remove_if_present"),
    **_names("coordinator.assignors.sticky.sticky_assignor", _STICKY, "subscriptions_comparator_key"),
    **_names("producer.message_accumulator", _CLIENT, "MessageAccumulator", "MessageBatch"),
    **_names("producer.producer", "the largest length of 32 bits", "INTEGER_MAX_VALUE"),
    **_names("record.default_records", _BUILT, "NO_EXTENSIONS"),
    **_names("record.legacy_records", _BUILT, "NO_EXTENSIONS"),
    **_names("record.memory_records", _BUILT, "NO_EXTENSIONS"),
    **_names("record.util", _BUILT, "NO_EXTENSIONS", "calc_crc32c_py", "decode_varint_py", "encode_varint_py"),
    **_names("record.util", _BUILT, "size_of_varint_py"),
}
"""Public names of modules that are here, without those names: why. tests/interop/test_peer_modules.py compares."""
