"""Processes and threads: Ctrl-C in every blocking call, forks, the interpreter's exit, closed clients.

Each case is a script in a process of its own, against an embedded broker in the test's process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

import pytest

from kafka_core.broker import EmbeddedCluster
from tests.complaints import complaints

LIMIT_S = 180.0
"""No process takes that long but one that hangs; what blocks in one of them does so for longer."""
TOPIC, EMPTY = "events", "empty"

HEAD = """
import os, sys, time
from kafka_core import Consumer, KafkaException, Producer, StateError, TopicPartition
from kafka_core.admin import AdminClient
servers, topic = sys.argv[1], "events"
def consumer(**more):
    own = {"bootstrap.servers": servers, "group.id": f"group-{os.getpid()}", "auto.offset.reset": "earliest"}
    return Consumer({**own, **more})
def producer(**more):
    return Producer({"bootstrap.servers": servers, "linger.ms": 1, **more})
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as running:
        running.create_topic(TOPIC, 2)
        running.create_topic(EMPTY, 2)
        yield running


def start(code: str, servers: str) -> subprocess.Popen[str]:
    """A process that runs the script, with every warning told."""
    script = HEAD + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "always", "-c", script, servers],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        cwd=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, output and complaints; a process that hangs fails the test."""
    try:
        out, stderr = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, stderr = process.communicate()
        pytest.fail(f"the process hangs; it wrote {out!r} and {stderr[-2000:]!r}")
    return process.returncode, out, complaints(stderr)


def run(code: str, servers: str) -> str:
    """The output of a script that has to end well and without a word of complaint."""
    exit_code, out, stderr = finish(start(code, servers))
    assert (exit_code, stderr) == (0, ""), stderr[-3000:]
    return out


BLOCKED = {
    "poll": "client = consumer(); client.subscribe(['empty']); blocked = lambda: client.poll()",
    "poll with a long time": """
        client = consumer(); client.assign([TopicPartition('empty', 0)]); blocked = lambda: client.poll(600)""",
    "consume": "client = consumer(); client.subscribe(['empty']); blocked = lambda: client.consume(10, 600)",
    "consume_arrow": """
        client = consumer(); client.subscribe(['empty'])
        client.consume_arrow(10, 0.01)  # imports pyarrow and numpy, where an interrupt is not the client's
        blocked = lambda: client.consume_arrow(10, 600)""",
    "committed without a broker": """
        servers = "127.0.0.1:1"
        client = consumer(); blocked = lambda: client.committed([TopicPartition(topic, 0)])""",
    "list_topics without a broker": """
        servers = "127.0.0.1:1"
        client = consumer(); blocked = lambda: client.list_topics()""",
    "flush": """
        servers = "127.0.0.1:1"
        client = producer(); client.produce(topic, b"x"); blocked = lambda: client.flush()""",
    "poll of a producer": "client = producer(); blocked = lambda: client.poll()",
    "a produce that waits for room": """
        servers = "127.0.0.1:1"
        client = producer(**{"max.block.ms": 600_000, "queue.buffering.max.messages": 5})
        def blocked():
            while True:
                client.produce(topic, b"x")""",
    "close of a producer": """
        servers = "127.0.0.1:1"
        client = producer(); client.produce(topic, b"x"); blocked = lambda: client.close()""",
    "the result of an administrator": """
        servers = "127.0.0.1:1"
        client = AdminClient({"bootstrap.servers": servers}); blocked = lambda: client.describe_cluster().result()""",
}


@pytest.mark.parametrize("name", sorted(BLOCKED))
def test_ctrl_c_ends_what_blocks(cluster: EmbeddedCluster, name: str) -> None:
    code = textwrap.dedent(BLOCKED[name]) + textwrap.dedent("""
        try:
            print("blocked", flush=True)
            blocked()
            print("ended by itself", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            client.close(*([1] if isinstance(client, Producer) else []))
            print("closed", flush=True)
    """)
    process = start(code, cluster.bootstrap_servers)
    assert process.stdout is not None
    assert process.stdout.readline() == "blocked\n", process.communicate()
    time.sleep(0.3)  # let it really block; too early is no failure, only a weaker test
    process.send_signal(signal.SIGINT)
    exit_code, out, stderr = finish(process)
    assert exit_code == 0, stderr
    assert out.splitlines() == ["interrupted", "closed"]
    assert "Traceback" not in stderr
    assert "Warning" not in stderr


FORKED = {
    "consumer": ("client = consumer(); client.subscribe([topic]); client.poll(0.1)", "client.poll(1)"),
    "producer": ("client = producer(); client.produce(topic, b'x'); client.flush()", "client.produce(topic, b'x')"),
    "flush": ("client = producer(); client.produce(topic, b'x'); client.flush()", "client.flush(1)"),
    "admin": (
        "client = AdminClient({'bootstrap.servers': servers}); client.list_topics(timeout=60)",
        "client.list_topics(timeout=60)",
    ),
}


@pytest.mark.parametrize("name", sorted(FORKED))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_client_says_so_and_the_parent_goes_on(cluster: EmbeddedCluster, name: str) -> None:
    prepare, use = FORKED[name]
    code = f"""
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
{prepare}
child = os.fork()
if child == 0:
    try:
        {use}
    except StateError as error:
        print("child:", error, flush=True)
    client.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
print(status)
{use}
client.close()
print("parent went on")
"""
    out = run(code, cluster.bootstrap_servers)
    child, status, parent = out.splitlines()
    assert child.startswith("child:")
    assert "fork" in child
    assert (status, parent) == ("0", "parent went on")


ON_A_LOOP = {
    "producer": (
        "AIOProducer({**conf, 'linger.ms': 100})",
        ["await (await client.produce('aio', b'x'))", "await client.flush(1)"],
    ),
    "producer with records": (
        "AIOProducer({**conf, 'linger.ms': 100})",
        ["await client.produce('aio', b'x')", "await client.flush(60)"],
    ),
    "consumer": (
        "AIOConsumer({**conf, 'group.id': 'aio-fork', 'auto.offset.reset': 'earliest'})",
        [
            "await client.subscribe([topic]), await client.poll(60)",
            "await client.consume(1, 60)",
            "[await anext(aiter(client))]",
            "await client.commit(asynchronous=False)",
        ],
    ),
    "share consumer": (
        "AIOShareConsumer({**conf, 'group.id': 'aio-share'})",
        ["await client.subscribe([topic]), await client.poll(0.5)", "await client.poll(0.1)"],
    ),
    "admin": ("AIOAdminClient(conf)", ["await client.list_topics()"]),
}


@pytest.mark.parametrize("name", sorted(ON_A_LOOP))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_client_on_a_loop_says_that_it_was_forked_and_leaves_the_parents_connections_alone(
    cluster: EmbeddedCluster, name: str
) -> None:
    make, uses = ON_A_LOOP[name]
    begin = uses[0]
    tries = "".join(
        f"""
        try:
            print("went through:", await asyncio.wait_for(use{number}(), 20), flush=True)
        except StateError as error:
            print("child:", error, flush=True)"""
        for number in range(len(uses))
    )
    calls = "".join(
        f"""
    async def use{number}():
        return {use}"""
        for number, use in enumerate(uses)
    )
    code = f"""
import asyncio, logging, warnings
from kafka_core.admin import AIOAdminClient
from kafka_core.aio import AIOConsumer, AIOProducer, AIOShareConsumer
warnings.simplefilter("ignore", DeprecationWarning)
logging.basicConfig(level=logging.WARNING, stream=sys.stdout)
logging.getLogger("asyncio").setLevel(logging.ERROR)  # its debug mode complains of a slow machine
conf = {{"bootstrap.servers": servers}}
writer = producer(); [writer.produce(topic, b"x") for _ in range(9)]; writer.flush(); writer.close()

async def parent():
    client, unused = {make}, {make}
    {calls}
    {begin}

    async def child():
        {tries}
        await asyncio.wait_for(client.close(), 20)

    pid = os.fork()
    if pid == 0:
        asyncio.run(child())
        asyncio.run(unused.close())
        os._exit(0)
    _, status = await asyncio.to_thread(os.waitpid, pid, 0)
    print(status)
    {begin}
    await client.close()
    await unused.close()
    print("parent went on", flush=True)

asyncio.run(parent())
"""
    lines = run(code, cluster.bootstrap_servers).splitlines()
    assert [line for line in lines[: len(uses)] if not line.startswith("child:") or "forked" not in line] == []
    assert lines[len(uses) :] == ["0", "parent went on"]


def test_a_client_on_a_loop_that_was_not_used_before_the_fork_works_in_the_child(cluster: EmbeddedCluster) -> None:
    code = """
import asyncio, warnings
from kafka_core.aio import AIOConsumer, AIOProducer
warnings.simplefilter("ignore", DeprecationWarning)
conf = {"bootstrap.servers": servers}
writer, reader = AIOProducer(conf), AIOConsumer({**conf, "group.id": "unused"})
async def child():
    await (await writer.produce("unused", b"from the child"))
    await reader.assign([TopicPartition("unused", 0, 0)])
    print((await reader.poll(60)).value(), flush=True)
    await writer.close(), await reader.close()
pid = os.fork()
if pid == 0:
    asyncio.run(child())
    os._exit(0)
print(os.waitpid(pid, 0)[1])
"""
    assert run(code, cluster.bootstrap_servers) == "b'from the child'\n0\n"


def test_a_client_made_after_the_fork_works(cluster: EmbeddedCluster) -> None:
    code = """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        before = producer(); before.produce(topic, b"x"); before.flush()
        child = os.fork()
        if child == 0:
            with producer() as own:
                own.produce(topic, b"x", on_delivery=lambda error, message: print("delivered", error, flush=True))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        before.close()
        print(status)
    """
    assert run(code, cluster.bootstrap_servers) == "delivered None\n0\n"


OPEN = {
    "idle producer": "client = producer()",
    "producer that sent": "client = producer(); client.produce(topic, b'x'); client.flush()",
    "idle consumer": "client = consumer()",
    "consumer in a group": "client = consumer(); client.subscribe([topic]); client.poll(0.3)",
    "consumer that reads": "client = consumer(); client.assign([TopicPartition(topic, 0)]); client.poll(0.3)",
    "administrator": "client = AdminClient({'bootstrap.servers': servers}); client.list_topics(timeout=60)",
    "administrator with a future": "future = AdminClient({'bootstrap.servers': servers}).describe_cluster()",
    "consumer in a cycle": "client = consumer(); client.poll(0.1); client.me = client",
    "consumer without a broker": """
        import logging; logging.getLogger("kafka_core").setLevel(logging.CRITICAL)
        servers = '127.0.0.1:1'; client = consumer(); client.subscribe([topic]); client.poll(0.3)""",
    "dropped ones": """
        import gc
        client = producer(); client.produce(topic, b"x"); client.flush()
        client = consumer(); client.poll(0.1)
        client = AdminClient({'bootstrap.servers': servers}); client.list_topics(timeout=60)
        client = None; gc.collect()""",
    "used in atexit": """
        import atexit
        client = producer(); client.produce(topic, b"early")
        atexit.register(lambda: (client.produce(topic, b"late"), client.flush(40), client.close()))""",
}


@pytest.mark.parametrize("name", sorted(OPEN))
def test_the_interpreter_ends_without_a_word_while_clients_are_open(cluster: EmbeddedCluster, name: str) -> None:
    code, _, stderr = finish(start(OPEN[name], cluster.bootstrap_servers))
    assert code == 0, stderr
    told = [line for line in stderr.splitlines() if "records" not in line]  # lost records are told, rightly
    assert told == []


def test_a_client_that_is_first_used_in_atexit_works_or_says_why_it_can_not(cluster: EmbeddedCluster) -> None:
    code = """
        import atexit
        client = producer()
        atexit.register(lambda: (client.produce(topic, b"late"), print("left", client.flush(40)), client.close()))
    """
    exit_code, out, stderr = finish(start(code, cluster.bootstrap_servers))
    assert exit_code == 0, stderr
    if sys.version_info[:2] == (3, 12):  # lets no thread start that late
        assert "the client's thread can't be started" in stderr
        assert "ResourceWarning" not in stderr
    else:
        assert (out, stderr) == ("left 0\n", "")


def test_records_that_nobody_flushed_are_told_at_exit(cluster: EmbeddedCluster) -> None:
    code = "servers = '127.0.0.1:1'; client = producer(); [client.produce(topic, b'x') for _ in range(3)]"
    exit_code, _, stderr = finish(start(code, cluster.bootstrap_servers))
    assert exit_code == 0
    assert "3" in stderr
    assert "records" in stderr
    assert "Traceback" not in stderr


def test_closed_clients_raise_and_never_crash(cluster: EmbeddedCluster) -> None:
    code = """
        write, read, admin = producer(), consumer(), AdminClient({"bootstrap.servers": servers})
        for client in (write, read, admin):
            client.close(); client.close()
        calls = [
            lambda: write.produce(topic, b"x"), lambda: write.flush(), lambda: write.poll(0),
            lambda: write.produce_batch(topic, [{"value": b"x"}]), lambda: write.purge(), lambda: write.list_topics(),
            lambda: read.poll(0), lambda: read.consume(1, 0), lambda: read.consume_arrow(1, 0), lambda: read.commit(),
            lambda: read.subscribe([topic]), lambda: read.assignment(), lambda: read.position([]),
            lambda: read.committed([]), lambda: read.get_watermark_offsets(TopicPartition(topic, 0)),
            lambda: admin.list_topics(), lambda: admin.describe_cluster().result(), lambda: admin.poll(0),
            lambda: admin.create_topics([]), lambda: admin.list_consumer_groups().result(),
        ]
        for number, call in enumerate(calls):
            try:
                call()
            except StateError as error:
                assert "closed" in str(error), (number, error)
            except ValueError as error:
                assert number == 18, error
            else:
                print("no error", number)
        print(len(write))
    """
    assert run(code, cluster.bootstrap_servers) == "0\n"


def test_a_client_closed_by_another_thread_ends_what_blocks(cluster: EmbeddedCluster) -> None:
    code = """
        import threading
        for make, block in (
            (consumer, lambda client: client.poll()),
            (consumer, lambda client: client.consume(5)),
            (producer, lambda client: client.poll()),
            (lambda: AdminClient({"bootstrap.servers": servers}), lambda client: client.poll()),
        ):
            client, said = make(), []
            if isinstance(client, Consumer):
                client.subscribe(['empty'])
            def work():
                try:
                    block(client)
                    said.append("returned")
                except StateError as error:
                    said.append("closed" in str(error))
            thread = threading.Thread(target=work)
            thread.start()
            time.sleep(0.2)
            client.close()
            thread.join(40)
            print(thread.is_alive(), said[0] in (True, "returned"))
    """
    assert run(code, cluster.bootstrap_servers) == "False True\n" * 4


def test_a_signal_handler_may_wake_a_poll(cluster: EmbeddedCluster) -> None:
    code = """
        import signal
        client = consumer()
        client.subscribe(['empty'])
        signal.signal(signal.SIGALRM, lambda *_: client.wakeup())
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        print(client.poll(600))
        client.close()
    """
    assert run(code, cluster.bootstrap_servers) == "None\n"
