"""tools.demo: a cluster that is not there is a sentence."""

from __future__ import annotations

import pytest

from kafka_core import KafkaError, KafkaException
from registry.errors import TransportError

demo = pytest.importorskip("tools.demo.__main__", reason="needs the extra demo")


@pytest.mark.parametrize(
    "error", [KafkaException(KafkaError(KafkaError._TIMED_OUT, "no broker")), TransportError(-1, -1, "no registry")]
)
def test_a_cluster_that_is_not_there_is_a_sentence(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*_: object) -> None:
        raise error

    monkeypatch.setattr(demo, "run", run)
    assert demo.main(["--bootstrap", "a:1", "--registry", "http://a:1"]) == 2
    assert capsys.readouterr().err == f"the job can't be done: {error}\n"
