"""`python -m tests.simulation_flows [--seed N | --seeds N] [--shell aio|threads]` prints what seeds violate."""

from __future__ import annotations

import argparse
import sys

from tests.simulation_flows import shells_aio, shells_threads
from tests.simulation_flows.world import Violation

SHELLS = {"aio": shells_aio.run, "threads": shells_threads.run}


def main() -> int:
    """Runs the seeds in both shells, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--shell", choices=SHELLS)
    given = parser.parse_args()
    seeds = range(given.seeds) if given.seed is None else (given.seed,)
    violated = 0
    for name in SHELLS if given.shell is None else (given.shell,):
        for seed in seeds:
            try:
                world = SHELLS[name](seed)
            except Violation as violation:
                violated += 1
                print(f"{name}: {violation}")
            else:
                if given.seed is not None:
                    print(f"{name}:", *world.trace, sep="\n")
        print(f"{name}: {len(seeds)} seeds")
    return int(violated > 0)


if __name__ == "__main__":
    sys.exit(main())
