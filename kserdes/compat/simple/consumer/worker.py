"""One process of a MultiProcessConsumer: reads partitions and sends batches of (partition, message)."""

from __future__ import annotations

import json
import sys
from multiprocessing.connection import Connection
from typing import Any

from kserdes.compat.simple.client import KafkaClient
from kserdes.compat.simple.common import KafkaError
from kserdes.compat.simple.consumer.simple import SimpleConsumer

BATCH = 100
WAIT_S = 0.5


def read(channel: Connection, job: dict[str, Any]) -> None:
    """Reads until the other end of the channel is closed."""
    client = KafkaClient(job["hosts"], job["client_id"], job["timeout"])
    options = {**job["options"], "auto_commit": False, "partitions": job["partitions"]}
    consumer = SimpleConsumer(client, job["group"], job["topic"], **options)
    consumer.provide_partition_info()
    while not channel.poll():  # nothing is ever sent here: what can be read is the end
        messages = consumer.get_messages(BATCH, 1, WAIT_S)
        if messages:
            channel.send(messages)
    consumer.stop()
    client.close()


def main(number: str, job: str) -> int:
    """Runs until the parent has closed its end of the channel, or has died."""
    with Connection(int(number)) as channel:
        try:
            read(channel, json.loads(job))
        except (BrokenPipeError, ConnectionResetError):
            return 0
        except KeyboardInterrupt:
            return 130
        except (KafkaError, TypeError, ValueError) as error:
            channel.send(f"{type(error).__name__}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
