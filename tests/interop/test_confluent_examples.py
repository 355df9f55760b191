"""Examples in the documents of confluent_kafka (seeds 000 and 003), in own words, unchanged on ours.

The program runs in a process of its own under `python -m kserdes.compat.confluent`, against the embedded broker.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafka_core.broker import EmbeddedCluster
from tests.patience import PROCESS_S

pytestmark = pytest.mark.interop

PROGRAM = """
import sys
import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

brokers = sys.argv[1]
admin = AdminClient({'bootstrap.servers': brokers})
for topic, future in admin.create_topics([NewTopic('fruit', 1, 1)]).items():
    future.result()
    print('created', topic)

def told(error, message):
    print('delivered', message.topic(), message.partition(), message.offset(), error)

producer = Producer({'bootstrap.servers': brokers, 'default.topic.config': {'acks': 'all'}, 'on_delivery': told})
for word in ('apple', 'pear'):
    producer.poll(0)
    producer.produce('fruit', word.encode('utf-8'))
print('left', producer.flush())

def committed(error, partitions):
    print('committed', error, [(item.topic, item.offset) for item in partitions])

consumer = Consumer({
    'bootstrap.servers': brokers, 'group.id': 'eaters', 'session.timeout.ms': 30000, 'on_commit': committed,
    'default.topic.config': {'auto.offset.reset': 'smallest'}, 'enable.partition.eof': True,
    'enable.auto.commit': False,
})

def assigned(consumer, partitions):
    print('assigned', [(item.topic, item.partition) for item in partitions])
    for item in partitions:
        item.offset = OFFSET_BEGINNING
    consumer.assign(partitions)

consumer.subscribe(['fruit'], on_assign=assigned)
running = True
while running:
    message = consumer.poll(timeout=1.0)
    if message is None:
        continue
    if not message.error():
        print('received', message.value().decode('utf-8'))
    elif message.error().code() == KafkaError._PARTITION_EOF:
        running = False
    else:
        raise KafkaException(message.error())
consumer.commit(asynchronous=False)
print([item.offset for item in consumer.committed([TopicPartition('fruit', 0)])])
consumer.poll(0)
consumer.close()
print(confluent_kafka.Producer.__module__)
"""

EXPECTED = """\
created fruit
delivered fruit 0 0 None
delivered fruit 0 1 None
left 0
assigned [('fruit', 0)]
received apple
received pear
[2]
"""


@pytest.mark.parametrize(
    ("run_by", "module"), [((), "cimpl"), (("-m", "kserdes.compat.confluent"), "kafka_core.sync.producer")]
)
def test_the_program_of_the_documents_runs_on_both(tmp_path: Path, run_by: tuple[str, ...], module: str) -> None:
    script = tmp_path / "fruit.py"
    script.write_text(PROGRAM)
    with EmbeddedCluster() as cluster:
        done = subprocess.run(
            [sys.executable, *run_by, str(script), cluster.bootstrap_servers],
            capture_output=True,
            text=True,
            timeout=PROCESS_S,
            check=False,
        )
    assert (done.stdout, done.returncode) == (f"{EXPECTED}{module}\n", 0), done.stderr
