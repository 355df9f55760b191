"""Many records through one share group, and members that are killed: each is accepted; without kills exactly once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from kafka_core import ShareConsumer
from tests.contract.clusters import Cluster, fill
from tests.contract.groups import numbers
from tests.contract.share_groups import good, share_conf, share_group

pytestmark = pytest.mark.slow
KINDS = [pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)]
COUNT, MEMBERS, PARTITIONS = 100_000, 4, 4
LIMIT_S = 240.0
LIMIT = 200
"""Records of one poll, so that a killed member can have accepted no more without noting it."""
QUIET_S = 8.0

MEMBER = """
import json, sys
from kafka_core import ShareConsumer

conf, topic, path = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
with ShareConsumer(conf) as consumer, open(path, "a") as out:
    consumer.subscribe([topic])
    while True:
        values = [message.value().decode() for message in consumer.poll(1.0) if message.error() is None]
        if values and set(consumer.commit_sync().values()) == {None}:
            out.write("".join(f"{value}\\n" for value in values))
            out.flush()
"""


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue(request.param)
    return found


def filled(cluster: Cluster) -> str:
    topic, part = cluster.topic(PARTITIONS), COUNT // PARTITIONS
    for partition in range(PARTITIONS):
        fill(cluster, topic, numbers(part, partition * part), partition)
    return topic


@pytest.mark.parametrize("kills", [0, 8])
def test_every_record_is_accepted(cluster: Cluster, tmp_path: Path, kills: int) -> None:
    """Members note what they have accepted, after the commit's answer; a killed one may have accepted more."""
    topic, group = filled(cluster), share_group(cluster, share_record_lock_duration_ms="1000")
    conf = json.dumps(share_conf(cluster, group, max_poll_records=LIMIT, share_acquire_mode="record_limit"))
    running: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}-{time.monotonic_ns()}"
        path.touch()
        running.append(subprocess.Popen([sys.executable, "-c", MEMBER, conf, topic, str(path)], cwd=os.getcwd()))

    def accepted() -> Counter[int]:
        lines = (line for path in tmp_path.iterdir() for line in path.read_text().splitlines(keepends=True))
        return Counter(int(line) for line in lines if line.endswith("\n"))

    try:
        for _ in range(MEMBERS):
            start()
        deadline_s, killed = time.monotonic() + LIMIT_S, 0
        found = accepted()
        while (killed < kills or len(found) < (COUNT if not kills else COUNT // 2)) and time.monotonic() < deadline_s:
            if killed < kills and sum(found.values()) > (killed + 1) * COUNT // (kills + 2):
                victim = running.pop(0)
                victim.send_signal(signal.SIGKILL)
                victim.wait()
                killed += 1
                start()
            time.sleep(0.2)
            found = accepted()
    finally:
        for process in running:
            process.kill()
            process.wait()
    found = accepted()
    assert killed == kills
    if not kills:
        assert len(found) == COUNT
        assert set(found.values()) == {1}
        return
    lost = (killed + MEMBERS) * LIMIT  # accepted by members, the last ones too, that were killed before they noted it
    with ShareConsumer(share_conf(cluster, group)) as rest:  # what nobody has accepted
        rest.subscribe([topic])
        # Killed members keep their partitions until their sessions have ended.
        deadline_s, until_s = time.monotonic() + LIMIT_S, time.monotonic() + QUIET_S
        while time.monotonic() < until_s or (COUNT - len(found) > lost and time.monotonic() < deadline_s):
            values = [int(message.value()) for message in good(rest.poll(0.5))]
            assert found.keys().isdisjoint(values)  # what was accepted is given to nobody again
            if set(rest.commit_sync().values()) <= {None}:
                found.update(values)
            else:  # some of them may be accepted
                lost += len(values)
            until_s = time.monotonic() + QUIET_S if values else until_s
    assert COUNT - len(found) <= lost
