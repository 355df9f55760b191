"""serdes.encryption.local: a key made from a secret."""

from __future__ import annotations

import pytest

from serdes.encryption.local import LocalKmsClient, LocalKmsDriver, _derive
from serdes.rules import RuleError


def test_the_key_is_derived_as_rfc_5869_says() -> None:
    # Test case 3 of RFC 5869: no salt, no info.
    assert _derive(b"\x0b" * 22, 16).hex() == "8da4e775a563c18f715f802a063c5a31"


def test_who_has_the_secret_can_read() -> None:
    encrypted = LocalKmsClient("s").encrypt(b"data key")
    assert LocalKmsClient("s").decrypt(encrypted) == b"data key"
    with pytest.raises(RuleError, match="can't be decrypted"):
        LocalKmsClient("t").decrypt(encrypted)


def test_the_secret_comes_from_the_configuration_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = LocalKmsDriver()
    monkeypatch.delenv("LOCAL_SECRET", raising=False)
    with pytest.raises(RuleError, match="local-kms://k: no secret"):
        driver.new_kms_client({}, "local-kms://k")
    monkeypatch.setenv("LOCAL_SECRET", "env")
    by_environment = driver.new_kms_client({}, "local-kms://k").encrypt(b"x")
    assert driver.new_kms_client({"secret": "env"}, "local-kms://k").decrypt(by_environment) == b"x"
    with pytest.raises(RuleError):
        driver.new_kms_client({"secret": "other"}, "local-kms://k").decrypt(by_environment)
