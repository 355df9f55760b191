"""serdes.encryption.keys: finding, making, rotating and decrypting data keys, against an embedded registry."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from registry import Metadata, ResponseError, RuleKind, RuleMode
from registry.client.dek import DekRegistryClient
from registry.dek_models import Dek, DekAlgorithm, Kek
from serdes.encryption.keys import MS_PER_DAY, PAUSE_MS, KeyRing, KeySettings, context_of
from serdes.rules import RuleContext, RuleError
from tests.unit.serdes.rules.samples import context, rule, schema

KEK = {"encrypt.kek.name": "kek", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "key"}
CONF = {"secret": "s"}


def asking(mode: RuleMode = RuleMode.WRITE, subject: str = "people-value", **params: str) -> RuleContext:
    chosen = rule(type="ENCRYPT", kind=RuleKind.TRANSFORM, params={**KEK, **params})
    return context(chosen, mode, subject=subject)


class Clock:
    def __init__(self) -> None:
        self.ahead_ms = 0

    def __call__(self) -> int:
        import time

        return time.time_ns() // 1_000_000 + self.ahead_ms


@pytest.fixture
def url() -> str:
    return f"mock://keys-{uuid.uuid4()}"


@pytest.fixture
def client(url: str) -> Iterator[DekRegistryClient]:
    with DekRegistryClient({"url": url}) as made:
        yield made


class Found(NamedTuple):
    """A data key of the ring, and its key."""

    dek: Dek
    key: bytes

    @property
    def version(self) -> int:
        return self.dek.version


def dek(ring: KeyRing, ctx: RuleContext, version: int | None = None) -> Found:
    return Found(*ring.dek(ctx, KeySettings.of(ctx), version))


# --- settings


def test_settings_come_from_the_rule_or_the_metadata() -> None:
    assert KeySettings.of(asking()) == KeySettings("kek", DekAlgorithm.AES256_GCM, 0, "local-kms", "key")
    named = rule(params={"encrypt.dek.algorithm": "AES256_SIV", "encrypt.dek.expiry.days": "7"})
    tagged = schema(named, metadata=Metadata(properties={"encrypt.kek.name": "m"}))
    settings = KeySettings.of(context(named, target=tagged))
    assert settings == KeySettings("m", DekAlgorithm.AES256_SIV, 7)
    assert settings.rotates


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"encrypt.kek.name": ""}, r"encrypt\.kek\.name is not set"),
        ({"encrypt.dek.algorithm": "ROT13"}, "'ROT13' is unknown: AES128_GCM, AES256_GCM, AES256_SIV"),
        ({"encrypt.dek.expiry.days": "-1"}, "must be a whole number from 0, not '-1'"),
        ({"encrypt.dek.expiry.days": "x"}, "must be a whole number from 0"),
    ],
)
def test_settings_that_can_not_be_used(params: dict[str, str], text: str) -> None:
    with pytest.raises(RuleError, match=text):
        KeySettings.of(asking(**params))


@pytest.mark.parametrize(
    ("subject", "expected"), [("s", None), (":.c:s", ".c"), (":.:s", None), (":.c:", ".c"), (":.c", ".c")]
)
def test_the_context_in_a_subject(subject: str, expected: str | None) -> None:
    assert context_of(subject) == expected


# --- keys


def test_a_writer_makes_both_keys_and_a_reader_finds_them(url: str, client: DekRegistryClient) -> None:
    written = dek(KeyRing(client, CONF, Clock()), asking())
    assert (written.version, written.dek.algorithm) == (1, DekAlgorithm.AES256_GCM)
    assert client.get_kek("kek").kms_key_id == "key"
    with DekRegistryClient({"url": url}) as other:
        read = dek(KeyRing(other, CONF, Clock()), asking(RuleMode.READ))
        assert read.key == written.key
        assert other.get_dek("kek", "people-value").encrypted_key != written.key


def test_values_of_a_context_have_their_keys_in_it(client: DekRegistryClient) -> None:
    dek(KeyRing(client, CONF, Clock()), asking(subject=":.eu:people-value"))
    assert client.get_kek("kek", context=".eu").name == "kek"
    with pytest.raises(ResponseError):
        client.get_kek("kek")


def test_each_subject_and_algorithm_has_its_key(client: DekRegistryClient) -> None:
    ring = KeyRing(client, CONF, Clock())
    keys = {
        dek(ring, asking(subject=subject, **{"encrypt.dek.algorithm": algorithm})).key
        for subject in ("a", "b")
        for algorithm in DekAlgorithm
    }
    assert len(keys) == 6


def test_a_reader_makes_nothing(client: DekRegistryClient) -> None:
    ring = KeyRing(client, CONF, Clock())
    with pytest.raises(RuleError, match=r"no key-encryption key 'kek'$"):
        dek(ring, asking(RuleMode.READ))
    client.register_kek("kek", "local-kms", "key")
    with pytest.raises(RuleError, match="no data key of 'kek' for subject 'people-value', version 1"):
        dek(ring, asking(RuleMode.READ))


def test_a_kek_is_made_only_if_it_is_known_where(client: DekRegistryClient) -> None:
    with pytest.raises(RuleError, match=r"to make it encrypt\.kms\.type and encrypt\.kms\.key\.id must be set"):
        dek(KeyRing(client, CONF, Clock()), asking(**{"encrypt.kms.key.id": ""}))


@pytest.mark.parametrize("name", ["encrypt.kms.type", "encrypt.kms.key.id"])
def test_a_rule_that_contradicts_the_registry_is_told(client: DekRegistryClient, name: str) -> None:
    ring = KeyRing(client, CONF, Clock())
    dek(ring, asking())
    with pytest.raises(RuleError, match=f"has {name} '.*', the rule says 'other'"):
        dek(ring, asking(**{name: "other"}))


def test_keys_rotate_and_old_ones_are_still_found(url: str) -> None:
    days = {"encrypt.dek.expiry.days": "1"}
    clock = Clock()
    with DekRegistryClient({"url": url}) as client:
        ring = KeyRing(client, CONF, clock)
        first = dek(ring, asking(**days))
        assert dek(ring, asking(**days)).version == 1
        clock.ahead_ms = 2 * MS_PER_DAY
        second = dek(ring, asking(**days))
        assert (first.version, second.version) == (1, 2)
        assert first.key != second.key
    with DekRegistryClient({"url": url}) as other:
        ring = KeyRing(other, CONF, clock)
        assert dek(ring, asking(RuleMode.READ, **days), 1).key == first.key
        assert dek(ring, asking(RuleMode.READ, **days), 2).key == second.key
        with pytest.raises(RuleError, match="version 3"):
            dek(ring, asking(RuleMode.READ, **days), 3)


def test_a_registry_that_does_not_say_when_a_key_was_made_gets_no_new_ones(
    client: DekRegistryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = {"encrypt.dek.expiry.days": "1"}
    dek(KeyRing(client, CONF, Clock()), asking(**days))
    ask = DekRegistryClient.get_dek

    def undated(self: DekRegistryClient, *args: Any, **more: Any) -> Any:
        return dataclasses.replace(ask(self, *args, **more), ts=None)

    monkeypatch.setattr(DekRegistryClient, "get_dek", undated)
    assert [dek(KeyRing(client, CONF, Clock()), asking(**days)).version for _ in range(3)] == [1, 1, 1]


def test_a_frame_that_names_version_0_is_not_given_another_key(client: DekRegistryClient) -> None:
    days = {"encrypt.dek.expiry.days": "1"}
    ring = KeyRing(client, CONF, Clock())
    dek(ring, asking(**days))
    with pytest.raises(RuleError, match="version '0' is not a valid version"):
        dek(ring, asking(RuleMode.READ, **days), 0)


def test_of_two_writers_both_use_the_first_one_s_key(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with DekRegistryClient({"url": url}) as one, DekRegistryClient({"url": url}) as two:
        first = dek(KeyRing(one, CONF, Clock()), asking())
        find = KeyRing._find
        blind = iter([None])  # the second looked before the first had registered

        def late(self: KeyRing, *args: Any) -> Any:
            return next(blind) if self is ring and not seen.append(1) and len(seen) == 1 else find(self, *args)

        seen: list[int] = []
        monkeypatch.setattr(KeyRing, "_find", late)
        ring = KeyRing(two, CONF, Clock())
        assert dek(ring, asking()).key == first.key
        assert len(seen) == 2


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests to the local service."""
    from serdes.encryption.local import LocalKmsClient

    seen: list[str] = []
    encrypt, decrypt = LocalKmsClient.encrypt, LocalKmsClient.decrypt
    monkeypatch.setattr(LocalKmsClient, "encrypt", lambda self, data: seen.append("encrypt") or encrypt(self, data))
    monkeypatch.setattr(LocalKmsClient, "decrypt", lambda self, data: seen.append("decrypt") or decrypt(self, data))
    return seen


