"""Small services written for confluent_kafka's documented API, run unchanged on it and on ours: they say the same.

Each program runs in a process of its own on one real broker and the embedded registry: with the installed package, and
under `python -m kserdes.compat.confluent`. `sys.argv` holds brokers, registry and a name of the run's own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.contract.clusters import unique
from tests.patience import PROCESS_S
from tools.real_kafka import RealKafka

pytest.importorskip("confluent_kafka")
pytestmark = [pytest.mark.broker, pytest.mark.interop]

ADMIN: Final = """
from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource, NewPartitions, NewTopic, OffsetSpec,
    ResourceType,
)
admin = AdminClient({'bootstrap.servers': brokers})
for topic, future in admin.create_topics([NewTopic(name, 2, 1, config={'retention.ms': '60000'})]).items():
    print('created', future.result())
try:
    admin.create_topics([NewTopic(name, 1, 1)])[name].result()
except KafkaException as error:
    cause = error.args[0]
    print('again', cause.code() == KafkaError.TOPIC_ALREADY_EXISTS, cause.name(), cause.retriable())
producer = Producer({'bootstrap.servers': brokers})
for number in range(4):
    producer.produce(name, str(number), partition=number % 2)
print('left', producer.flush(30))
resource = ConfigResource(ResourceType.TOPIC, name)
entries = admin.describe_configs([resource])[resource].result()
entry = entries['retention.ms']
print(type(entry).__name__, entry.value, ConfigSource(entry.source).name, entry.is_default, entry.is_sensitive)
changed = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[
    ConfigEntry('retention.ms', '70000', incremental_operation=AlterConfigOpType.SET)])
print(admin.incremental_alter_configs([changed])[changed].result())
until(lambda: admin.describe_configs([resource])[resource].result()['retention.ms'].value == '70000')
print(admin.create_partitions([NewPartitions(name, 3)])[name].result())
until(lambda: len(admin.list_topics(name, timeout=30).topics[name].partitions) == 3)
metadata = admin.list_topics(name, timeout=30)
print(sorted(metadata.topics), sorted(metadata.topics[name].partitions), metadata.topics[name].error)
described = admin.describe_topics(TopicCollection([name]))[name].result()
print(described.name, described.is_internal)
print([(item.id, item.leader.id == item.replicas[0].id) for item in described.partitions])
print(len(admin.describe_cluster().result().nodes))
places = {TopicPartition(name, 0): OffsetSpec.latest(), TopicPartition(name, 1): OffsetSpec.earliest()}
found = admin.list_offsets(places, isolation_level=IsolationLevel.READ_COMMITTED)
print(sorted((place.partition, future.result().offset) for place, future in found.items()))
consumer = Consumer({'bootstrap.servers': brokers, 'group.id': name})
consumer.commit(offsets=[TopicPartition(name, 0, 1)], asynchronous=False)
consumer.close()
group = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)])[name].result()
print(group.group_id, [(item.partition, item.offset, item.error) for item in group.topic_partitions])
altered = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(name, [TopicPartition(name, 0, 2)])])
print([(item.partition, item.offset) for item in altered[name].result().topic_partitions])
group = admin.describe_consumer_groups([name])[name].result()
print(group.group_id, group.state.name, group.is_simple_consumer_group, group.members)
print(name in [item.group_id for item in admin.list_consumer_groups().result().valid])
print(admin.delete_consumer_groups([name])[name].result())
deleted = admin.delete_records([TopicPartition(name, 0, 1)])
print([future.result().low_watermark for future in deleted.values()])
print(admin.delete_topics([name])[name].result())
for make in (lambda: admin.create_topics([]), lambda: NewTopic(3), lambda: ConfigResource('nothing', name)):
    try:
        make()
    except Exception as error:
        print(type(error).__name__)
"""

TRANSACTIONS: Final = """
from confluent_kafka import TopicPartition
source, target = name + '-in', name + '-out'
from confluent_kafka.admin import AdminClient, NewTopic
admin = AdminClient({'bootstrap.servers': brokers})
for future in admin.create_topics([NewTopic(source, 1, 1), NewTopic(target, 1, 1)]).values():
    future.result()
