"""Names of confluent_kafka 2.16 without a counterpart here, with the reasons.

`tests/interop/test_confluent_names.py` compares it with the installed package, and docs/peers.md is made of it.
"""

from __future__ import annotations

from typing import Final

INSIDE: Final = "how confluent_kafka is built, not what it offers"
BASES: Final = "BaseSerializer and BaseDeserializer hold an engine, there are no parts to inherit: formats are objects"
OF_OURS: Final = "clients of key services encrypt and decrypt themselves"

MODULES_NOT_HERE: Final = {
    "kafkatest": "a tool of Kafka's own system tests",
    "kafkatest.": "a tool of Kafka's own system tests",
}

NAMES_NOT_HERE: Final[dict[str, str]] = dict.fromkeys(["ReentryContext", "rebuild_value_type"], INSIDE)
CONFIGURED: Final = dict.fromkeys(["configure_subject_name_strategy", "configure_validation_rules"], BASES)
MEMBERS_NOT_HERE: Final[dict[str, dict[str, str]]] = {
    **{f"{name}Serializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"{name}Deserializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"Async{name}Serializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"Async{name}Deserializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"{shell}Base{kind}": CONFIGURED for shell in ("", "Async") for kind in ("Serde", "Serializer", "Deserializer")},
    "Dek": dict.fromkeys(["encrypted_key_material_bytes", "key_material_bytes"], "`encrypted_key` and `key` have them"),
    "HcVaultKmsClient": dict.fromkeys(["does_support", "get_aead"], OF_OURS),
    "LocalKmsClient": dict.fromkeys(["does_support", "get_aead"], OF_OURS),
}
