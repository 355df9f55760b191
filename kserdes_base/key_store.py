"""Key stores and trust stores in PKCS#12, as PEM text for OpenSSL (`cryptography`, the extra `encryption`).

Must not know who uses them. Spec: RFC 7292; Java's keytool and `openssl pkcs12` write such files.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from kserdes_base.extras import needed

_EXTRA: Final = "encryption"
_JKS: Final = b"\xfe\xed\xfe\xed"


def client_pem(path: str, password: str | None, error: Callable[[str], Exception]) -> tuple[str, str]:
    """The private key of a key store, its certificate and the certificates that lead to its CA.

    The key is encrypted anew, so that the text can be put into a file.

    Args:
        path: the PKCS#12 file.
        password: its password; None or "" where it has none.
        error: makes what is raised of a text.

    Returns:
        PEM text, and the passphrase of the key in it.

    Raises:
        error: the file can't be read, is no PKCS#12 or has another password, or holds no key with its certificate.
    """
    store = _read(path, password, error)
    if store.key is None or store.cert is None:
        raise error(f"{path} has no private key with its certificate")
    serialization = needed("cryptography.hazmat.primitives.serialization", _EXTRA, error)
    passphrase = secrets.token_urlsafe()
    how = serialization.BestAvailableEncryption(passphrase.encode())
    key = store.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)
    chain = _chain(store.cert.certificate, [other.certificate for other in store.additional_certs])
    return key.decode() + "".join(_pem(each, error) for each in chain), passphrase


def trusted_pem(path: str, password: str | None, error: Callable[[str], Exception]) -> str:
    """All certificates of a trust store as PEM text; arguments and errors as for `client_pem`."""
    store = _read(path, password, error)
    found = [each.certificate for each in (store.cert, *store.additional_certs) if each is not None]
    if not found:
        raise error(f"{path} has no certificate")
    return "".join(_pem(each, error) for each in found)


def _read(path: str, password: str | None, error: Callable[[str], Exception]) -> Any:
    pkcs12 = needed("cryptography.hazmat.primitives.serialization.pkcs12", _EXTRA, error)
    try:
        content = Path(path).read_bytes()
    except OSError as failed:
        raise error(f"{path} can't be read: {failed.strerror}") from failed
    if content.startswith(_JKS):
        raise error(
            f"{path} is a JKS key store, which only Java reads: turn it into PKCS#12"
            " (keytool -importkeystore -srckeystore … -destkeystore … -deststoretype pkcs12)"
        )
    try:
        return pkcs12.load_pkcs12(content, password.encode() if password else None)
    except (ValueError, TypeError) as failed:
        raise error(f"{path} is no PKCS#12 file, or has another password: {failed}") from failed


def _chain(leaf: Any, others: list[Any]) -> Iterator[Any]:
    """The certificate and those that lead to its CA, each before its issuer, whatever the order in the file."""
    left = list(others)
    at: Any = leaf
    while at is not None:
        yield at
        following = next((each for each in left if each.subject == at.issuer), None)
        if following is not None:
            left.remove(following)
        at = following


def _pem(certificate: Any, error: Callable[[str], Exception]) -> str:
    serialization = needed("cryptography.hazmat.primitives.serialization", _EXTRA, error)
    text: bytes = certificate.public_bytes(serialization.Encoding.PEM)
    return text.decode()
