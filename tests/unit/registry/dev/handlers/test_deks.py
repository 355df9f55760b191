"""registry.dev.handlers.deks: key-encryption keys and data keys over the REST API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.dev import EmbeddedRegistry
from tests.unit.registry.dev.asking import Asking

KEKS = "/dek-registry/v1/keks"
KEK = {"name": "k", "kmsType": "local-kms", "kmsKeyId": "id"}
DEK = {"subject": "s", "encryptedKeyMaterial": "YQ=="}


@pytest.fixture
def keyed(registry: Asking) -> Asking:
    registry.post(KEKS, KEK)
    return registry


def test_a_kek_is_made_changed_and_listed(keyed: Asking) -> None:
    found = keyed.get(f"{KEKS}/k")
    assert {**found, "ts": 0} == {**KEK, "shared": False, "ts": 0}
    assert found["ts"] > 1_700_000_000_000
    changed = keyed.put(f"{KEKS}/k", {"doc": "d", "kmsProps": {"a": "b"}})
    assert (changed["doc"], changed["kmsProps"], changed["kmsKeyId"]) == ("d", {"a": "b"}, "id")
    keyed.post(KEKS, {**KEK, "name": "j"})
    assert keyed.get(KEKS) == ["j", "k"]
    assert keyed.get(f"{KEKS}?offset=1&limit=1") == ["k"]


def test_the_same_kek_again_is_answered_another_is_refused(keyed: Asking) -> None:
    assert keyed.post(KEKS, KEK) == keyed.get(f"{KEKS}/k")
    assert keyed.refused("POST", KEKS, {**KEK, "kmsKeyId": "other"}) == 40971


@pytest.mark.parametrize(
    "body",
    [
        {},
        {**KEK, "name": ""},
        {**KEK, "name": "a/b"},
        {**KEK, "name": "x" * 65},
        {**KEK, "kmsType": None},
        {**KEK, "kmsKeyId": ""},
        {**KEK, "shared": True},
        {**KEK, "kmsProps": {"a": 1}},
        {**KEK, "kmsProps": "a"},
    ],
)
def test_a_kek_that_can_not_be(registry: Asking, body: dict[str, Any]) -> None:
    assert registry.refused("POST", KEKS, body) == 42271
    assert registry.get(KEKS) == []


def test_values_of_a_wrong_type_are_malformed(keyed: Asking) -> None:
    assert keyed.refused("POST", KEKS, {**KEK, "name": 1}) == 400
    assert keyed.refused("POST", f"{KEKS}/k/deks", {**DEK, "version": "1"}) == 400
    assert keyed.refused("PUT", f"{KEKS}/k", {"shared": True}) == 42271


def test_a_dek_is_made_found_and_listed(keyed: Asking) -> None:
    made = keyed.post(f"{KEKS}/k/deks", DEK)
    assert {**made, "ts": 0} == {**DEK, "kekName": "k", "version": 1, "algorithm": "AES256_GCM", "ts": 0}
    keyed.post(f"{KEKS}/k/deks/s", {**DEK, "version": 2, "encryptedKeyMaterial": "Yg=="})
    keyed.post(f"{KEKS}/k/deks/t", {**DEK, "algorithm": "AES256_SIV"})
    assert keyed.get(f"{KEKS}/k/deks") == ["s", "t"]
    assert keyed.get(f"{KEKS}/k/deks/s") == made
    assert keyed.get(f"{KEKS}/k/deks/s/versions") == [1, 2]
    assert keyed.get(f"{KEKS}/k/deks/s/versions/2")["encryptedKeyMaterial"] == "Yg=="
    assert keyed.get(f"{KEKS}/k/deks/s/versions/-1")["version"] == 2
    assert keyed.get(f"{KEKS}/k/deks/s/versions/latest")["version"] == 2
    assert keyed.get(f"{KEKS}/k/deks/t/versions?algorithm=AES256_SIV") == [1]


def test_the_first_of_two_makers_wins(keyed: Asking) -> None:
    made = keyed.post(f"{KEKS}/k/deks", DEK)
    assert keyed.post(f"{KEKS}/k/deks", DEK) == made
    assert keyed.refused("POST", f"{KEKS}/k/deks", {**DEK, "encryptedKeyMaterial": "Yg=="}) == 40971
    assert keyed.get(f"{KEKS}/k/deks/s") == made


@pytest.mark.parametrize(
    "body",
    [
        {"encryptedKeyMaterial": "YQ=="},
        {**DEK, "version": -1},
        {**DEK, "algorithm": "ROT13"},
        {"subject": "s"},
    ],
)
def test_a_dek_that_can_not_be(keyed: Asking, body: dict[str, Any]) -> None:
    assert keyed.refused("POST", f"{KEKS}/k/deks", body) == 42271


def test_unknown_keys_are_not_found(keyed: Asking) -> None:
    for target in (f"{KEKS}/nope", f"{KEKS}/k/deks/s", f"{KEKS}/k/deks/s/versions", f"{KEKS}/k/deks/s/versions/1"):
        assert keyed.refused("GET", target) == 40470
    assert keyed.refused("POST", f"{KEKS}/nope/deks", DEK) == 40470
    assert keyed.refused("DELETE", f"{KEKS}/k/deks/s") == 40470
    assert keyed.refused("GET", f"{KEKS}/k/deks/s/versions/x") == 42202


def test_a_kek_is_deleted_softly_brought_back_and_deleted_for_good(keyed: Asking) -> None:
    assert keyed.refused("DELETE", f"{KEKS}/k?permanent=true") == 40471
    keyed.delete(f"{KEKS}/k")
    assert keyed.refused("GET", f"{KEKS}/k") == 40470
    assert keyed.get(f"{KEKS}/k?deleted=true")["deleted"] is True
    assert (keyed.get(KEKS), keyed.get(f"{KEKS}?deleted=true")) == ([], ["k"])
    assert keyed.refused("POST", KEKS, KEK) == 40472
    keyed.post(f"{KEKS}/k/undelete", None)
    assert "deleted" not in keyed.get(f"{KEKS}/k")
    keyed.delete(f"{KEKS}/k")
    keyed.delete(f"{KEKS}/k?permanent=true")
    assert keyed.get(f"{KEKS}?deleted=true") == []


def test_a_kek_in_use_stays(keyed: Asking) -> None:
    keyed.post(f"{KEKS}/k/deks", DEK)
    assert keyed.refused("DELETE", f"{KEKS}/k") == 42272
    keyed.delete(f"{KEKS}/k/deks/s")
    keyed.delete(f"{KEKS}/k")
    assert keyed.refused("DELETE", f"{KEKS}/k?permanent=true") == 42272


def test_deks_are_deleted_one_or_all(keyed: Asking) -> None:
    for version in (1, 2):
        keyed.post(f"{KEKS}/k/deks", {**DEK, "version": version})
    keyed.delete(f"{KEKS}/k/deks/s/versions/1")
    assert keyed.get(f"{KEKS}/k/deks/s/versions") == [2]
    assert keyed.get(f"{KEKS}/k/deks/s/versions?deleted=true") == [1, 2]
    keyed.post(f"{KEKS}/k/deks/s/versions/1/undelete", None)
    keyed.delete(f"{KEKS}/k/deks/s")
    assert keyed.get(f"{KEKS}/k/deks?deleted=true") == ["s"]
    assert keyed.get(f"{KEKS}/k/deks") == []
    keyed.post(f"{KEKS}/k/deks/s/undelete", None)
    assert keyed.get(f"{KEKS}/k/deks/s/versions") == [1, 2]
    keyed.delete(f"{KEKS}/k/deks/s")
    keyed.delete(f"{KEKS}/k/deks/s?permanent=true")
    assert keyed.refused("GET", f"{KEKS}/k/deks/s?deleted=true") == 40470


def test_contexts_have_their_own_keys(keyed: Asking) -> None:
    keyed.post(f"{KEKS}?context=.c", {**KEK, "kmsKeyId": "of c"})
    assert keyed.get(f"{KEKS}/k?context=.c")["kmsKeyId"] == "of c"
    assert keyed.get(f"{KEKS}/k")["kmsKeyId"] == "id"
    assert keyed.get(f"{KEKS}?context=.c") == ["k"]
    keyed.post(f"{KEKS}/k/deks/:.c:s", {**DEK, "subject": ":.c:s"})
    assert keyed.get(f"{KEKS}/k/deks/:.c:s")["subject"] == ":.c:s"


def test_keys_are_kept_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    with EmbeddedRegistry(path) as first:
        Asking(first).post(KEKS, KEK)
        made = Asking(first).post(f"{KEKS}/k/deks", DEK)
    with EmbeddedRegistry(path) as second:
        assert Asking(second).get(f"{KEKS}/k/deks/s") == made
