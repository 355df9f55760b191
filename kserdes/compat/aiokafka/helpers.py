"""`aiokafka.helpers`: a TLS context from files.

Must not know clients.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from ssl import Purpose, SSLContext, create_default_context

__all__ = ["create_ssl_context"]

File = str | bytes | PathLike[str] | PathLike[bytes]


def create_ssl_context(
    *,
    cafile: File | None = None,
    capath: File | None = None,
    cadata: str | bytes | bytearray | memoryview | None = None,
    certfile: File | None = None,
    keyfile: File | None = None,
    password: Callable[[], str | bytes | bytearray] | str | bytes | bytearray | None = None,
) -> SSLContext:
    """A context that trusts these authorities (by default the system's) and checks host names.

    Args:
        cafile: a PEM file with authorities; `capath`: a folder of them; `cadata`: PEM text or DER bytes.
        certfile: a PEM file with the client's certificate, and maybe its chain and key.
        keyfile: a PEM file with its key, if that is not in `certfile`.
        password: of the key, or a function that gives it.

    Raises:
        OSError, ssl.SSLError: a file is missing or unusable.
    """
    context = create_default_context(Purpose.SERVER_AUTH, cafile=cafile, capath=capath, cadata=cadata)
    if certfile is not None:
        context.load_cert_chain(certfile, keyfile, password)
    return context
