"""TLS of the registry client: the context its files make, and whether httpx has to see the rest at once.

Must not know httpx: a client is made without it, and what is wrong with a configuration is said then.
"""

from __future__ import annotations

import os
import ssl

from registry.client.config import ClientConfig

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables of the environment that httpx takes certificates from."""
PROXY = "_proxy"
"""The end of the names of variables that httpx takes proxies from, in any case: HTTPS_PROXY, all_proxy, NO_PROXY."""


class MissingFileError(ValueError, FileNotFoundError):
    """A TLS file of the configuration is not there."""


class UnusableFileError(ValueError, ssl.SSLError):
    """A TLS file of the configuration has the wrong content."""


def tls_context(config: ClientConfig) -> ssl.SSLContext | bool:
    """The TLS context for httpx; True for its own.

    Raises:
        ValueError: a file can't be read; it is a FileNotFoundError, too, if it is not there, and an ssl.SSLError if it
            is not PEM, as confluent_kafka raises them.
    """
    if config.verify and config.ca_location is None and config.certificate_location is None:
        return True
    try:
        context = ssl.create_default_context(cafile=config.ca_location)
        if config.certificate_location is not None:
            context.load_cert_chain(config.certificate_location, config.key_location, config.key_password)
    except OSError as error:
        files = [str(name) for name in (config.ca_location, config.certificate_location, config.key_location) if name]
        kind: type[ValueError] = ValueError
        if isinstance(error, FileNotFoundError | ssl.SSLError):
            kind = UnusableFileError if isinstance(error, ssl.SSLError) else MissingFileError
        raise kind(f"the TLS files of the registry client ({', '.join(files)}) can't be used: {error}") from error
    if not config.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def needs_httpx(config: ClientConfig, *, network: bool) -> bool:
    """Whether the client is made with httpx's at once: httpx alone can tell that a proxy or certificates of the
    environment are of no use, and the constructor is the place to say so. Otherwise the first request makes it.

    Args:
        config: the client's configuration.
        network: whether requests go out; what is in this process asks for neither certificates nor variables.
    """
    if config.proxy is not None:
        return True
    return network and any(
        value and (name in CERTIFICATES or name.lower().endswith(PROXY)) for name, value in os.environ.items()
    )
