from __future__ import annotations

from pathlib import Path

import pytest

from tools import real_registry
from tools.real_registry import RegistryUnavailableError, fetch


def test_what_is_in_the_cache_is_not_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
