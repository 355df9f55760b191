"""Seeds that must hold, in both shells; defects that must be found; and that a seed decides everything."""

from __future__ import annotations

import pytest

from tests.simulation_flows import shells_aio, shells_threads
from tests.simulation_flows.mutations import MUTATIONS
from tests.simulation_flows.world import Violation

RUN = {"aio": shells_aio.run, "threads": shells_threads.run}
SEEDS = {"aio": 600, "threads": 400}
WITHIN = 400
"""Seeds within which every mutation is found."""


@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("shell", RUN)
def test_seeds_hold(shell: str, part: int) -> None:
    for seed in range(part, SEEDS[shell], 5):
        RUN[shell](seed)


@pytest.mark.parametrize("shell", RUN)
def test_a_seed_decides_everything(shell: str) -> None:
    for seed in (1, 2, 3):
        first, second = RUN[shell](seed), RUN[shell](seed)
        assert first.trace == second.trace
        assert len(first.trace) > 20


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shell, apply = MUTATIONS[name]
    apply(monkeypatch)
    assert found_within(shell, WITHIN), f"{WITHIN} seeds don't show that {name.replace('_', ' ')}"


def found_within(shell: str, seeds: int) -> str | None:
    """The text of the first violation; it says how to run it again."""
    for seed in range(seeds):
        try:
            RUN[shell](seed)
        except Violation as violation:
            text = str(violation)
            return text if f"--shell {shell} --seed {seed}" in text else None
    return None
