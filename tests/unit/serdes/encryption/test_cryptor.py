"""serdes.encryption.cryptor: three algorithms, and the form of a data key."""

from __future__ import annotations

import sys

import pytest

from registry.dek_models import DekAlgorithm
from serdes.encryption.cryptor import Cryptor, read_key, write_key
from serdes.rules import RuleError

ALGORITHMS = pytest.mark.parametrize("algorithm", list(DekAlgorithm))


@ALGORITHMS
@pytest.mark.parametrize("plain", [b"", b"12345678", b"\x00" * 10_000])
def test_there_and_back(algorithm: DekAlgorithm, plain: bytes) -> None:
    cryptor = Cryptor(algorithm)
    key = cryptor.generate_key()
    encrypted = cryptor.encrypt(key, plain)
    assert cryptor.decrypt(key, encrypted) == plain
    assert plain == b"" or plain not in encrypted
    same = cryptor.encrypt(key, plain) == encrypted
    assert same is (algorithm is DekAlgorithm.AES256_SIV)


@ALGORITHMS
def test_a_wrong_key_or_a_changed_byte_is_told(algorithm: DekAlgorithm) -> None:
    cryptor = Cryptor(algorithm)
    key = cryptor.generate_key()
    encrypted = cryptor.encrypt(key, b"secret")
    with pytest.raises(RuleError, match=r"another data key, or its .* bytes are damaged"):
        cryptor.decrypt(cryptor.generate_key(), encrypted)
    for position in range(len(encrypted)):
        changed = bytearray(encrypted)
        changed[position] ^= 1
        with pytest.raises(RuleError):
            cryptor.decrypt(key, bytes(changed))
    for size in range(len(encrypted)):
        with pytest.raises(RuleError):
            cryptor.decrypt(key, encrypted[:size])


@ALGORITHMS
def test_a_data_key_is_a_message_of_tink(algorithm: DekAlgorithm) -> None:
    size = {DekAlgorithm.AES128_GCM: 16, DekAlgorithm.AES256_GCM: 32, DekAlgorithm.AES256_SIV: 64}[algorithm]
    raw = bytes(range(size))
    written = write_key(algorithm, raw)
    assert written == bytes(((0x12 if algorithm is DekAlgorithm.AES256_SIV else 0x1A), size)) + raw
    assert read_key(algorithm, written) == read_key(algorithm, b"\x08\x00" + written) == raw
    for bad in (b"", raw, written[:-1], written + b"x", b"\x08\x01" + written):
        with pytest.raises(RuleError, match="is not one of"):
            read_key(algorithm, bad)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(RuleError, match=r"pip install cryptography \(the extra 'encryption' of kserdes\)"):
        Cryptor(DekAlgorithm.AES256_GCM)
