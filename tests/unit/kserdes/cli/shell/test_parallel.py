from __future__ import annotations

import threading

import pytest

from kserdes.cli.shell.parallel import THREADS, each


def test_results_come_in_the_order_of_the_items() -> None:
    assert list(each(str, range(100))) == [str(number) for number in range(100)]
    assert list(each(str, [])) == []


def test_an_error_is_raised_and_what_was_not_begun_is_not_done() -> None:
    done: list[int] = []
    failed = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            failed.set()
            raise ValueError("no")
        failed.wait()
        done.append(number)
        return number

    with pytest.raises(ValueError, match="no"):
        list(each(work, range(10_000)))
    assert len(done) < 10_000


@pytest.mark.parametrize("stop", [KeyboardInterrupt, GeneratorExit])
def test_an_interrupt_does_not_wait_for_threads(stop: type[BaseException]) -> None:
    answer = threading.Event()

    def work(number: int) -> int:
        if number:
            answer.wait()
        return number

    results = each(work, range(THREADS * 2))
    assert next(results) == 0
    try:
        if stop is GeneratorExit:
            results.close()  # type: ignore[attr-defined]
        else:
            with pytest.raises(KeyboardInterrupt):
                results.throw(KeyboardInterrupt())  # type: ignore[attr-defined]
        assert not answer.is_set()
    finally:
        answer.set()