class Standing(Clock):
    def __call__(self) -> int:
        return 1_800_000_000_000 + self.ahead_ms


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """One time for the writers and for the registry."""
    made = Standing()
    monkeypatch.setattr("registry.dev.handlers.deks._now_ms", made)
    return made


DAYS = {"encrypt.dek.expiry.days": "1"}


@pytest.mark.parametrize("broken", ["registry", "service"])
def test_a_rotation_that_fails_leaves_the_old_key_in_use(
    client: DekRegistryClient,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    broken: str,
) -> None:
    """For half a minute each time: neither the registry nor the service is asked again for every value."""
    ring = KeyRing(client, CONF, clock)
    first = dek(ring, asking(**DAYS))
    clock.ahead_ms = 2 * MS_PER_DAY
    tries: list[int] = []

    def refuse(*_: Any, **__: Any) -> Any:
        tries.append(1)
        raise ResponseError(500, 50001, "broken") if broken == "registry" else ConnectionError("broken")

    with monkeypatch.context() as patched:
        if broken == "registry":
            patched.setattr(client, "register_dek", refuse)
        else:
            patched.setattr("serdes.encryption.local.LocalKmsClient.encrypt", refuse)
        assert {dek(ring, asking(**DAYS)).key for _ in range(5)} == {first.key}
        assert len(tries) == 1
        assert "data key 1 of kek is used on for 30 s" in caplog.text
        with pytest.raises(RuleError, match=r"can't be registered|KEKs for kek: broken"):
            dek(ring, asking(subject="other", **DAYS))
        clock.ahead_ms += PAUSE_MS
        assert dek(ring, asking(**DAYS)).key == first.key
        assert len(tries) == 3
    clock.ahead_ms += PAUSE_MS
    assert dek(ring, asking(**DAYS)).version == 2


