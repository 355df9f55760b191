"""The public names are pinned: a name that goes or comes is a decision, not an accident."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

from kafka_core import KafkaError, KafkaException, errors
from tests.patience import PROCESS_S

confluent = pytest.importorskip("confluent_kafka", reason="the reference API is a test dependency")

# What the reference API has and this release does not; docs/coverage.md says why.
NOT_YET: set[str] = set()
# Modules and helpers of the reference package that are no API, and names that moved to `serdes` (DESIGN §2).
ELSEWHERE = {
    "DeserializingConsumer",
    "DeserializingShareConsumer",
    "SerializingProducer",
}
METHODS_NOT_YET: dict[str, set[str]] = {}


@pytest.mark.parametrize("package", ["kserdes", "kafka_core", "kafka_core.admin", "registry", "serdes", "pipeline"])
def test_all_lists_what_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize("package", ["kserdes", "kafka_core", "serdes"])
def test_names_that_come_at_first_use_have_a_home(package: str) -> None:
    module = importlib.import_module(package)
    at_once = {"libversion", "version"} & set(module.__all__) if package == "kafka_core" else set()
    assert sorted(name for names in module.HOMES.values() for name in names) == sorted({*module.__all__} - at_once)
    assert set(module.__all__) <= set(dir(module))
    for home, names in module.HOMES.items():
        for name in names:
            assert getattr(module, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = module.Nothing


def fresh(code: str) -> str:
    """The output of a new process."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=True)
    return run.stdout.strip()


@pytest.mark.parametrize("module", ["serdes.avro", "serdes.json_schema", "serdes.protobuf", "serdes.columnar"])
def test_serializers_load_no_client(module: str) -> None:
    shown = fresh(f"import sys, {module}; print(*sorted(m for m in sys.modules if m.startswith('kafka_core')))")
    assert shown.split() == ["kafka_core", "kafka_core.error_codes", "kafka_core.errors"]


def test_avro_serializers_load_neither_http_nor_other_formats_nor_asyncio() -> None:
    loaded = set(fresh("import sys, serdes.avro; print(*sys.modules)").split())
    assert "serdes.formats.avro.codec" in loaded
    elsewhere = {"httpx", "asyncio", "cachetools", "jsonschema", "jsonschema_rs", "referencing", "orjson", "pydantic"}
    assert loaded & elsewhere == set()
    parts = ("google.protobuf", "registry.client", "registry.compat", "registry.dev", "serdes.clients")
    assert [name for name in loaded if name.startswith(parts)] == []


def test_the_registry_does_not_know_the_client() -> None:
    assert fresh("import sys, registry, registry.compat; print('kafka_core' in sys.modules)") == "False"


def test_modules_and_names_are_there_after_one_import() -> None:
    code = "import kafka_core as k; print(k.aio.AIOProducer.__name__, k.errors.KafkaError is k.KafkaError, k.Producer)"
    assert fresh(code).startswith("AIOProducer True <class 'kafka_core.sync.producer.Producer'>")
    assert fresh("import kafka_core.sync.producer, kafka_core as k; print(k.version()[1])") == fresh(
        "import kafka_core as k; print(k.version()[1])"
    )
    assert fresh("from kafka_core import *; print(Consumer.__name__, KafkaError.__name__)") == "Consumer KafkaError"


def test_the_reference_names_are_here() -> None:
    ours = importlib.import_module("kafka_core")
    theirs = {name for name, value in vars(confluent).items() if name[0] != "_" and not inspect.ismodule(value)}
    theirs -= ELSEWHERE
    assert {name for name in theirs if not hasattr(ours, name)} == NOT_YET


@pytest.mark.parametrize("name", ["Producer", "Consumer", "ShareConsumer", "Messages", "Message", "KafkaError"])
def test_the_reference_methods_are_here(name: str) -> None:
    theirs = {method for method in dir(getattr(confluent, name)) if not method.startswith("_")}
    ours = set(dir(getattr(importlib.import_module("kafka_core"), name)))
    assert theirs - ours == METHODS_NOT_YET.get(name, set())


def test_the_reference_administrator_is_here() -> None:
    theirs = importlib.import_module("confluent_kafka.admin")
    ours = importlib.import_module("kafka_core.admin")
    for name, value in vars(theirs).items():
        if inspect.isclass(value) and name[0] != "_" and value.__module__.startswith("confluent_kafka.admin"):
            missing = {method for method in dir(value) if method[0] != "_"} - set(dir(getattr(ours, name)))
            assert missing == set(), name


@pytest.mark.parametrize("name", ["AIOProducer", "AIOConsumer"])
def test_the_reference_methods_for_asyncio_are_here(name: str) -> None:
    theirs = importlib.import_module("confluent_kafka.aio")
    ours = importlib.import_module("kafka_core.aio")
    missing = {method for method in dir(getattr(theirs, name)) if method[0] != "_"} - set(dir(getattr(ours, name)))
    assert missing == METHODS_NOT_YET.get(name, set())


def test_error_codes_are_the_reference_ones() -> None:
    for name in dir(confluent.KafkaError):
        code = getattr(confluent.KafkaError, name)
        if isinstance(code, int) and not name.startswith("__"):
            assert getattr(KafkaError, name) == code, name


@pytest.mark.parametrize(
    "kind",
    [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, KafkaException)],
)
def test_every_error_travels_between_processes(kind: type[KafkaException]) -> None:
    takes_text = issubclass(kind, errors.TextError)
    error = kind("gone") if takes_text else kind(KafkaError(KafkaError._TRANSPORT, "gone"))  # type: ignore[arg-type]
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert copy.args[0] == error.args[0]
