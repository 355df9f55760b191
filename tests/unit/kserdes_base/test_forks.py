"""kserdes_base.forks: who is told in a forked child, in which order, and what one failure does to the others."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from tests.patience import PROCESS_S

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def forked(code: str) -> subprocess.CompletedProcess[str]:
    """A process that runs `code` and forks; `told` is a list of what its clients were told in the child."""
    setting = """
    import gc, os, sys
    from kserdes_base.forks import share_no_fork

    told = []

    class Client:
        def __init__(self, name, fails=False):
            self.name, self.fails = name, fails
            share_no_fork(self)

        def __eq__(self, other):
            raise AssertionError("clients are not compared")

        __hash__ = None

        def _after_fork(self):
            told.append(self.name)
            if self.fails:
                raise RuntimeError(f"{self.name} has had enough")
    """
    end = """
    if os.fork() == 0:
        print(*told, flush=True)
        os._exit(0)
    os.wait()
    assert told == [], "the parent was told"
    """
    text = textwrap.dedent(setting) + textwrap.dedent(code) + textwrap.dedent(end)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=PROCESS_S)


def test_clients_are_told_in_the_order_in_which_they_came() -> None:
    done = forked("kept = [Client(str(number)) for number in range(200)]")
    assert done.stdout.split() == [str(number) for number in range(200)], done.stderr


def test_a_client_that_is_gone_is_not_told() -> None:
    done = forked("kept, gone = Client('kept'), Client('gone'); del gone; gc.collect()")
    assert (done.returncode, done.stdout.split()) == (0, ["kept"])


def test_a_client_that_fails_keeps_no_other_one_from_being_told() -> None:
    done = forked("kept = [Client('a'), Client('b', fails=True), Client('c')]")
    assert done.stdout.split() == ["a", "b", "c"]
    assert "Client is not usable in this child process" in done.stderr
    assert "b has had enough" in done.stderr