filler = Producer({'bootstrap.servers': brokers})
for word in 'abcdef':
    filler.produce(source, word)
filler.flush(30)
producer = Producer({'bootstrap.servers': brokers, 'transactional.id': name})
producer.init_transactions(30)
consumer = Consumer({'bootstrap.servers': brokers, 'group.id': name, 'auto.offset.reset': 'earliest',
                     'enable.auto.commit': False, 'isolation.level': 'read_committed'})
consumer.subscribe([source])
def positions():
    return [(item.partition, item.offset) for item in consumer.position(consumer.assignment())]
for number in range(3):
    producer.begin_transaction()
    taken = []
    while len(taken) < 2:
        message = consumer.poll(1.0)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        taken.append(message.value())
        producer.produce(target, message.value().upper())
    places = consumer.position(consumer.assignment())
    producer.send_offsets_to_transaction(places, consumer.consumer_group_metadata(), 30)
    if number == 1:
        producer.abort_transaction(30)
    else:
        producer.commit_transaction(30)
    print(number, taken, positions())
print([(item.offset, item.error) for item in consumer.committed([TopicPartition(source, 0)], timeout=30)])
consumer.close()
for name_of_call in ('commit_transaction', 'abort_transaction', 'begin_transaction', 'begin_transaction'):
    try:
        print(getattr(producer, name_of_call)())
    except KafkaException as error:
        cause = error.args[0]
        print(name_of_call, cause.name(), cause.fatal(), cause.retriable(), cause.txn_requires_abort())
reader = Consumer({'bootstrap.servers': brokers, 'group.id': name + '-reader', 'auto.offset.reset': 'earliest',
                   'isolation.level': 'read_committed', 'enable.partition.eof': True})
reader.subscribe([target])
values = []
while True:
    message = reader.poll(1.0)
    if message is None:
        continue
    if message.error():
        if len(values) < 4:  # the marker of the last transaction is still to come
            continue
        print(message.error().name(), message.error().code() == KafkaError._PARTITION_EOF, message.partition())
        break
    values.append(message.value())
print(values)
reader.close()
"""

AVRO: Final = """
from confluent_kafka import DeserializingConsumer, SerializingProducer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer, AvroSerializerBuilder
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext, StringDeserializer, StringSerializer
from confluent_kafka.error import ValueSerializationError
FIRST = '''{"type": "record", "name": "User", "namespace": "shop", "fields": [
    {"name": "name", "type": "string"}, {"name": "number", "type": ["null", "long"], "default": null}]}'''
SECOND = FIRST.replace('"fields": [', '"fields": [{"name": "colour", "type": "string", "default": "red"},')
class User:
    def __init__(self, name, number=None):
        self.name, self.number = name, number
def to_dict(user, ctx):
    return {'name': user.name, 'number': user.number}
def from_dict(values, ctx):
    user = User(values['name'], values['number'])
    user.colour = values['colour']
    return user
client = SchemaRegistryClient({'url': registry})
serializer = AvroSerializer(client, FIRST, to_dict, conf={'auto.register.schemas': True})
delivered = []
producer = SerializingProducer({'bootstrap.servers': brokers, 'key.serializer': StringSerializer('utf_8'),
                                'value.serializer': serializer})
for number, word in enumerate(['ada', 'bob']):
    producer.produce(topic=name, key=word, value=User(word, number), headers={'n': str(number)},
                     on_delivery=lambda error, message: delivered.append((error, message.key(), message.partition())))
producer.produce(topic=name, key='gone', value=None)
try:
    producer.produce(topic=name, key='bad', value=User(3))
except ValueSerializationError as error:
    print(type(error).__name__, error.code == KafkaError._VALUE_SERIALIZATION)