def test_who_was_slower_in_a_rotation_learns_the_newest_key(
    url: str, client: DekRegistryClient, clock: Clock, asked: list[str]
) -> None:
    with DekRegistryClient({"url": url}) as other:
        rings = [KeyRing(one, CONF, clock) for one in (client, other)]
        assert [dek(ring, asking(**DAYS)).version for ring in rings] == [1, 1]
        clock.ahead_ms = 2 * MS_PER_DAY
        first = dek(rings[0], asking(**DAYS))
        asked.clear()
        assert {dek(rings[1], asking(**DAYS)).key for _ in range(5)} == {first.key}
        assert asked == ["encrypt", "decrypt"]


@pytest.mark.parametrize("days", [{}, {"encrypt.dek.expiry.days": "1"}])
def test_a_service_is_asked_once(client: DekRegistryClient, url: str, asked: list[str], days: dict[str, str]) -> None:
    ring = KeyRing(client, CONF, Clock())
    made = {dek(ring, asking(**days)).key for _ in range(3)}
    assert asked == ["encrypt"]  # who makes a key need not have it decrypted
    assert {dek(ring, asking(RuleMode.READ, **days), 1).key for _ in range(3)} == made
    assert asked == ["encrypt"]
    with DekRegistryClient({"url": url}) as other:
        ring = KeyRing(other, CONF, Clock())
        assert {dek(ring, asking(RuleMode.READ, **days), 1).key for _ in range(3)} == made
        assert {dek(ring, asking(**days)).key for _ in range(3)} == made
    assert asked == ["encrypt", "decrypt"]


