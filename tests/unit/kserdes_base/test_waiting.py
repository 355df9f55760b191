"""A Ctrl-C that ends no system call ends a blocking call all the same.

Such a signal comes after the interpreter's last look and before the call: no test can meet that moment. What follows
from it can be had at any time: another thread takes the signal and notes it, and the call in the main thread goes on.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from kserdes.cli.shell.parallel import each
from kserdes_base.waiting import result_of, sleep
from registry import Schema, SchemaRegistryClient
from registry.client.steps import Flow, Share, Steps
from tests.later import inside, later, once

HANG_S = 60.0


def ctrl_c_in_another_thread() -> None:
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


@contextmanager
def ended_by_ctrl_c(release: Callable[[], object]) -> Iterator[None]:
    """The block must be ended by Ctrl-C; if it is not, `release` ends its wait and the test fails."""
    released = threading.Event()

    def give_up() -> None:
        released.set()
        release()

    waits, sleeps = inside(result_of), inside(sleep)
    rescue = threading.Timer(HANG_S, give_up)
    rescue.start()
    try:
        with once(lambda: waits() or sleeps(), ctrl_c_in_another_thread), pytest.raises(KeyboardInterrupt):
            yield
        assert not released.is_set(), "Ctrl-C was noticed only when the wait was over"
    finally:
        rescue.cancel()
        rescue.join()
        release()


def test_a_wait_for_the_look_up_of_another_thread_ends_with_ctrl_c() -> None:
    answered = threading.Event()
    begun = threading.Event()

    def look_up() -> Flow[Schema]:
        begun.set()
        answered.wait()
        return Schema('"int"')
        yield

    def shared() -> Steps[Schema]:
        return (yield Share(("key",), look_up))

    with SchemaRegistryClient({"url": "http://127.0.0.1:1"}) as client:
        found: list[Schema] = []
        first = threading.Thread(target=lambda: found.append(client._drive(shared())))
        first.start()
        begun.wait()
        with ended_by_ctrl_c(answered.set):
            client._drive(shared())
        first.join()
        assert found == [Schema('"int"')], "the look-up goes on for who began it"


def test_the_pause_before_another_try_ends_with_ctrl_c() -> None:
    with ended_by_ctrl_c(lambda: None):
        sleep(HANG_S + 10)


def test_a_command_that_waits_for_its_threads_ends_with_ctrl_c() -> None:
    answered = threading.Event()
    with ended_by_ctrl_c(answered.set):
        list(each(lambda item: answered.wait(), range(2)))


def test_a_future_gives_what_it_would_give_without_slices() -> None:
    done: Future[int] = Future()
    with later(0.0, done.set_result, 7):
        assert result_of(done) == 7
    failed: Future[int] = Future()
    failed.set_exception(TimeoutError("its own"))
    with pytest.raises(TimeoutError, match="its own"):
        result_of(failed)


def test_a_sleep_lasts_as_long_as_it_was_told() -> None:
    began_s = time.monotonic()
    sleep(0.15)
    sleep(-1.0)
    assert time.monotonic() - began_s >= 0.15
