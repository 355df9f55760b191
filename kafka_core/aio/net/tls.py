"""TLS for broker connections: the context made of the ssl.* properties.

Must not know connections; nothing here waits. `client_certificate` loads the client's own certificate.
Spec: librdkafka's ssl.* properties (docs of `kafka_core.config`).
"""

import ssl
from pathlib import Path

from kafka_core.aio.net.ssl_properties import apply, given
from kafka_core.config import Config


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
    ready = config["ssl.context"]
    if isinstance(ready, ssl.SSLContext):
        return ready
    from kafka_core.aio.net.client_certificate import load_client_certificate  # few clients have TLS, or a key store

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _set_trust(context, config)
    _load_ca(context, config)
    load_client_certificate(context, config)
    ciphers = given(config, "ssl.cipher.suites")
    if ciphers is not None:
        apply("ssl.cipher.suites", context.set_ciphers, ciphers)
    return context


def _set_trust(context: ssl.SSLContext, config: Config) -> None:
    if not config.flag("enable.ssl.certificate.verification"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return
    algorithm = (given(config, "ssl.endpoint.identification.algorithm") or "none").lower()
    context.check_hostname = algorithm == "https"
    context.verify_mode = ssl.CERT_REQUIRED


def _load_ca(context: ssl.SSLContext, config: Config) -> None:
    location, pem = given(config, "ssl.ca.location"), given(config, "ssl.ca.pem")
    if location is not None and location != "probe":
        if Path(location).is_dir():
            apply("ssl.ca.location", context.load_verify_locations, capath=location)
        else:
            apply("ssl.ca.location", context.load_verify_locations, location)
    if pem is not None:
        apply("ssl.ca.pem", context.load_verify_locations, cadata=pem)
    if pem is None and location in (None, "probe"):
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    crl = given(config, "ssl.crl.location")
    if crl is not None:
        apply("ssl.crl.location", context.load_verify_locations, crl)
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
