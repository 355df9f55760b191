"""Every public module, name, method and argument of confluent_kafka is here, or the list below says why not.

`kafka_core.compat.confluent.table` says where; this test walks the installed package.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
import warnings
from types import ModuleType
from typing import Any, Final

import pytest

from kafka_core.compat.confluent.table import HOMES, RENAMED, ROOT

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip(ROOT)

SHARE: Final = "share consumers (KIP-932) are not built"
CEL: Final = "the CEL rules of serdes stand on another engine; its functions are reached through rules"
DECIMALS: Final = "decimal and variant messages are not built"
INSIDE: Final = "how confluent_kafka is built, not what it offers"
VALIDATION: Final = "rules inside schemas (confluent:rules) are not built"
BUILDERS: Final = "builders of serializers are refused with a sentence"
BASES: Final = "serializers here have no common base class with parts to inherit: formats are objects (ARCHITECTURE)"
KMS: Final = "drivers are in serdes.encryption, a module per service, found by the key's address"
AWS: Final = "tokens of AWS come from oauth_cb"
CONSTANT: Final = "a number that nobody takes from there"

# Modules that have no counterpart; with a dot at the end: all below, too.
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
    "deserializing_share_consumer": SHARE,
    "kafkatest": "a tool of Kafka's own system tests",
    "kafkatest.": "a tool of Kafka's own system tests",
    "schema_registry._async.mock_schema_registry_client": "`mock://` makes one; there is no class of its own",
    "schema_registry._sync.mock_schema_registry_client": "`mock://` makes one; there is no class of its own",
    "schema_registry.common._httpx_compat": INSIDE,
    "schema_registry.common.avro": INSIDE,
    "schema_registry.common.json_schema": INSIDE,
    "schema_registry.common.protobuf": INSIDE,
    "schema_registry.confluent": DECIMALS,
    "schema_registry.confluent.": DECIMALS,
    "schema_registry.rules.cel": CEL,
    "schema_registry.rules.cel.": CEL,
    "schema_registry.rules.dlq": "serdes.rules.DlqAction",
    "schema_registry.rules.dlq.": "serdes.rules.DlqAction",
    "schema_registry.rules.encryption.awskms": KMS,
    "schema_registry.rules.encryption.awskms.": KMS,
    "schema_registry.rules.encryption.azurekms": KMS,
    "schema_registry.rules.encryption.azurekms.": KMS,
    "schema_registry.rules.encryption.dek_registry.mock_dek_registry_client": "`mock://` has data keys too",
    "schema_registry.rules.encryption.gcpkms": KMS,
    "schema_registry.rules.encryption.gcpkms.": KMS,
    "schema_registry.rules.encryption.hcvault": KMS,
    "schema_registry.rules.encryption.hcvault.": KMS,
    "schema_registry.rules.encryption.localkms": KMS,
    "schema_registry.rules.encryption.localkms.": KMS,
    "schema_registry.rules.jsonata": "built in: rules of type JSONATA need no class",
    "schema_registry.rules.jsonata.": "built in: rules of type JSONATA need no class",
}

# Names that are not here, whatever module they are in.
NAMES_NOT_HERE: Final[dict[str, str]] = {
    **dict.fromkeys(
        [
            "AcknowledgeType",
            "ConcurrentModificationException",
            "DeserializingShareConsumer",
            "IllegalStateException",
            "Messages",
            "ShareConsumer",
            "SHARE_ACKNOWLEDGE_TYPE_ACCEPT",
            "SHARE_ACKNOWLEDGE_TYPE_REJECT",
            "SHARE_ACKNOWLEDGE_TYPE_RELEASE",
        ],
        SHARE,
    ),
    **dict.fromkeys(
        [
            "SerializerBuilder",
            "DeserializerBuilder",
            "AvroSerializerBuilder",
            "AvroDeserializerBuilder",
            "JSONSerializerBuilder",
            "JSONDeserializerBuilder",
            "ProtobufSerializerBuilder",
            "ProtobufDeserializerBuilder",
            "AsyncAvroSerializerBuilder",
            "AsyncAvroDeserializerBuilder",
            "AsyncJSONSerializerBuilder",
            "AsyncJSONDeserializerBuilder",
            "AsyncProtobufSerializerBuilder",
            "AsyncProtobufDeserializerBuilder",
            "build_serde",
            "async_build_serde",
        ],
        BUILDERS,
    ),
    **dict.fromkeys(
        [
            "BaseSerde",
            "BaseSerializer",
            "BaseDeserializer",
            "AsyncBaseSerde",
            "AsyncBaseSerializer",
            "AsyncBaseDeserializer",
            "AsyncAssociatedNameStrategy",
            "STRATEGY_TYPE_MAP",
            "DEFAULT_CACHE_CAPACITY",
        ],
        BASES,
    ),
    **dict.fromkeys(
        [
            "ValidationRule",
            "ValidationRuleError",
            "ValidationRuleExecutor",
            "ValidationRulesExecution",
            "VALIDATION_RULES_PROP",
            "default_validation_rule_executor",
            "evaluate_validation_rule",
            "parse_validation_rules",
            "validate_message",
        ],
        VALIDATION,
    ),
    **dict.fromkeys(
        [
            "AVRO_TYPE",
            "JSON_TYPE",
            "PROTOBUF_TYPE",
            "ACCEPT_HDR",
            "VALID_AUTH_PROVIDERS",
            "VALID_LEVELS",
            "VALID_METHODS",
            "HAS_FAST",
            "MAGIC_BYTE",
            "DLQ_HEADER_PREFIX",
            "DLQ_RULE_EXCEPTION_HEADER",
            "DLQ_RULE_MODE_HEADER",
            "DLQ_RULE_NAME_HEADER",
            "DLQ_RULE_SUBJECT_HEADER",
            "DLQ_RULE_TOPIC_HEADER",
            "FALLBACK_TYPE",
            "KAFKA_CLUSTER_ID",
            "NAMESPACE_WILDCARD",
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
            "Clock",
            "Cryptor",
            "EncryptionExecutorTransform",
            "FieldEncryptionExecutorTransform",
            "CreateDekRequest",
            "CreateKekRequest",
            "DekId",
            "KekId",
            "KekKmsProps",
            "ContextStringIO",
            "TimestampSpec",
            "MaxTimestampSpec",
            "LatestSpec",
            "EarliestSpec",
            "asyncinit",
        ],
        INSIDE,
    ),
    **dict.fromkeys(
        ["decimal_to_protobuf", "protobuf_to_decimal", "variant_to_protobuf", "protobuf_to_variant"], DECIMALS
    ),
}


def skipped(module: str) -> str | None:
    """Why a module has no counterpart."""
    return next(
        (
            why
            for name, why in MODULES_NOT_HERE.items()
            if module == name or (name[-1] == "." and module.startswith(name))
        ),
        None,
    )


def modules() -> list[str]:
    """The modules of the installed package, without its root's name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [item.name for item in pkgutil.walk_packages(peer.__path__, f"{ROOT}.", onerror=lambda name: None)]
    return ["", *(name.removeprefix(f"{ROOT}.") for name in found)]


