"""serdes.testing: what a project's tests get that has kserdes installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SERVICE = """
    import json
    from serdes import DeserializingConsumer, SerializingProducer
    from serdes.avro import AvroDeserializer, AvroSerializer

    def test_a_service(kafka_cluster, schema_registry, schema_registry_client):
        at = {"bootstrap.servers": kafka_cluster.bootstrap_servers}
        serializer = AvroSerializer(schema_registry_client, json.dumps("string"))
        with SerializingProducer({**at, "value.serializer": serializer}) as producer:
            producer.produce("words", value="hello")
        deserializer = AvroDeserializer(schema_registry_client)
        conf = {**at, "group.id": "g", "auto.offset.reset": "earliest", "value.deserializer": deserializer}
        with DeserializingConsumer(conf) as consumer:
            consumer.subscribe(["words"])
            assert consumer.poll(60).value() == "hello"
        assert schema_registry.registry.respond("GET", "/subjects").body == b'["words-value"]'

    def test_every_test_has_its_own(kafka_cluster, schema_registry_client):
        assert "words" not in kafka_cluster.state.topics
        assert schema_registry_client.get_subjects() == []
"""


def test_a_project_needs_no_more_than_the_names(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SERVICE)
    pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=2)


def test_options_of_the_cluster_are_a_fixture_to_override(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def kafka_cluster_options():
            return {"brokers": 3, "auto_create_topics": False}

        def test_three_brokers(kafka_cluster):
            assert len(kafka_cluster.bootstrap_servers.split(",")) == 3
        """
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_the_plugin_loads_nothing_unless_a_fixture_is_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            assert "serdes.testing" in sys.modules
            assert not {"kafka_core", "registry", "httpx", "fastavro"} & set(sys.modules)
        """
    )
    pytester.runpytest_subprocess("-p", "no:respx").assert_outcomes(passed=1)
    pytester.makepyfile("def test_it(kafka_cluster):\n    assert kafka_cluster")
    pytester.runpytest_inprocess("-p", "no:kserdes").stdout.fnmatch_lines(["*fixture 'kafka_cluster' not found*"])


def test_the_examples_of_the_testing_guide_pass(pytester: pytest.Pytester, project_root: Path) -> None:
    guide = (project_root / "docs" / "guide" / "testing.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    for at, block in enumerate(blocks):
        pytester.path.joinpath(f"test_guide_{at}.py").write_text(block)
    pytester.runpytest_inprocess().assert_outcomes(passed=4)