def test_services_are_closed_with_the_ring_and_keys_forgotten(
    client: DekRegistryClient, asked: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from serdes.encryption.local import LocalKmsClient

    ring = KeyRing(client, CONF, Clock())
    dek(ring, asking())
    ring.close()  # this service holds nothing
    closed: list[int] = []

    def close(self: LocalKmsClient) -> None:
        closed.append(1)
        raise OSError("stuck")

    monkeypatch.setattr(LocalKmsClient, "close", close, raising=False)
    dek(ring, asking())
    assert asked == ["encrypt", "decrypt"]
    ring.close()
    ring.close()
    assert closed == [1]
    assert "could not be closed" in caplog.text


def test_any_error_of_a_custom_driver_leads_to_the_next_key(
    client: DekRegistryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    from serdes.encryption.local import LocalKmsDriver

    make = LocalKmsDriver.new_kms_client

    def new(self: LocalKmsDriver, conf: Any, key_url: str) -> Any:
        if key_url.endswith("key"):
            raise ConnectionError("down")
        return make(self, conf, key_url)

    monkeypatch.setattr(LocalKmsDriver, "new_kms_client", new)
    spare = {**CONF, "encrypt.alternate.kms.key.ids": "spare"}
    assert dek(KeyRing(client, spare, Clock()), asking()).key
    with pytest.raises(RuleError, match="failed to decrypt with all KEKs for kek: down"):
        dek(KeyRing(client, CONF, Clock()), asking())


def test_alternate_keys_are_tried_in_turn(client: DekRegistryClient) -> None:
    from serdes.encryption import register_kms_driver, reset_kms_drivers
    from serdes.encryption.local import LocalKmsClient

    class ByKey:
        def get_key_url_prefix(self) -> str:
            return "local-kms://"

        def new_kms_client(self, conf: Any, key_url: str) -> LocalKmsClient:
            if key_url.endswith("gone"):
                raise RuleError("the key is gone")
            return LocalKmsClient(key_url)

    register_kms_driver(ByKey())
    try:
        client.register_kek(
            "kek", "local-kms", "gone", kms_props={"encrypt.alternate.kms.key.ids": " also-gone, there"}
        )
        ctx = asking(**{"encrypt.kms.key.id": "gone"})
        assert dek(KeyRing(client, CONF, Clock()), ctx).key
        client.register_kek("none", "local-kms", "gone")
        with pytest.raises(RuleError, match="failed to encrypt with all KEKs for none: the key is gone"):
            dek(KeyRing(client, CONF, Clock()), asking(**{"encrypt.kek.name": "none", "encrypt.kms.key.id": "gone"}))
    finally:
        reset_kms_drivers()


def test_a_registry_that_uses_the_key_itself_gives_data_keys(
    client: DekRegistryClient, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shared key-encryption key: the registry makes data keys, and no service is asked here."""
    shared = Kek("kek", "local-kms", "key", shared=True)
    key = b"\x1a\x20" + bytes(32)
    made = Dek("kek", "people-value", 1, DekAlgorithm.AES256_GCM).with_key(key)
    given: list[Any] = []
    monkeypatch.setattr(client, "get_kek", lambda *_, **__: shared)
    monkeypatch.setattr(client, "register_dek", lambda *args: given.append(args) or made)
    assert dek(KeyRing(client, CONF, Clock()), asking()).key == key
    assert given == [("kek", "people-value", None, DekAlgorithm.AES256_GCM, 1)]
    assert asked == []
    monkeypatch.setattr(client, "register_dek", lambda *args: dataclasses.replace(made, key_material=None))
    with pytest.raises(RuleError, match="has no key material"):
        dek(KeyRing(client, CONF, Clock()), asking())


@pytest.mark.parametrize("status", [409, 500])
def test_of_two_writers_both_use_the_first_one_s_kek(
    client: DekRegistryClient, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    register = client.register_kek

    def late(*args: Any, **more: Any) -> Any:
        register(*args, **more)  # the other one's
        raise ResponseError(status, status, "no")

    monkeypatch.setattr(client, "register_kek", late)
    if status == 409:
        assert dek(KeyRing(client, CONF, Clock()), asking()).key
    else:
        with pytest.raises(RuleError, match="'kek' can't be registered"):
            dek(KeyRing(client, CONF, Clock()), asking())


def test_a_registry_that_does_not_answer_is_told(client: DekRegistryClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ResponseError(500, 50001, "broken")

    dek(KeyRing(client, CONF, Clock()), asking())
    monkeypatch.setattr(client, "get_dek", refuse)
    with pytest.raises(RuleError, match="the data key of 'kek', 'people-value' can't be looked up: broken"):
        dek(KeyRing(client, CONF, Clock()), asking())
    monkeypatch.setattr(client, "get_kek", refuse)
    with pytest.raises(RuleError, match="key-encryption key 'kek' can't be looked up: broken"):
        dek(KeyRing(client, CONF, Clock()), asking())


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (ResponseError(503, 503, "later"), True),
        (ResponseError(403, 40301, "not for you"), True),
        (ResponseError(404, 404, "a proxy's"), True),
        (ResponseError(422, 42202, "no version"), False),
        (ResponseError(404, 40470, "no key"), False),
    ],
)
def test_an_outage_of_the_registry_is_told_from_a_key_that_can_not_be(
    client: DekRegistryClient, monkeypatch: pytest.MonkeyPatch, error: ResponseError, away: bool
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    dek(KeyRing(client, CONF, Clock()), asking())
    for call in ("get_dek", "get_kek"):
        monkeypatch.setattr(client, call, fail)
        with pytest.raises(RuleError) as raised:
            dek(KeyRing(client, CONF, Clock()), asking(RuleMode.READ))
        assert raised.value.away is away


def test_secrets_do_not_show(client: DekRegistryClient) -> None:
    found = dek(KeyRing(client, CONF, Clock()), asking())
    shown = dataclasses.replace(found.dek, key_material="the key")
    assert "the key" not in repr(shown)
