"""The entry point of the command line `kserdes`; the commands are in `kserdes.cli.group`.

Must not import click or rich before it is sure that they are there: without the extra `cli` it says what to install.
Exit statuses beyond the commands' own: 130 after Ctrl-C, 2 if the output can't be written.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import NoReturn

__all__ = ["main"]

NEEDED = ("click", "rich")
MISSING = "kserdes: the command line needs click and rich: pip install click rich (the extra 'cli' of kserdes)"
UNUSABLE = 2
INTERRUPTED = 130
NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def main() -> None:
    """Runs the command line of this process and ends it with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the terminal's encoding lacks is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    try:
        raise SystemExit(_status())
    except KeyboardInterrupt:
        _interrupted()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        print(MISSING, file=sys.stderr)
    except OSError as error:
        if error.errno not in NO_OUTPUT:
            raise
        print(f"kserdes: the output can't be written: {error.strerror}", file=sys.stderr)
    raise SystemExit(UNUSABLE)


def _status() -> int:
    """Runs the command line; its exit status.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it.
    """
    import click

    from kserdes.cli.group import kserdes

    try:
        status = kserdes.main(prog_name="kserdes", standalone_mode=False)
    except click.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        print("Aborted!", file=sys.stderr)
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return status if isinstance(status, int) else 0


def _interrupted() -> NoReturn:
    """Ends the process at once: threads may wait for a registry, and nobody waits for what they find out."""
    print("interrupted", file=sys.stderr)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(INTERRUPTED)