print(producer.flush(30), delivered)
registered = client.get_latest_version(name + '-value')
print(registered.subject, registered.version, registered.schema.schema_type, name + '-value' in client.get_subjects())
print(client.test_compatibility(name + '-value', Schema(SECOND, 'AVRO')), client.get_versions(name + '-value'))
consumer = DeserializingConsumer({'bootstrap.servers': brokers, 'group.id': name, 'auto.offset.reset': 'earliest',
    'key.deserializer': StringDeserializer('utf_8'), 'value.deserializer': AvroDeserializer(client, SECOND, from_dict)})
consumer.subscribe([name])
seen = []
while len(seen) < 3:
    message = consumer.poll(1.0)
    if message is not None:
        user = message.value()
        seen.append((message.key(), user and (user.name, user.number, user.colour), message.headers()))
print(seen)
consumer.close()
try:
    client.get_version(name + '-value', 9)
except SchemaRegistryError as error:
    print(error.http_status_code, error.error_code)
frame = serializer(User('x', 1), SerializationContext(name, MessageField.VALUE))
print(frame[:1], len(frame), AvroDeserializer(client)(frame, SerializationContext(name, MessageField.VALUE)))
built = SerializingProducer({'bootstrap.servers': brokers, 'value.serializer.builder':
    AvroSerializerBuilder(schema_registry_config={'url': registry}, schema=FIRST, to_dict=to_dict)})
built.produce(topic=name, value=User('built'))
print(built.flush(30))
print(client.delete_subject(name + '-value'))
"""

RULES: Final = """
import json
from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleParams, RuleSet, Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.rules.cel.cel_executor import CelExecutor
from confluent_kafka.schema_registry.rules.cel.cel_field_executor import CelFieldExecutor
from confluent_kafka.schema_registry.rules.encryption.encrypt_executor import Clock, FieldEncryptionExecutor
from confluent_kafka.schema_registry.rules.encryption.localkms.local_driver import LocalKmsDriver
from confluent_kafka.schema_registry.rules.jsonata.jsonata_executor import JsonataExecutor
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError
CelExecutor.register()
CelFieldExecutor.register()
JsonataExecutor.register()
LocalKmsDriver.register()
executor = FieldEncryptionExecutor.register_with_clock(Clock())
print(type(executor).__name__)
TEXT = json.dumps({
    'type': 'object', 'title': 'Order', '$schema': 'http://json-schema.org/draft-07/schema#', 'required': ['card'],
    'properties': {'card': {'type': 'string', 'confluent:tags': ['PII']}, 'amount': {'type': 'integer'},
                   'note': {'type': 'string'}}})
rules = RuleSet(None, [
    Rule('positive', '', RuleKind.CONDITION, RuleMode.WRITE, 'CEL', None, None, 'message.amount > 0', None, 'ERROR',
         False),
    Rule('hide', '', RuleKind.TRANSFORM, RuleMode.WRITEREAD, 'ENCRYPT', ['PII'],
         RuleParams({'encrypt.kek.name': name, 'encrypt.kms.type': 'local-kms', 'encrypt.kms.key.id': 'k'}), None, None,
         'ERROR,NONE', False)])
client = SchemaRegistryClient({'url': registry})
client.register_schema(name + '-value', Schema(TEXT, 'JSON', [], None, rules))
conf = {'auto.register.schemas': False, 'use.latest.version': True}
write = JSONSerializer(TEXT, client, conf=conf, rule_conf={'secret': 'shh'})
read = JSONDeserializer(None, schema_registry_client=client, conf={'use.latest.version': True},
                        rule_conf={'secret': 'shh'})
ctx = SerializationContext(name, MessageField.VALUE)
frame = write({'card': '4711', 'amount': 5, 'note': 'x'}, ctx)
print('4711' in str(frame), read(frame, ctx))
for wrong in ({'card': '4711', 'amount': 0}, {'amount': 5}, {'card': 3, 'amount': 5}):
    try:
        write(wrong, ctx)
        print('taken')
    except SerializationError as error:
        print('SerializationError')
try:
    print(write({'amount': 5}, ctx))
except SerializationError as error:
    print('is a required property' in str(error) or 'card' in str(error))
