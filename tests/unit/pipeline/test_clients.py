"""pipeline.columns.clients: one registry client of a process for each configuration."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import uuid
from collections import OrderedDict
from typing import Any

import pytest

from pipeline.columns import clients
from pipeline.columns.clients import shared_client
from tests.patience import PROCESS_S


def conf(**more: Any) -> dict[str, Any]:
    return {"url": f"mock://{uuid.uuid4()}", **more}


def test_equal_configurations_share_a_client() -> None:
    given = conf(timeout=5)
    assert shared_client(given) is shared_client(dict(reversed(given.items())))
    assert shared_client(given) is not shared_client({**given, "timeout": 6})


def test_functions_are_told_apart_by_identity() -> None:
    def made() -> Any:
        return lambda config: {"bearer.auth.token": "t"}

    custom = {
        "bearer.auth.credentials.source": "CUSTOM",
        "bearer.auth.custom.provider.config": {},
        "bearer.auth.custom.provider.function": made(),
    }
    given = conf(**custom)
    assert shared_client(given) is shared_client(dict(given))
    assert shared_client({**given, "bearer.auth.custom.provider.function": made()}) is not shared_client(given)


def test_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_clients", OrderedDict())  # those of other tests have connections
    first = conf()
    kept = shared_client(first)
    for _ in range(clients._KEPT):
        shared_client(conf())
    assert shared_client(first) is not kept
    assert kept.get_subjects() == []  # whoever uses it goes on


def test_a_child_does_not_wait_for_a_thread_of_its_parent() -> None:
    script = """
    import os
    from pipeline.columns import clients
    conf = {"url": "mock://r"}
    used = clients.shared_client(conf)
    with clients._lock:
        child = os.fork()
        if child == 0:
            same = clients.shared_client(conf) is used
            os._exit(0 if same and used.get_subjects() == [] else 3)
    assert os.waitpid(child, 0)[1] == 0
    """
    # from 3.12 on Python warns of every fork of a process with threads
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S)
    assert (done.returncode, done.stderr) == (0, "")
