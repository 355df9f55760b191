"""The documents: their links lead to files; their examples run, every `python` block of a page in one namespace."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from kafka_core.broker import EmbeddedCluster
from kserdes.compat.aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from registry import SchemaRegistryClient, SchemaRegistryError
from registry.dev import serve

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPARK = re.compile(r"^from pipeline import", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGES = [path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))]


def run(path: str, monkeypatch: pytest.MonkeyPatch, replaced: Mapping[str, str] | None = None) -> None:
    """Runs a page's blocks but for those of Spark, as they are written but for addresses."""
    blocks = [block for block in BLOCK.findall((ROOT / path).read_text()) if SPARK.search(block) is None]
    assert blocks
    module = types.ModuleType(re.sub(r"\W", "_", path))  # classes look for the module they are made in
    monkeypatch.setitem(sys.modules, module.__name__, module)
    namespace: dict[str, Any] = module.__dict__
    for block in blocks:
        for old, new in (replaced or {}).items():
            block = block.replace(old, new)
        exec(compile(block, path, "exec"), namespace)
    for value in list(namespace.values()):
        if isinstance(value, SchemaRegistryClient | httpx.Client):  # which services keep open as long as they run
            value.close()


@pytest.mark.parametrize(
    "name",
    [
        "avro",
        "columns",
        "columns-avro",
        "columns-json",
        "data-contracts",
        "json-schema",
        "migrating-simple",
        "protobuf",
        "registry-client",
        "transactions",
        "typed-models",
    ],
)
def test_the_examples_of_a_guide_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run(f"docs/guide/{name}.md", monkeypatch)


def test_the_examples_of_the_embedded_registry_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    issued = trustme.CA().issue_cert("localhost")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "chain.pem")
    monkeypatch.chdir(tmp_path)
    run("docs/rest-api.md", monkeypatch)


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (
            "docs/guide/share-groups.md",
            [
                "b'ann@example.org' 1",
                "b'nonsense' 1",
                "b'bob@example.org' 1",
                "b'ann@example.org' True 2",
                "b'nonsense' False 2",
                "b'bob@example.org' True 2",
                "mails 0 None",
                "0",
                "['mailers']",
                "ConsumerGroupState.EMPTY []",
                "mails 0 0 0 None",
                "[(0, None)]",
            ],
        ),
        ("docs/guide/metrics.md", ["b'ann@example.org' []"]),
        (
            "docs/guide/migrating-kafka-python.md",
            [
                *("clicks [0] @ 0", "1", "b'a' 1", "b'a' 2", "b'{\"n\": 1}'"),
                *(
                    "0",
                    "b'a' 1 [('h', b'1')]",
                    "1 1 1",
                    "OffsetAndMetadata(offset=1, metadata='seen', leader_epoch=-1)",
                ),
            ],
        ),
    ],
)
def test_the_examples_with_a_broker_run(
    path: str, lines: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with EmbeddedCluster() as cluster, serve() as registry:
        addresses = {"localhost:9092": cluster.bootstrap_servers, "http://localhost:8081": registry.url}
        run(path, monkeypatch, addresses)
    assert capsys.readouterr().out.splitlines()[: len(lines)] == lines


def test_the_example_of_the_levels_prints_what_the_page_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs/compatibility.md").read_text()
    shown = re.search(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert shown is not None
    run("docs/compatibility.md", monkeypatch)
    assert capsys.readouterr().out == shown[1]


def test_the_examples_of_groups_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with EmbeddedCluster() as cluster:
        run("docs/guide/groups.md", monkeypatch, {"localhost:9092": cluster.bootstrap_servers})
    assert capsys.readouterr().out == ""


def test_the_examples_of_telemetry_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with EmbeddedCluster(properties={"metric.reporters": "mine"}) as cluster:
        run("docs/guide/telemetry.md", monkeypatch, {"localhost:9092": cluster.bootstrap_servers})
    assert len(capsys.readouterr().out.split()) == 1  # the client's id


def test_the_examples_for_aiokafka_copy_records(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with EmbeddedCluster() as cluster:
        run("docs/guide/migrating-aiokafka.md", monkeypatch, {"localhost:9092": cluster.bootstrap_servers})
        guide = sys.modules["docs_guide_migrating_aiokafka_md"]

        async def follow() -> None:
            place = cluster.bootstrap_servers
            async with AIOKafkaProducer(bootstrap_servers=place) as feeding:
                await feeding.send_and_wait("source", b"a record")
            async with AIOKafkaConsumer(bootstrap_servers=place, group_id="copiers") as first:
                first.assign([TopicPartition("source", 0)])
                await first.commit({TopicPartition("source", 0): 0})
            copying = asyncio.create_task(guide.copy("source", "target"))
            conf: dict[str, Any] = {"bootstrap_servers": place, "auto_offset_reset": "earliest"}
            try:
                async with AIOKafkaConsumer("target", **conf) as consumer:
                    assert (await asyncio.wait_for(consumer.getone(), 60)).value == b"a record"
            finally:
                copying.cancel()
                await asyncio.gather(copying, return_exceptions=True)

        asyncio.run(follow())
    assert capsys.readouterr().out.splitlines()[0] == "target 0 0"


def test_the_examples_of_the_readme_run_one_by_one_and_close_what_they_open(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = [block for block in BLOCK.findall((ROOT / "README.md").read_text()) if SPARK.search(block) is None]
    opened = 0
    with EmbeddedCluster() as cluster, serve() as registry:
        before = {*threading.enumerate()}
        for number, block in enumerate(blocks):
            module = types.ModuleType(f"readme_{number}")
            monkeypatch.setitem(sys.modules, module.__name__, module)
            block = block.replace("localhost:9092", cluster.bootstrap_servers).replace(
                "http://localhost:8081", registry.url
            )
            exec(compile(block, f"README.md, example {number}", "exec"), module.__dict__)
            for client in [value for value in vars(module).values() if isinstance(value, SchemaRegistryClient)]:
                opened += 1
                with pytest.raises(SchemaRegistryError, match="closed"):
                    client.get_subjects()
            left = {thread for thread in threading.enumerate() if thread not in before and "kafka" in thread.name}
            assert left == set(), f"example {number} leaves a client open"
    lines = capsys.readouterr().out.splitlines()
    assert (len(blocks), opened) == (3, 2)
    assert lines[0] == "flights 0 {'carrier': 'UA', 'number': 1545}"
    assert "http://127.0.0.1:" in lines[1]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page: str) -> None:
    targets = [target for target in LINK.findall(FENCED.sub("", (ROOT / page).read_text())) if ":" not in target]
    lost = [target for target in targets if not (ROOT / page).parent.joinpath(target.partition("#")[0]).exists()]
    assert lost == []