producer = Producer({'bootstrap.servers': brokers})
producer.produce(name, frame)
print(producer.flush(30))
"""

ASYNCIO: Final = """
import asyncio
from confluent_kafka import TopicPartition
from confluent_kafka.aio import AIOConsumer, AIOProducer
from confluent_kafka.schema_registry import AsyncSchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import AsyncJSONDeserializer, AsyncJSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
TEXT = '{"title": "Event", "type": "object", "properties": {"n": {"type": "integer"}}}'
async def main():
    client = AsyncSchemaRegistryClient({'url': registry})
    write = await AsyncJSONSerializer(TEXT, client)
    read = await AsyncJSONDeserializer(TEXT, schema_registry_client=client)
    ctx = SerializationContext(name, MessageField.VALUE)
    producer = AIOProducer({'bootstrap.servers': brokers})
    futures = [await producer.produce(name, key='k', value=await write({'n': number}, ctx)) for number in range(3)]
    await producer.flush()
    print([(message.offset(), message.error(), message.topic() == name) for message in await asyncio.gather(*futures)])
    await producer.close()
    told = []
    async def assigned(consumer, partitions):
        told.append(('assigned', len(partitions)))
        await consumer.assign([TopicPartition(item.topic, item.partition, 1) for item in partitions])
    async def revoked(consumer, partitions):
        told.append(('revoked', len(partitions)))
    consumer = AIOConsumer({'bootstrap.servers': brokers, 'group.id': name, 'auto.offset.reset': 'earliest',
                            'enable.auto.commit': False})
    await consumer.subscribe([name], on_assign=assigned, on_revoke=revoked)
    seen = []
    while len(seen) < 2:
        message = await consumer.poll(1.0)
        if message is not None:
            seen.append((message.offset(), await read(message.value(), ctx)))
    print(seen)
    print([(item.topic == name, item.offset) for item in await consumer.commit(asynchronous=False)])
    print([item.offset for item in await consumer.committed([TopicPartition(name, 0)])])
    print([item.offset for item in await consumer.position([TopicPartition(name, 0)])])
    print(await consumer.get_watermark_offsets(TopicPartition(name, 0)))
    await consumer.seek(TopicPartition(name, 0, 0))
    message = None
    while message is None:
        message = await consumer.poll(1.0)
    print(message.offset(), sorted(told))
    await consumer.unsubscribe()
    await consumer.close()
    print(sorted(told))
    try:
        await consumer.poll(0)
    except RuntimeError as error:
        print(error)
asyncio.run(main())
"""

MANUAL: Final = """
import json, logging, sys, time
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, TopicPartition
lines = []
class Kept(logging.Handler):
    def emit(self, record):
        lines.append(record.getMessage().split()[0])
log = logging.getLogger('service')
log.setLevel(logging.DEBUG)
log.addHandler(Kept())
log.propagate = False
statistics, failures = [], []
def told(error, message):
    print('told', error, message.topic() == name, message.partition(), message.value(), message.latency() > 0)
producer = Producer({'bootstrap.servers': brokers, 'on_delivery': told, 'default.topic.config': {'acks': 'all'},
                     'error_cb': failures.append})
producer.produce(name, value='one', key='k', timestamp=1700000000000)
producer.produce(name, b'two', callback=lambda error, message: print('own', error, message.value()))
print(len(producer) > 1, producer.flush(30), len(producer))
# Lines and statistics are events too: they would be counted by the length of the producer above.
talking = Producer({'bootstrap.servers': brokers, 'stats_cb': lambda text: statistics.append(json.loads(text)),
                    'statistics.interval.ms': 100, 'error_cb': failures.append, 'debug': 'msg'}, logger=log)
talking.produce(name + '-talk', b'three')
while not statistics or not {'INIT', 'MSGSET'} <= set(lines):
    talking.poll(0.1)
print(sorted({'name', 'type', 'brokers', 'topics', 'txmsgs'} & set(statistics[0])), statistics[0]['type'], failures)
try:
    full = Producer({'queue.buffering.max.messages': 1})
    full.produce(name, b'x')
    full.produce(name, b'x')
