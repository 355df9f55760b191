"""Unit tests of services with mocks, and classes around clients, unchanged on confluent_kafka and on ours.

As in `tests.interop.test_confluent_programs`, each program runs in a process of its own on both, and says the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.interop.test_confluent_programs import HEAD, run
from tools.real_kafka import RealKafka

pytest.importorskip("confluent_kafka")
pytestmark = [pytest.mark.broker, pytest.mark.interop]

MOCKS: Final = """
from unittest.mock import MagicMock, create_autospec, patch
import confluent_kafka
from confluent_kafka import Message, TopicPartition

class Service:
    def __init__(self, producer, consumer):
        self.producer, self.consumer = producer, consumer

    def step(self):
        message = self.consumer.poll(1.0)
        if message is None:
            return 'idle'
        if message.error():
            raise KafkaException(message.error())
        self.producer.produce('out', key=message.key(), value=message.value().upper(), on_delivery=print)
        self.consumer.commit(message=message, asynchronous=False)
        return 'done'

consumer, producer, message = MagicMock(spec=Consumer), MagicMock(spec=Producer), MagicMock(spec=Message)
message.error.return_value, message.key.return_value, message.value.return_value = None, b'k', b'v'
consumer.poll.return_value = message
print(Service(producer, consumer).step(), producer.produce.call_args.args, sorted(producer.produce.call_args.kwargs))
consumer.poll.return_value = None
print(Service(producer, consumer).step())
message.error.return_value = KafkaError(KafkaError._ALL_BROKERS_DOWN, 'gone')
consumer.poll.return_value = message
try:
    Service(producer, consumer).step()
except KafkaException as error:
    print(error, error.args[0].name())
try:
    producer.produce_all
except AttributeError as error:
    print(error)
print(isinstance(consumer, Consumer), isinstance(message, Message))
with patch('confluent_kafka.Producer') as made:
    made.return_value.flush.return_value = 0
    print(confluent_kafka.Producer({'a': 1}).flush(), made.call_args)
auto = create_autospec(Producer, instance=True)
auto.produce('t', value=b'x')
print(auto.produce.mock_calls)
real = Message(topic='t', partition=1, offset=5, key=b'k', value=b'v', headers=[('h', b'1')], timestamp=(1, 5))
print(real.topic(), real.partition(), real.offset(), real.key(), real.value(), real.headers(), real.timestamp())
real.set_value('x')
real.set_key(None)
print(real.value(), real.key(), real.error(), real.latency(), real.leader_epoch(), len(real))
places = [TopicPartition('b', 0), TopicPartition('a', 2), TopicPartition('a', 1, 5)]
print(sorted(places), {place: place.offset for place in places}[TopicPartition('a', 1)])
"""

WRAPPERS: Final = """
import json
from confluent_kafka import DeserializingConsumer, SerializingProducer
from confluent_kafka.serialization import StringSerializer

class TracedProducer(Producer):
    def __init__(self, conf, tracer):
        super().__init__(conf)
        self.tracer = tracer

    def produce(self, topic, value=None, *args, **named):
        named['headers'] = [*(named.get('headers') or []), ('traceparent', b'00-1')]
        self.tracer.append(('produce', topic))
        return super().produce(topic, value, *args, **named)

    def flush(self, timeout=-1):
        self.tracer.append(('flush',))
        return super().flush(timeout)

class CountingConsumer(Consumer):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.seen = 0

    def poll(self, timeout=-1):
        message = super().poll(timeout)
        self.seen += message is not None and message.error() is None
        return message

class Proxy:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

tracer, done = [], []
producer = TracedProducer({'bootstrap.servers': brokers, 'linger.ms': 5}, tracer)
for number in range(3):
    producer.produce(name, str(number), key='k', on_delivery=lambda *told: done.append((told[0], told[1].value())))
print(len(producer), producer.flush(30), len(producer), sorted(done, key=str), tracer)
proxy = Proxy(producer)
proxy.produce(name, b'proxied', on_delivery=lambda *told: print(told[0], told[1].value(), told[1].offset() >= 0))
print(proxy.flush(30))
consumer = CountingConsumer({'bootstrap.servers': brokers, 'group.id': name, 'auto.offset.reset': 'earliest'})
events, got = [], []
consumer.subscribe([name], on_assign=lambda who, places: events.append((type(who).__name__, len(places) > 0)))
while len(got) < 4:
    message = consumer.poll(1)
    if message is not None and not message.error():
        got.append((message.value(), message.key(), message.headers()))
print(sorted(got, key=str), consumer.seen, events)
consumer.close()

class Json(StringSerializer):
    def __call__(self, obj, ctx=None):
        return super().__call__(json.dumps(obj), ctx)

conf = {'bootstrap.servers': brokers, 'key.serializer': StringSerializer(), 'value.serializer': Json()}
typed = SerializingProducer(conf)
typed.produce(name + 'j', key='k', value={'a': 1}, on_delivery=lambda error, message: print(error, message.value()))
print(typed.flush(30))
try:
    typed.produce(name + 'j', value={1j})
except KafkaException as error:
    print(type(error).__name__, error.name)
conf = {'bootstrap.servers': brokers, 'group.id': name + 'd', 'auto.offset.reset': 'earliest'}
reader = DeserializingConsumer({**conf, 'value.deserializer': lambda data, ctx: (json.loads(data), ctx.field)})
reader.subscribe([name + 'j'])
message = None
while message is None:
    message = reader.poll(1)
print(message.key(), message.value())
reader.close()
"""

PROGRAMS: Final = {"mocks": MOCKS, "wrappers": WRAPPERS}


@pytest.mark.parametrize("program", PROGRAMS)
def test_unchanged_programs_say_the_same(
    program: str, tmp_path: Path, real_kafka: RealKafka, registry_url: str
) -> None:
    script = tmp_path / f"service_{program}.py"
    script.write_text(HEAD + PROGRAMS[program])
    theirs = run(script, real_kafka, registry_url, on_ours=False)
    assert run(script, real_kafka, registry_url, on_ours=True).splitlines() == theirs.splitlines()
    assert len(theirs.splitlines()) > 5
