"""Names of confluent_kafka 2.16 without a counterpart here, with the reasons.

`tests/interop/test_confluent_names.py` compares it with the installed package, and docs/peers.md is made of it.
"""

from __future__ import annotations

from typing import Final

CEL: Final = "the CEL rules of serdes stand on another engine; its functions are reached through rules"
INSIDE: Final = "how confluent_kafka is built, not what it offers"
BUILDERS: Final = "builders call constructors (serdes.builders)"
BASES: Final = "BaseSerializer and BaseDeserializer hold an engine, there are no parts to inherit: formats are objects"
CONSTANT: Final = "a constant of confluent_kafka's own requests, which no argument takes"
DECIMAL: Final = "of Python's module decimal, which confluent_kafka imports there"
KEYS: Final = "how a record's key comes to the rules of its value; here it is `RuleContext.original_key`"
WRAPPING: Final = "a step of EncryptionExecutor, which is here and does it inside"

MODULES_NOT_HERE: Final = {
    "kafkatest": "a tool of Kafka's own system tests",
    "kafkatest.": "a tool of Kafka's own system tests",
    "schema_registry.rules.encryption.azurekms.azure_aead": INSIDE,
    "schema_registry.rules.cel.constraints": CEL,
}

NAMES_NOT_HERE: Final[dict[str, str]] = {
    **dict.fromkeys(
        [
            "build_serde",
            "async_build_serde",
        ],
        BUILDERS,
    ),
    **dict.fromkeys(
        [
            "BaseSerde",
            "AsyncBaseSerde",
        ],
        BASES,
    ),
    **dict.fromkeys(["clear_original_key", "get_original_key", "set_original_key"], KEYS),
    **dict.fromkeys(["AeadWrapper", "EncryptionExecutorTransform", "FieldEncryptionExecutorTransform"], WRAPPING),
    **dict.fromkeys(["MAX_EMAX", "MAX_PREC", "MIN_EMIN", "ROUND_HALF_UP"], DECIMAL),
    **dict.fromkeys(
        [
            "ACCEPT_HDR",
            "VALID_LEVELS",
            "VALID_METHODS",
            "HAS_FAST",
        ],
        CONSTANT,
    ),
    **dict.fromkeys(
        [
            "ContextStringIO",
            "ReentryContext",
            "DAYS_SHIFT",
            "rebuild_value_type",
        ],
        INSIDE,
    ),
}
CONFIGURED: Final = dict.fromkeys(["configure_subject_name_strategy", "configure_validation_rules"], BASES)
MEMBERS_NOT_HERE: Final[dict[str, dict[str, str]]] = {
    **{f"{name}Serializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"{name}Deserializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
}
