"""Common parts of commands that serve: an embedded registry that listens, and waiting for the request to end.

Must not know the commands.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kserdes.cli.shell.commands import Failure
from kserdes_base.waiting import Wakeup

if TYPE_CHECKING:
    from registry.dev import RegistryServer


def busy(what: str, option: str, host: str, port: int, error: OSError) -> Failure:
    """The error text for an address that is in use; `option` sets the port."""
    hint = f"; {option} 0 takes a free one" if port else ""
    return Failure(f"{what} can't listen on port {port} of {host}: {error.strerror or error}{hint}")


def advertised(url: str, host: str, shown: str | None) -> str:
    """A registry's URL as clients are told it.

    Args:
        url: the registry's own.
        host: where it listens.
        shown: the name or address to tell; None for `host`, or this machine's address if that is a wildcard.
    """
    if shown is None and host in ("0.0.0.0", "::"):
        from kafka_core.broker.server import own_address

        shown = own_address(host)
    old, new = (f"[{name}]" if ":" in name else name for name in (host, shown or host))
    return url.replace(f"//{old}:", f"//{new}:", 1)


@contextlib.contextmanager
def registry_server(
    host: str,
    port: int,
    data: Path | None,
    *,
    option: str = "--registry-port",
    auth: Mapping[str, str] | None = None,
    tls: tuple[Path, Path] | None = None,
) -> Iterator[RegistryServer]:
    """An embedded registry that listens, its state in the file `data` or in memory.

    Raises:
        Failure: it can't start; the text says why.
    """
    from registry.dev import EmbeddedRegistry, StorageError, serve

    try:
        registry = EmbeddedRegistry(data)
    except StorageError as error:
        raise Failure(f"{data} can't hold the registry: {error.error_message}") from error
    with registry:
        try:
            server = serve(registry, host=host, port=port, auth=auth, tls=tls)
        except OSError as error:
            raise busy("the registry", option, host, port, error) from error
        except (ImportError, ValueError) as error:
            raise Failure(str(error)) from error
        with server:
            yield server


def wait_for_end(announcement: str = "") -> None:
    """Waits for Ctrl-C or a request to end; says `announcement` once either would be noticed."""
    ended = Wakeup()
    if threading.current_thread() is not threading.main_thread():
        print(announcement, flush=True)
        while not ended.wait(None):
            continue
        return
    names = [signal.SIGINT, signal.SIGTERM]
    before = {name: signal.signal(name, lambda *_: ended.set()) for name in names}
    try:
        print(announcement)
        sys.stdout.flush()
        while not ended.wait(None):
            continue
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
