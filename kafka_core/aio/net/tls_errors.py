"""What an error in TLS means, in plain words.

Must not know connections or contexts.
Spec: OpenSSL's verify codes; RFC 8446 §6 for alerts.
"""

import ssl
from typing import Final

from kafka_core.errors import KafkaError, NetworkError

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
