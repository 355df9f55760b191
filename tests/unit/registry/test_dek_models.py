"""registry.dek_models: keys and their JSON forms."""

from __future__ import annotations

import pytest

from registry.dek_models import Dek, DekAlgorithm, Kek, KekKmsProps

KEK = {
    "name": "k",
    "kmsType": "local-kms",
    "kmsKeyId": "id",
    "kmsProps": {"a": "b"},
    "doc": "d",
    "shared": True,
    "ts": 5,
    "deleted": True,
}
DEK = {
    "kekName": "k",
    "subject": "s",
    "version": 2,
    "algorithm": "AES256_SIV",
    "encryptedKeyMaterial": "YQ==",
    "keyMaterial": "Yg==",
    "ts": 5,
    "deleted": True,
}


def test_json_there_and_back() -> None:
    assert Kek.from_dict(KEK).to_dict() == KEK
    assert Dek.from_dict(DEK).to_dict() == DEK
    small = {"name": "k", "kmsType": "t", "kmsKeyId": "i", "shared": False}
    assert Kek.from_dict(small).to_dict() == small


def test_key_material_is_base64() -> None:
    dek = Dek.from_dict(DEK)
    assert (dek.encrypted_key, dek.key) == (b"a", b"b")
    bare = Dek("k", "s", 1, DekAlgorithm.AES128_GCM)
    assert (bare.encrypted_key, bare.key) == (None, None)
    assert bare.with_key(b"\xff").key == b"\xff"
    assert "/w==" not in repr(bare.with_key(b"\xff"))


def test_missing_fields_and_unknown_algorithms_are_errors() -> None:
    with pytest.raises(KeyError):
        Kek.from_dict({"name": "k"})
    with pytest.raises(ValueError, match="ROT13"):
        Dek.from_dict({**DEK, "algorithm": "ROT13"})


def test_names_of_confluents_client() -> None:
    dek = Dek("k", "s", 1, DekAlgorithm.AES256_GCM)
    dek.set_key_material(b"abc")
    assert (dek.key_material, dek.get_key_material_bytes()) == ("YWJj", b"abc")
    dek.set_key_material(None)
    assert dek.get_key_material_bytes() is None
    props = Kek.from_dict({"name": "n", "kmsType": "t", "kmsKeyId": "i", "kmsProps": {"a": "b"}}).kms_props
    assert isinstance(props, KekKmsProps)
    assert (props, props.properties, props.to_dict()) == ({"a": "b"}, {"a": "b"}, {"a": "b"})
    made = KekKmsProps.from_dict({"c": "d"})
    made.properties = {"e": "f"}
    assert made == {"e": "f"}
