"""A registry in a file that is killed while it registers: what it acknowledged is there, and no id is given twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from registry.dev import EmbeddedRegistry
from tests.later import later

ROUNDS, PER_ROUND = 10, 20
SERVER = """
import sys
from registry.dev import EmbeddedRegistry, serve
server = serve(EmbeddedRegistry(sys.argv[1]))
print(server.url, flush=True)
sys.stdin.read()
"""


def start(path: Path, root: Path) -> tuple[subprocess.Popen[str], str]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(path)], stdin=pipe, stdout=pipe, text=True, cwd=root)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def killed(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def body(number: int) -> dict[str, str]:
    fields = [{"name": f"f{number}", "type": "int"}]
    return {"schema": json.dumps({"type": "record", "name": "R", "fields": fields})}


def test_no_acknowledged_registration_is_lost_by_kill_9(tmp_path: Path, project_root: Path) -> None:
    path, chance, acknowledged = tmp_path / "registry.db", random.Random(7), {}
    number = 0
    for _ in range(ROUNDS):
        process, url = start(path, project_root)
        try:
            with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
                for _ in range(PER_ROUND):
                    reply = client.post(f"/subjects/s{number % 5}-{number}/versions", json=body(number))
                    assert reply.status_code == 200, reply.text
                    acknowledged[number] = reply.json()["id"]
                    number += 1
                client.put(f"/config/s{number}", json={"compatibility": chance.choice(["FULL", "NONE"])})
        finally:
            killed(process)
    assert len(set(acknowledged.values())) == ROUNDS * PER_ROUND
    with EmbeddedRegistry(path) as registry:
        for at, schema_id in acknowledged.items():
            answer = registry.respond("GET", f"/subjects/s{at % 5}-{at}/versions/1")
            assert json.loads(answer.body)["id"] == schema_id


@pytest.mark.slow
def test_killed_in_the_middle_of_a_stream_of_registrations(tmp_path: Path, project_root: Path) -> None:
    """The kill comes from another thread, at any moment: between, before and within commits."""
    path, chance = tmp_path / "registry.db", random.Random(11)
    given: dict[int, int] = {}
    number = 0
    for _ in range(6):
        process, url = start(path, project_root)
        client = httpx.Client(base_url=url, trust_env=False, timeout=60)
        try:
            with later(0.2 + chance.random() / 3, process.kill), suppress(httpx.HTTPError), client:
                while True:
                    number += 1
                    reply = client.post(f"/subjects/n{number}/versions", json=body(number))
                    assert reply.json()["id"] not in given.values()
                    given[number] = reply.json()["id"]
        finally:
            killed(process)
    with EmbeddedRegistry(path) as registry:
        for at, schema_id in given.items():
            assert json.loads(registry.respond("GET", f"/subjects/n{at}/versions/1").body)["id"] == schema_id
    assert given