def theirs(module: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"{ROOT}.{module}" if module else ROOT)


def names(module: ModuleType) -> list[str]:
    """What is public in a module: what is made there, and in a package also what its other modules make."""
    own = (ROOT, "cimpl") if hasattr(module, "__path__") else (module.__name__,)
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_"
        and not inspect.ismodule(value)
        and (getattr(value, "__module__", None) or module.__name__).startswith(own)
        and type(value).__module__ not in ("typing", "__future__", "logging")
    ]


def ours(module: str, name: str) -> Any:
    """What stands for a name; None if nothing does."""
    homes = [RENAMED[name]] if name in RENAMED else [(home, name) for home in HOMES[module]]
    found = (getattr(importlib.import_module(home), known, None) for home, known in homes)
    return next((value for value in found if value is not None), None)


HERE = [module for module in modules() if skipped(module) is None]


def test_every_module_has_a_home_or_a_reason() -> None:
    assert [module for module in HERE if module not in HOMES] == []
    assert [module for module in HOMES if skipped(module) is not None] == []


@pytest.mark.parametrize("module", HERE)
def test_every_name_is_here_or_has_a_reason(module: str) -> None:
    missing = {name for name in names(theirs(module)) if ours(module, name) is None}
    assert missing <= set(NAMES_NOT_HERE)


def test_the_list_names_only_what_is_missing() -> None:
    there = {name: [module for module in HERE if name in vars(theirs(module))] for name in NAMES_NOT_HERE}
    assert {name for name, found in there.items() if all(ours(module, name) is not None for module in found)} == set()


# ---- members and arguments

CLASSES: Final = {
    "": ["Producer", "Consumer", "Message", "TopicPartition", "KafkaError", "Uuid"],
    "_model": ["Node", "TopicCollection", "ConsumerGroupTopicPartitions", "TopicPartitionInfo", "IsolationLevel"],
    "admin": ["AdminClient", "NewTopic", "NewPartitions", "ConfigResource", "ConfigEntry", "AclBinding", "OffsetSpec"],
    "aio": ["AIOProducer", "AIOConsumer", "AsyncSerializingProducer", "AsyncDeserializingConsumer"],
    "avro": ["AvroProducer", "AvroConsumer"],
    "schema_registry": ["SchemaRegistryClient", "AsyncSchemaRegistryClient", "Schema", "Rule", "RuleSet"],
    "schema_registry.avro": ["AvroSerializer", "AvroDeserializer"],
    "schema_registry.json_schema": ["JSONSerializer", "JSONDeserializer"],
    "schema_registry.protobuf": ["ProtobufSerializer", "ProtobufDeserializer"],
    "schema_registry.rule_registry": ["RuleRegistry", "RuleOverride"],
    "serialization": ["SerializationContext", "StringSerializer", "IntegerSerializer", "DoubleSerializer"],
}

