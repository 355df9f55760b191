"""The committed message classes are what the generator writes from the real jar."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.generate_messages import main


@pytest.mark.broker
def test_committed_messages_are_those_of_the_jar(kafka_jars: Path) -> None:
    assert main(["--jar", str(next(kafka_jars.glob("kafka-clients-*.jar"))), "--check"]) == 0
