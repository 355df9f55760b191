"""Jars of Maven Central, kept in `$KSERDES_CACHE` (default `~/.cache/kserdes`).

Only the first call for each needs the network.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parent.parent / "tests"
FETCH_S: Final = 540


class JarsUnavailableError(RuntimeError):
    """The jars can't be had here; the text says why."""


def cache_dir() -> Path:
    """The folder outside the checkout in which fetched parts are kept."""
    return Path(os.environ.get("KSERDES_CACHE", Path.home() / ".cache" / "kserdes"))


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """While other processes of ours wait: Maven's own store is not made for two that fill it at a time."""
    cache_dir().mkdir(parents=True, exist_ok=True)
    with (cache_dir() / "maven.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def jars(name: str, project: str, **properties: str) -> Path:
    """The folder `name` of the cache, with all that a project of ours depends on.

    Args:
        project: the folder of tests/ with the pom.xml that says which jars.
        properties: of that pom.xml, with underscores for dots.

    Raises:
        JarsUnavailableError: Maven is missing or fails; its last words are in the text.
    """
    folder = cache_dir() / name
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise JarsUnavailableError(f"no Maven found, and there is no {folder}")
    with alone():
        return folder if folder.is_dir() else _fetch(maven, folder, project, properties)


def _fetch(maven: str, folder: Path, project: str, properties: dict[str, str]) -> Path:
    name = folder.name
    partial = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
    given = [f"-D{key.replace('_', '.')}={value}" for key, value in properties.items()]
    goal = "dependency:copy-dependencies"
    done = subprocess.run(
        [maven, "-q", "-B", "-f", str(TESTS / project / "pom.xml"), goal, f"-DoutputDirectory={partial}", *given],
        capture_output=True,
        text=True,
        timeout=FETCH_S,
        check=False,
    )
    if done.returncode != 0:
        shutil.rmtree(partial, ignore_errors=True)
        raise JarsUnavailableError(f"Maven could not fetch {name}: {(done.stdout + done.stderr)[-800:]}")
    return partial.rename(folder)
