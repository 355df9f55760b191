"""TLS for broker connections: the context made of the ssl.* properties, and what an error in TLS means in plain words.

Must not know connections; nothing here waits.
Spec: librdkafka's ssl.* properties (docs of `kafka_core.config`); OpenSSL's verify codes; RFC 8446 §6 for alerts.
"""

import contextlib
import ssl
import tempfile
from pathlib import Path
from typing import Final

from kafka_core.config import Config
from kafka_core.errors import ConfigError, KafkaError, NetworkError
from kserdes_base.key_store import client_pem

_NOT_TRUSTED: Final = {2, 18, 19, 20, 21}
"""OpenSSL verify codes: issuer certificate missing, self-signed (alone or in the chain), no local issuer, no issuer."""
_HOST_MISMATCH: Final = {62, 64}

_NOT_TLS_REASONS: Final = {
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "HTTPS_PROXY_REQUEST",
    "UNKNOWN_PROTOCOL",
    "RECORD_LAYER_FAILURE",
    "PACKET_LENGTH_TOO_LONG",
    "UNEXPECTED_MESSAGE",
}

_ALERTS: Final = {
    "CERTIFICATE_REQUIRED": "the broker demands a client certificate: set ssl.certificate.location and "
    "ssl.key.location (or the .pem properties)",
    "UNKNOWN_CA": "the broker does not trust the CA of our client certificate (ssl.certificate.location)",
    "BAD_CERTIFICATE": "the broker refused our client certificate (ssl.certificate.location), or demands one",
    "CERTIFICATE_EXPIRED": "the broker says that our client certificate has expired (ssl.certificate.location)",
    "CERTIFICATE_UNKNOWN": "the broker refused our client certificate (ssl.certificate.location)",
    "CERTIFICATE_REVOKED": "the broker says that our client certificate was revoked (ssl.certificate.location)",
    "HANDSHAKE_FAILURE": "the broker found no cipher in common or demands a client certificate "
    "(ssl.cipher.suites, ssl.certificate.location)",
    "PROTOCOL_VERSION": "the broker and this client have no TLS version in common",
    "UNRECOGNIZED_NAME": "the broker has no certificate for this host name",
}


def make_context(config: Config) -> ssl.SSLContext | None:
    """The TLS context for `security.protocol` SSL and SASL_SSL; None for the plaintext ones.

    It is `ssl.context` if that is given; else it is made of the other properties:

    Without ssl.ca.location and ssl.ca.pem the system's trusted CAs count. The host name is checked unless
    ssl.endpoint.identification.algorithm is `none`; nothing is checked when enable.ssl.certificate.verification is off.

    Raises:
        ConfigError: a file is missing or unreadable, wrong key password, unknown cipher; names the property.
    """
    if not config.text("security.protocol").upper().endswith("SSL"):
        return None
    given = config["ssl.context"]
    if isinstance(given, ssl.SSLContext):
        return given
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _set_trust(context, config)
    _load_ca(context, config)
    _load_client_certificate(context, config)
    ciphers = _text(config, "ssl.cipher.suites")
    if ciphers is not None:
        _apply("ssl.cipher.suites", context.set_ciphers, ciphers)
    return context


def _text(config: Config, name: str) -> str | None:
    """An optional property; an empty one counts as not given."""
    return config.optional_text(name) or None


def _apply(name: str, load: object, *args: object, **options: object) -> None:
    """Call one of the context's loaders; its errors become ConfigErrors that name the property."""
    assert callable(load)
    try:
        load(*args, **options)
    except FileNotFoundError as error:
        raise ConfigError(f"{name}: no such file: {args[0] if args else options}") from error
    except (OSError, ValueError, TypeError) as error:  # ssl.SSLError is an OSError
        reason = getattr(error, "reason", None) or error
        raise ConfigError(f"{name}: cannot be used: {reason}") from error


