"""The client's own certificate and key, from files, from PEM texts or from a key store.

Must not know connections, nor whom the client trusts (`tls`). Only clients with TLS load it.
Spec: librdkafka's ssl.certificate.*, ssl.key.* and ssl.keystore.* properties (docs of `kafka_core.config`).
"""

import contextlib
import ssl
import tempfile
from pathlib import Path

from kafka_core.aio.net.ssl_properties import apply, given
from kafka_core.config import Config
from kafka_core.errors import ConfigError
from kserdes_base.key_store import client_pem


def load_client_certificate(context: ssl.SSLContext, config: Config) -> None:
    """Loads the certificate that the properties name, if they name one.

    Raises:
        ConfigError: a file is missing or unreadable, wrong password, a key without a certificate; names the property.
    """
    password = given(config, "ssl.key.password")
    store = given(config, "ssl.keystore.location")
    with contextlib.ExitStack() as stack:
        if store is not None:
            pem, passphrase = client_pem(store, given(config, "ssl.keystore.password"), _key_store_error)
            apply("ssl.keystore.location", context.load_cert_chain, _file_of(stack, pem), password=passphrase)
            return
        certificate = _as_file(stack, config, "ssl.certificate")
        key = _as_file(stack, config, "ssl.key")
        if certificate is None:
            if key is not None:
                raise ConfigError("a key without a certificate: set ssl.certificate.location or ssl.certificate.pem")
            return
        name = "ssl.key.location" if key is not None else "ssl.certificate.location"
        # An empty password makes OpenSSL fail on an encrypted key, where None would make it ask on the terminal.
        apply(name, context.load_cert_chain, certificate, key, password=password or "")


def _key_store_error(text: str) -> ConfigError:
    return ConfigError(f"ssl.keystore.location: {text}", property="ssl.keystore.location")


def _as_file(stack: contextlib.ExitStack, config: Config, prefix: str) -> str | None:
    """The path of `<prefix>.location`, or a private temporary file with `<prefix>.pem` (OpenSSL reads only files)."""
    location, pem = given(config, f"{prefix}.location"), given(config, f"{prefix}.pem")
    if location is not None:
        if not Path(location).is_file():
            raise ConfigError(f"{prefix}.location: no such file: {location}")
        return location
    return None if pem is None else _file_of(stack, pem)


def _file_of(stack: contextlib.ExitStack, pem: str) -> str:
    folder = stack.enter_context(tempfile.TemporaryDirectory())  # made with mode 0700
    path = Path(folder) / "part.pem"
    path.write_text(pem)
    return str(path)
