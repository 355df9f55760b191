"""`python -m kserdes.compat.confluent script.py [arguments]`, or `-m module [arguments]`: runs it on kserdes.

Must not know what it runs.
"""

from __future__ import annotations

import os
import runpy
import sys

from kserdes.compat.confluent import install

USAGE = "usage: python -m kserdes.compat.confluent (script.py | -m module) [arguments]"


def main(arguments: list[str]) -> int:
    """Runs a script or a module as `__main__`; 2 for a wrong command line."""
    if not arguments or arguments == ["-m"]:
        print(USAGE, file=sys.stderr)
        return 2
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