def _set_trust(context: ssl.SSLContext, config: Config) -> None:
    if not config.flag("enable.ssl.certificate.verification"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return
    algorithm = (_text(config, "ssl.endpoint.identification.algorithm") or "none").lower()
    context.check_hostname = algorithm == "https"
    context.verify_mode = ssl.CERT_REQUIRED


def _load_ca(context: ssl.SSLContext, config: Config) -> None:
    location, pem = _text(config, "ssl.ca.location"), _text(config, "ssl.ca.pem")
    if location is not None and location != "probe":
        if Path(location).is_dir():
            _apply("ssl.ca.location", context.load_verify_locations, capath=location)
        else:
            _apply("ssl.ca.location", context.load_verify_locations, location)
    if pem is not None:
        _apply("ssl.ca.pem", context.load_verify_locations, cadata=pem)
    if pem is None and location in (None, "probe"):
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    crl = _text(config, "ssl.crl.location")
    if crl is not None:
        _apply("ssl.crl.location", context.load_verify_locations, crl)
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _load_client_certificate(context: ssl.SSLContext, config: Config) -> None:
    password = _text(config, "ssl.key.password")
    store = _text(config, "ssl.keystore.location")
    with contextlib.ExitStack() as stack:
        if store is not None:
            pem, passphrase = client_pem(store, _text(config, "ssl.keystore.password"), _key_store_error)
            _apply("ssl.keystore.location", context.load_cert_chain, _file_of(stack, pem), password=passphrase)
            return
        certificate = _as_file(stack, config, "ssl.certificate")
        key = _as_file(stack, config, "ssl.key")
        if certificate is None:
            if key is not None:
                raise ConfigError("a key without a certificate: set ssl.certificate.location or ssl.certificate.pem")
            return
        name = "ssl.key.location" if key is not None else "ssl.certificate.location"
        # An empty password makes OpenSSL fail on an encrypted key, where None would make it ask on the terminal.
        _apply(name, context.load_cert_chain, certificate, key, password=password or "")


def _key_store_error(text: str) -> ConfigError:
    return ConfigError(f"ssl.keystore.location: {text}", property="ssl.keystore.location")


def _as_file(stack: contextlib.ExitStack, config: Config, prefix: str) -> str | None:
    """The path of `<prefix>.location`, or a private temporary file with `<prefix>.pem` (OpenSSL reads only files)."""
    location, pem = _text(config, f"{prefix}.location"), _text(config, f"{prefix}.pem")
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


def tls_error(error: BaseException, broker: str, host: str) -> NetworkError:
    """The error, in plain words, for a TLS error during the handshake or later.

    Certificate problems have code _SSL (trying again will not help); a connection that just ended has _TRANSPORT.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return NetworkError(f"{broker}: TLS: {_verification_text(error, host)}", KafkaError._SSL)
    reason = getattr(error, "reason", None) or ""
    if reason in _NOT_TLS_REASONS:
        return NetworkError(
            f"{broker}: the port does not speak TLS: set security.protocol=PLAINTEXT or SASL_PLAINTEXT, "
            "or use the broker's TLS port",
            KafkaError._SSL,
        )
    for alert, text in _ALERTS.items():
        if reason.endswith(f"ALERT_{alert}"):
            return NetworkError(f"{broker}: TLS: {text}", KafkaError._SSL)
    if isinstance(error, (ssl.SSLEOFError, ConnectionError)) or not isinstance(error, ssl.SSLError):
        return NetworkError(
            f"{broker}: the connection was closed during the TLS handshake; does the port speak TLS? "
            "(a plaintext listener needs security.protocol=PLAINTEXT or SASL_PLAINTEXT)",
            KafkaError._TRANSPORT,
        )
    return NetworkError(f"{broker}: TLS failed: {reason or error}", KafkaError._SSL)


def _verification_text(error: ssl.SSLCertVerificationError, host: str) -> str:
    if error.verify_code == 10:
        return "the broker's certificate has expired"
    if error.verify_code == 9:
        return "the broker's certificate is not valid yet (is this machine's clock right?)"
    if error.verify_code in _HOST_MISMATCH:
        return (
            f"the broker's certificate is not for host {host!r}; connect by a name that it carries "
            "(or set ssl.endpoint.identification.algorithm=none if you know the host by other means)"
        )
    if error.verify_code in _NOT_TRUSTED:
        return (
            f"the broker's certificate is not trusted ({error.verify_message}); "
            "set ssl.ca.location or ssl.ca.pem to the CA that signed it"
        )
    return f"the broker's certificate was refused: {error.verify_message}"
