"""What of confluent_kafka 2.16 has no counterpart here, with the reason.

`tests/interop/test_confluent_names.py` compares it with the installed package, and docs/peers.md is made of it.
"""

from __future__ import annotations

from typing import Final

CEL: Final = "the CEL rules of serdes stand on another engine; its functions are reached through rules"
INSIDE: Final = "how confluent_kafka is built, not what it offers"
BUILDERS: Final = "builders call constructors (serdes.builders)"
BASES: Final = "BaseSerializer and BaseDeserializer hold an engine, there are no parts to inherit: formats are objects"
AWS: Final = "private; aws_iam is a value of sasl.oauthbearer.metadata.authentication.type here too"
ENCODING: Final = "bits and limits of the encoding of variants, which Variant and VariantBuilder hide"
CONSTANT: Final = "a number that nobody takes from there"

MODULES_NOT_HERE: Final = {
    "_oauthbearer": AWS,
    "_oauthbearer.": AWS,
    "_serde_builder": BUILDERS,
    "_types": INSIDE,
    "_util": INSIDE,
    "_util.": INSIDE,
    "aio._common": INSIDE,
    "aio.producer._buffer_timeout_manager": INSIDE,
    "aio.producer._kafka_batch_executor": INSIDE,
    "aio.producer._message_batch": INSIDE,
    "aio.producer._producer_batch_processor": INSIDE,
    "kafkatest": "a tool of Kafka's own system tests",
    "kafkatest.": "a tool of Kafka's own system tests",
    "schema_registry.common._httpx_compat": INSIDE,
    "schema_registry.rules.encryption.azurekms.azure_aead": INSIDE,
    "schema_registry.confluent.meta_pb2": "generated classes of options; schemas with them are read without",
    **{
        f"schema_registry.rules.cel.{module}": CEL
        for module in (
            *("cel_field_presence", "constraints", "decimal_funcs", "extra_func"),
            *("protobuf_result_writer", "string_format", "timestamp_funcs", "variant_funcs", "variant_path"),
        )
    },
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
            "AsyncAssociatedNameStrategy",
            "STRATEGY_TYPE_MAP",
            "DEFAULT_CACHE_CAPACITY",
        ],
        BASES,
    ),
    **dict.fromkeys(
        [
            "ACCEPT_HDR",
            "VALID_AUTH_PROVIDERS",
            "VALID_LEVELS",
            "VALID_METHODS",
            "HAS_FAST",
        ],
        CONSTANT,
    ),
    **dict.fromkeys(
        [
            "LocalSchemaRepository",
            "get_inline_tags",
            "get_type",
            "is_map_field",
            "parse_schema_with_repo",
            "transform",
            "full_jitter",
            "clear_original_key",
            "get_original_key",
            "set_original_key",
            "AeadWrapper",
            "EncryptionExecutorTransform",
            "FieldEncryptionExecutorTransform",
            "CreateDekRequest",
            "CreateKekRequest",
            "DekId",
            "KekId",
            "KekKmsProps",
            "ContextStringIO",
            "asyncinit",
            "MAX_EMAX",
            "MAX_PREC",
            "MIN_EMIN",
            "DAYS_SHIFT",
            "EXTRA_FUNCS",
            "field_value_to_cel",
            "msg_to_cel",
            "ENCRYPT_AZURE_KEY_VERSION_SAVE",
            "get_versioned_key_id",
            "is_versionless",
            "with_version",
            "VAULT_KEYURI_PREFIX",
            "DECIMAL_TYPE_NAME",
            "MAX_ENCODABLE_COEFFICIENT_DIGITS",
            "PROTOBUF_MAJOR_VERSION",
            "ROUND_HALF_UP",
            "TIMESTAMP_TYPE_NAME",
            "is_cel_leaf_message",
            "rebuild_value_type",
            "set_decimal_message",
            "set_timestamp_message",
        ],
        INSIDE,
    ),
    **dict.fromkeys(
        [
            "BASIC_TYPE_BITS",
            "BASIC_TYPE_MASK",
            "TYPE_INFO_MASK",
            "MAX_SHORT_STR_SIZE",
            "PRIMITIVE",
            "SHORT_STR",
            "OBJECT",
            "ARRAY",
            "NULL",
            "TRUE",
            "FALSE",
            "INT1",
            "INT2",
            "INT4",
            "INT8",
            "DOUBLE",
            "DECIMAL4",
            "DECIMAL8",
            "DECIMAL16",
            "DATE",
            "TIMESTAMP",
            "TIMESTAMP_NTZ",
            "FLOAT",
            "BINARY",
            "LONG_STR",
            "TIME",
            "TIMESTAMP_NANOS",
            "TIMESTAMP_NANOS_NTZ",
            "UUID",
            "VERSION",
            "VERSION_MASK",
            "U8_MAX",
            "U16_MAX",
            "U24_MAX",
            "U24_SIZE",
            "U32_SIZE",
            "I8_MAX",
            "I8_MIN",
            "I16_MAX",
            "I16_MIN",
            "I32_MAX",
            "I32_MIN",
            "I64_MAX",
            "I64_MIN",
            "UUID_SIZE",
            "MAX_DECIMAL4_PRECISION",
            "MAX_DECIMAL4_VALUE",
            "MAX_DECIMAL8_PRECISION",
            "MAX_DECIMAL8_VALUE",
            "MAX_DECIMAL16_PRECISION",
            "MAX_DECIMAL16_VALUE",
        ],
        ENCODING,
    ),
}
CONFIGURED: Final = dict.fromkeys(["configure_subject_name_strategy", "configure_validation_rules"], BASES)
SIMPLE: Final = dict.fromkeys(["close", "set_cluster_id_resolver"], "serializers of simple values own nothing")
MEMBERS_NOT_HERE: Final[dict[str, dict[str, str]]] = {
    **{f"{name}Serializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"{name}Deserializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"{name}Serializer": SIMPLE for name in ("String", "Integer", "Double")},
}
