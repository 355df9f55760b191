"""The entry point of the command line `kserdes`; the commands are in `serdes.cli_group`.

Must not import click or rich: without the extra `cli` it says what to install.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

NEEDED = ("click", "rich")
MISSING = "kserdes: the command line needs click and rich: pip install 'kserdes[cli]'"


def main() -> None:
    """Runs the command line of this process and ends it with its exit status."""
    try:
        from serdes.cli_group import kserdes
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        print(MISSING, file=sys.stderr)
        raise SystemExit(2) from None
    kserdes(prog_name="kserdes")


if __name__ == "__main__":
    main()
