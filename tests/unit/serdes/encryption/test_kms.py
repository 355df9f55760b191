"""serdes.encryption.kms: which driver a key has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from serdes.encryption import KmsClient, register_kms_driver, reset_kms_drivers
from serdes.encryption.kms import BUILT_IN, kms_driver
from serdes.encryption.local import LocalKmsClient, LocalKmsDriver, _derive
from serdes.rules import RuleError


class Own:
    def __init__(self, prefix: str = "local-kms://") -> None:
        self.prefix = prefix

    def get_key_url_prefix(self) -> str:
        return self.prefix

    def new_kms_client(self, conf: Mapping[str, Any], key_url: str) -> KmsClient:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    reset_kms_drivers()


@pytest.mark.parametrize("prefix", BUILT_IN)
def test_built_in_drivers_are_found_by_their_prefix(prefix: str) -> None:
    driver: Any = kms_driver(f"{prefix}key")
    assert driver.get_key_url_prefix() == prefix
    driver.register()
    assert type(kms_driver(f"{prefix}key")) is type(driver)


def test_an_added_driver_comes_first_the_newest_before_the_others() -> None:
    first, second, other = Own(), Own(), Own("other://")
    for driver in (first, second, other):
        register_kms_driver(driver)
    assert kms_driver("local-kms://key") is second
    assert kms_driver("other://key") is other
    reset_kms_drivers()
    assert kms_driver("local-kms://key") is not second


def test_an_unknown_service_is_named_with_those_there_are() -> None:
    with pytest.raises(RuleError, match=r"no KMS driver for key 'nope://x': built in are local-kms://, hcvault://"):
        kms_driver("nope://x")


# ---- local


def test_the_key_is_derived_as_rfc_5869_says() -> None:
    # Test case 3 of RFC 5869: no salt, no info.
    assert _derive(b"\x0b" * 22, 16).hex() == "8da4e775a563c18f715f802a063c5a31"


def test_the_shared_secret_decrypts() -> None:
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
