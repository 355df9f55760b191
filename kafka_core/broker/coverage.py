"""Abilities and limits of the embedded broker, as data: the coverage page of the docs is made from it.

Must not know: any state. Versions come from the handlers themselves, so they can't disagree with what is announced.
Spec: https://kafka.apache.org/protocol#protocol_api_keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_core.broker.handlers import APIS
from kafka_core.protocol import ApiKey

SKIPPED: Mapping[str, str] = {
    "transactions in two phases with other systems": "KIP-939 is not served; markers are written in the moment a "
    "transaction ends, so CONCURRENT_TRANSACTIONS and the Prepare states come from injected faults only",
    "the default of the interval between assignments": "groups assign in the heartbeat that makes it necessary, where "
    "nobody has set `consumer.assignment.interval.ms` or `share.assignment.interval.ms` (or the broker's properties of "
    "these names); the second that a real broker waits is only told",
    "the state topic of share groups": "a share group's state is kept in memory; __share_group_state does not "
    "exist, and brokers do not ask each other for it",
    "streams groups": "not planned for the first release (KIP-1071)",
    "quotas, delegation tokens": "nothing is throttled, and there are no tokens",
    "ACLs without `authorizer.class.name`": "every authenticated user may do everything, as on a real broker; any "
    "class name switches the one authorizer on",
    "replication": "all replicas are one log in memory: a new leader lacks records only by `move_leader`, "
    "followers are in sync at once, and a reassignment is over when it is answered",
    "disks": "each broker has one log directory that is none, of unknown size; replicas can go to no other one",
    "the log of metadata": "the broker named as controller is the one voter, and the log's end is reported as 0",
    "compaction": "cleanup.policy=compact refuses records without a key, but nothing is compacted",
    "compression by the broker": "batches are stored as they come, whatever the topic's compression.type is",
    "retention by time": "old segments go when records are appended, not in the background; the open one stays",
    "message sets of old clients": "Produce before v3 and Fetch before v4 are not served, as in Kafka 4",
    "internal topics": "positions and transactions are kept in memory; __consumer_offsets and __transaction_state do "
    "not exist",
    "expiry of positions and producer ids": "they are kept as long as the cluster runs",
    "brokers of their own configuration": "all brokers share one configuration",
    "Kerberos and signed tokens": "PLAIN, SCRAM and unsecured OAUTHBEARER only",
}
"""Feature → what happens instead."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """One API: the range of versions served, None if it is not served at all."""

    api_key: int
    name: str
    versions: tuple[int, int] | None


def api_coverage() -> Iterator[Coverage]:
    """All APIs of the protocol by key."""
    for api_key in ApiKey:
        api = APIS.get(api_key)
        yield Coverage(api_key, api_key.name, None if api is None else api.versions)