except BufferError as error:
    print('BufferError')
commits = []
consumer = Consumer({'bootstrap.servers': brokers, 'group.id': name, 'session.timeout.ms': 30000,
                     'on_commit': lambda error, items: commits.append((error, [item.offset for item in items])),
                     'enable.auto.offset.store': False, 'auto.commit.interval.ms': 3600000,
                     'default.topic.config': {'auto.offset.reset': 'smallest'}})
events = []
consumer.subscribe([name], on_assign=lambda client, items: events.append(('assign', len(items))),
                   on_revoke=lambda client, items: events.append(('revoke', len(items))))
found = []
while len(found) < 2:
    found += consumer.consume(num_messages=5, timeout=1.0)
for item in found:
    print(item.value(), item.key(), item.offset(), item.timestamp()[0], item.headers(), item.leader_epoch())
print(found[0].timestamp()[1], len(found[0]), str(found[0].error()))
consumer.store_offsets(message=found[0])
print([(item.offset, item.error) for item in consumer.commit(asynchronous=False)])
consumer.commit(message=found[1])
while not commits:
    consumer.poll(0.1)
print(commits, [item.offset for item in consumer.committed([TopicPartition(name, 0)], timeout=30)])
place = TopicPartition(name, 0)
consumer.pause([place])
print(consumer.poll(0.2))
consumer.seek(TopicPartition(name, 0, 0))
consumer.resume([place])
message = None
while message is None:
    message = consumer.poll(1.0)
print(message.value(), consumer.get_watermark_offsets(place, timeout=30))
print([item.offset for item in consumer.offsets_for_times([TopicPartition(name, 0, 1699999999999)], timeout=30)])
print([item.offset for item in consumer.position([place])], len(consumer.assignment()))
print(type(consumer.memberid()).__name__)
consumer.unsubscribe()
consumer.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
print([item.partition for item in consumer.assignment()])
print([(item.topic, item.partition) for item in sorted(TopicPartition(*pair) for pair in [('b', 1), ('a', 2)])])
consumer.unassign()
consumer.close()
print(events, KafkaError._PARTITION_EOF, KafkaError._ALL_BROKERS_DOWN, KafkaError.UNKNOWN_TOPIC_OR_PART)
try:
    consumer.poll(0)
except RuntimeError as error:
    print(error)
for make, kind in ((lambda: Producer({'nope': 1}), KafkaException), (lambda: Consumer({}), ValueError),
                   (lambda: Producer(3), TypeError), (lambda: Producer({}).produce(), TypeError)):
    try:
        make()
    except kind:
        print(kind.__name__)
"""

HEAD: Final = """
import sys, time, warnings
warnings.simplefilter('ignore')
brokers, registry, name = sys.argv[1:]
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
def until(done):  # brokers answer a change before it is in their metadata
    while not done():
        time.sleep(0.05)
"""
PROGRAMS: Final = {
    "admin": ADMIN,
    "transactions": TRANSACTIONS,
    "avro": AVRO,
    "rules": RULES,
    "asyncio": ASYNCIO,
    "manual": MANUAL,
}


def run(script: Path, kafka: RealKafka, url: str, *, on_ours: bool) -> str:
    """The output of a program, with the run's own name taken out."""
    name = unique("run")
    by = ("-m", "kserdes.compat.confluent") if on_ours else ()
    command = [sys.executable, *by, str(script), kafka.bootstrap_servers, url, name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout.replace(name, "NAME")


@pytest.mark.parametrize("program", PROGRAMS)
def test_unchanged_programs_say_the_same(
    program: str, tmp_path: Path, real_kafka: RealKafka, registry_url: str
) -> None:
    script = tmp_path / f"service_{program}.py"
    script.write_text(HEAD + PROGRAMS[program])
    theirs = run(script, real_kafka, registry_url, on_ours=False)
    assert run(script, real_kafka, registry_url, on_ours=True).splitlines() == theirs.splitlines()
    assert len(theirs.splitlines()) > 5