CONFIGURED: Final = dict.fromkeys(
    ["configure_subject_name_strategy", "configure_validation_rules", "own_schema_registry_client"], BASES
)
SIMPLE: Final = dict.fromkeys(["close", "set_cluster_id_resolver"], "serializers of simple values own nothing")
# Members that are not here, by class.
MEMBERS_NOT_HERE: Final[dict[str, dict[str, str]]] = {
    **{f"{name}Serializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"{name}Deserializer": CONFIGURED for name in ("Avro", "JSON", "Protobuf")},
    **{f"{name}Serializer": SIMPLE for name in ("String", "Integer", "Double")},
}
# Arguments that are not here, by class and method.
ARGUMENTS_NOT_HERE: Final[dict[str, dict[str, str]]] = {"OffsetSpec": {"(index)": "made by its class methods"}}
TRANSACTIONS: Final = {
    "abort_transaction",
    "begin_transaction",
    "commit_transaction",
    "init_transactions",
    "send_offsets_to_transaction",
}
"""They come with their own issue, and are compared by tests/meta/test_public_names.py."""


def arguments(function: Any) -> list[str] | None:
    """Names of the arguments; None where a compiled function does not say."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [
        item.name for item in found if item.name != "self" and item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)
    ]


CASES = [(module, name) for module, found in CLASSES.items() for name in found]


@pytest.mark.parametrize(("module", "name"), CASES)
def test_every_member_is_here(module: str, name: str) -> None:
    kind = getattr(theirs(module), name)
    missing = {member for member in dir(kind) if member[0] != "_"} - set(dir(ours(module, name))) - TRANSACTIONS
    assert missing == set(MEMBERS_NOT_HERE.get(name, {}))


@pytest.mark.parametrize(("module", "name"), CASES)
def test_every_argument_is_here(module: str, name: str) -> None:
    kind, mine = getattr(theirs(module), name), ours(module, name)
    missing = set()
    for member in ["", *(member for member in dir(kind) if member[0] != "_" and hasattr(mine, member))]:
        wanted = arguments(getattr(kind, member) if member else kind)
        given = getattr(mine, member) if member else mine
        known = arguments(given)
        if wanted is None or known is None:
            continue
        everything = {item.kind for item in inspect.signature(given).parameters.values()}
        if inspect.Parameter.VAR_KEYWORD not in everything:
            missing |= {f"{member}({argument})" for argument in wanted if argument not in known}
    assert missing == set(ARGUMENTS_NOT_HERE.get(name, {}))


def test_the_constants_of_cimpl_are_the_same_numbers() -> None:
    numbers = {
        name: value for name, value in vars(theirs("cimpl")).items() if isinstance(value, int) and name.isupper()
    }
    different = {name for name, value in numbers.items() if ours("cimpl", name) not in (value, None)}
    assert different == set()
    assert {name for name in numbers if ours("cimpl", name) is None} == {
        name for name in numbers if name.startswith("SHARE_")
    }


# ---- install()


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, check=False, **more
    )


def test_unchanged_code_runs_on_ours() -> None:
    code = (
        "from kafka_core.compat import confluent; confluent.install(); confluent.install()\n"
        "import confluent_kafka, confluent_kafka.admin, kafka_core, serdes\n"
        "from confluent_kafka import *\n"
        "from confluent_kafka import Consumer, admin\n"
        "from confluent_kafka.schema_registry.avro import AvroSerializer as A\n"
        "assert confluent_kafka.Producer is Producer is kafka_core.Producer and Consumer is kafka_core.Consumer\n"
        "assert admin.AdminClient is kafka_core.admin.AdminClient and confluent_kafka.admin is admin\n"
        "assert confluent_kafka.SerializingProducer is serdes.SerializingProducer and A is serdes.avro.AvroSerializer\n"
        "from confluent_kafka.aio import AsyncSerializingProducer as P; assert P is serdes.AIOSerializingProducer\n"
        "assert 'Producer' in dir(confluent_kafka) and confluent_kafka.cimpl.ACL_OPERATION_READ == 3\n"
        "try: import confluent_kafka.kafkatest\n"
        "except ModuleNotFoundError as error: print(error)\n"
        "try: from confluent_kafka import ShareNothing\n"
        "except ImportError as error: print(type(error).__name__)\n"
    )
    done = run("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "kserdes has nothing for 'confluent_kafka.kafkatest'; see docs/guide/migrating.md",
        "ImportError",
    ]


def test_it_is_refused_when_the_real_package_is_there() -> None:
    done = run("-c", "import confluent_kafka; from kafka_core.compat import confluent; confluent.install()")
    assert done.returncode == 1
    assert "StateError: confluent_kafka has been imported from" in done.stderr


def test_scripts_and_modules_run_on_ours(tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    (tmp_path / "beside.py").write_text("WORD = 'beside'\n")
    script.write_text(
        "import sys, beside, confluent_kafka\n"
        "print(__name__, sys.argv[1:], beside.WORD, confluent_kafka.Producer.__module__)\n"
    )
    expected = "__main__ ['a', '-b'] beside kafka_core.sync.producer\n"
    done = run("-m", "kafka_core.compat.confluent", str(script), "a", "-b")
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    wrong = run("-m", "kafka_core.compat.confluent")
    assert (wrong.returncode, wrong.stderr[:5]) == (2, "usage")
