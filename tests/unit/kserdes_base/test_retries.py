"""kserdes_base.retries: statuses that may pass, and pauses."""

from __future__ import annotations

from kserdes_base.retries import MAY_PASS, full_jitter


def test_a_bound_doubles_up_to_the_most() -> None:
    assert [full_jitter(100, 1000, number, lambda: 1.0) for number in range(6)] == [100, 200, 400, 800, 1000, 1000]
    assert full_jitter(100, 1000, 5000, lambda: 1.0) == 1000


def test_a_pause_is_any_part_of_its_bound() -> None:
    parts = iter((0.0, 0.25, 1.0))
    assert [full_jitter(8, 100, 1, lambda: next(parts)) for _ in range(3)] == [0.0, 4.0, 16.0]


def test_refusals_do_not_pass() -> None:
    assert {408, 429, 500, 503, 599} <= MAY_PASS
    assert not {200, 400, 401, 403, 404, 409, 422} & MAY_PASS
