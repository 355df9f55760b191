"""kserdes_base.waiting.Wakeup: set by signal handlers, waited for in slices."""

import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from kafka_core.sync.precedence import Precedence
from kserdes_base.waiting import SLICE_S, Wakeup, slice_of
from tests.patience import PROCESS_S


def test_a_wakeup_is_consumed_once():
    wakeup = Wakeup()
    wakeup.set()
    wakeup.set()
    assert wakeup.wait(0) is True
    assert wakeup.wait(0) is False


def test_clear_forgets_what_was_set():
    wakeup = Wakeup()
    wakeup.clear()
    wakeup.set()
    wakeup.clear()
    assert wakeup.wait(0) is False


def test_a_wait_without_an_end_lasts_a_slice():
    assert Wakeup().wait(None) is False


@pytest.mark.parametrize(("seconds", "expected"), [(None, SLICE_S), (60.0, SLICE_S), (0.05, 0.05), (-1.0, 0.0)])
def test_slices(seconds: float | None, expected: float):
    assert slice_of(seconds) == expected


def test_threads_that_set_at_once_disturb_nobody():
    wakeup = Wakeup()
    threads = [threading.Thread(target=lambda: [wakeup.set() for _ in range(2000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        wakeup.wait(None)
        wakeup.clear()
    for thread in threads:
        thread.join()


def test_precedence_is_given_until_the_other_one_has_gone_or_the_time_is_over():
    precedence = Precedence()
    precedence.give()  # nobody goes: its time ends
    assert not precedence.given
    seen: list[bool] = []

    def go() -> None:
        seen.append(precedence.given)
        precedence.done()

    precedence.give(go)
    assert seen == [True]
    assert not precedence.given
    precedence.done()  # too late, which is nobody's harm
    precedence.give(go)
    assert seen == [True, True]


def test_what_was_done_before_does_not_end_the_next_precedence():
    """Whoever is through too late sets the flag: it must be reset before the other one is woken, not behind it."""
    calls: list[str] = []

    class Noted(Wakeup):
        def clear(self) -> None:
            calls.append("clear")

        def wait(self, seconds: float | None) -> bool:
            calls.append("wait")
            return True

    precedence = Precedence()
    precedence._wakeup = Noted()
    precedence.give(lambda: calls.append("wake"))
    assert calls == ["clear", "wake", "wait"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the platform has no interval timers")
def test_a_signal_handler_may_set_at_any_moment():
    """With threading.Event this process waits for itself for ever: its lock is held inside `clear` and `wait`."""
    script = """
        import signal, sys
        from kserdes_base.waiting import Wakeup
        wakeup, count = Wakeup(), 0
        def handler(*_):
            global count
            count += 1
            wakeup.set()
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        while count < 2000:
            wakeup.clear()
            wakeup.wait(0.0005)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print("through")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=PROCESS_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "through\n", "")
