"""The meters of a client, which know what its configuration says of it.

Must not know who reads them (`telemetry` does).
"""

from typing import Final

from kafka_core.clock import Clock
from kafka_core.config import Config, Role
from kafka_core.engine.telemetry.meters import Meters

_KINDS: Final = {
    Role.PRODUCER: "producer.",
    Role.CONSUMER: "consumer.",
    Role.SHARE: "consumer.share.",
    Role.ADMIN: "admin.client.",
}
_LABELS: Final = {
    "client_rack": "client.rack",
    "transactional_id": "transactional.id",
    "group_id": "group.id",
    "group_instance_id": "group.instance.id",
}


def meters_of(config: Config, clock: Clock) -> Meters:
    """New meters for a client, which know what its configuration says of it."""
    meters = Meters(_KINDS[config.role], clock.monotonic(), clock.time_ms())
    for label, name in _LABELS.items():
        value = config.optional_text(name)
        if value:
            meters.resource[label] = value
    return meters
