from __future__ import annotations

from pathlib import Path

import pytest

from kafka_core import KafkaError, KafkaException
from registry.errors import TransportError
from tools import real_registry
from tools.real_registry import RegistryUnavailableError, fetch


def test_cached_jars_are_not_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KSERDES_CACHE", str(tmp_path))
    monkeypatch.setattr(real_registry.shutil, "which", lambda _: None)
    jar = tmp_path / "apicurio-1.0" / "apicurio-registry-app-1.0-runner.jar"
    jar.parent.mkdir()
    jar.touch()
    assert fetch("1.0") == jar


def test_without_maven_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KSERDES_CACHE", str(tmp_path))
    monkeypatch.setattr(real_registry.shutil, "which", lambda _: None)
    with pytest.raises(RegistryUnavailableError, match="no Maven found"):
        fetch("1.0")


# ---- demo


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
