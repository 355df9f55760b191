"""`kserdes`, the one import: every public name is there and is the same object; nothing loads before it is used."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from serdes import kernels as serdes_kernels
from tests.patience import PROCESS_S

kserdes: Any = importlib.import_module("kserdes")  # as it is at run time, whatever type checkers know

FACES = [
    "kafka_core",
    "kafka_core.admin",
    "kafka_core.aio",
    "registry",
    "serdes",
    "serdes.avro",
    "serdes.errors",
    "serdes.json_schema",
    "serdes.protobuf",
]


def fresh(code: str) -> str:
    """The output of a new process."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=True)
    return run.stdout.strip()


@pytest.mark.parametrize("face", FACES)
def test_every_public_name_of_a_face_is_there(face: str) -> None:
    module = importlib.import_module(face)
    assert [name for name in module.__all__ if name not in kserdes.__all__] == []
    assert [name for name in module.__all__ if getattr(kserdes, name) is not getattr(module, name)] == []


def test_names_come_from_public_modules_and_each_from_one() -> None:
    names = [name for names in kserdes.HOMES.values() for name in names]
    assert sorted(names) == kserdes.__all__, "a name stands in two homes"
    assert set(kserdes.HOMES) == {*FACES, "kafka_core.broker", "registry.dev"}
    for home, taken in kserdes.HOMES.items():
        assert set(taken) <= set(importlib.import_module(home).__all__)


def test_it_holds_no_code_of_its_own() -> None:
    assert sorted(path.name for path in Path(kserdes.__file__).parent.glob("*.*")) == ["__init__.py", "py.typed"]
    defined = [name for name in kserdes.__all__ if getattr(getattr(kserdes, name), "__module__", "") == "kserdes"]
    assert defined == []


def test_importing_it_loads_nothing_else() -> None:
    own = "m.partition('.')[0] in ('kserdes', 'kserdes_base', 'kafka_core', 'registry', 'serdes', 'pipeline')"
    code = f"""import sys; before = {{*sys.modules}}; import kserdes
print(*sorted(m for m in {{*sys.modules}} - before if {own} or m.partition('.')[0] not in sys.stdlib_module_names))"""
    names = ["kserdes", "kserdes_base", "kserdes_base.lazy", "kserdes_base.neighbours", "kserdes_base.version"]
    assert fresh(code).split() == names


def test_a_name_loads_what_it_needs_and_no_more() -> None:
    assert fresh("import sys; from kserdes import SchemaRegistryClient; print('serdes' in sys.modules)") == "False"
    assert fresh("import sys; from kserdes import AvroSerializer; print('kafka_core.sync' in sys.modules)") == "False"


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("kafka_core.aio.AIOProducer", ["administering", "consuming", "sharing"]),
        ("kafka_core.aio.AIOConsumer", ["administering", "producing", "sharing"]),
        ("kafka_core.aio.AIOShareConsumer", ["administering", "producing"]),
        ("kafka_core.Producer", ["administering", "consuming", "sharing"]),
        ("kafka_core.Consumer", ["administering", "producing", "sharing"]),
        ("kafka_core.admin.AdminClient", ["producing", "sharing"]),
    ],
)
def test_a_client_loads_no_other_client(name: str, others: list[str]) -> None:
    module, _, attribute = name.rpartition(".")
    code = f"import sys; from {module} import {attribute}; print(*sys.modules)"
    loaded = {name.split(".")[2] for name in fresh(code).split() if name.startswith("kafka_core.aio.")}
    assert loaded & set(others) == set()


PRODUCER = "SerializingProducer, AvroSerializer, SchemaRegistryClient"
CONSUMER = "DeserializingConsumer, AvroDeserializer, SchemaRegistryClient"
OF_CYTHON = ("_cython_", "_cyutility", "cython_runtime")
"""The beginnings of modules' names that compiled kernels bring; in pure Python there are none."""
LOADED = """import sys; before = {{*sys.modules}}; from kserdes import {names}
for name in sorted({{*sys.modules}} - before):
    module = sys.modules[name]
    print(name, "real" if getattr(module, "__spec__", None) is not None else "made")"""


def loaded_with(names: str) -> dict[str, str]:
    """The modules that come with names of `kserdes`, and whether each was found by an import or made by somebody."""
    rows = [line.split() for line in fresh(LOADED.format(names=names)).splitlines()]
    return {name: how for name, how in rows if not name.startswith(OF_CYTHON)}


@pytest.mark.parametrize(
    ("names", "others", "third"),
    [
        (PRODUCER, ["kafka_core.aio.consuming", "kafka_core.engine.consuming", "kafka_core.engine.groups"], set()),
        (CONSUMER, ["kafka_core.aio.producing", "kafka_core.engine.producing"], {"cramjam"}),
    ],
)
def test_the_three_names_of_a_program_load_what_it_needs_and_no_more(
    names: str, others: list[str], third: set[str]
) -> None:
    loaded = loaded_with(names)
    unwanted = [
        *others,
        *("kafka_core.aio.administering", "kafka_core.aio.sharing", "kafka_core.engine.administering"),
        *("kafka_core.engine.sharing", "kafka_core.aio.cluster.telemetry", "kafka_core.aio.net.client_certificate"),
        *("kafka_core.listings", "kafka_core.oidc", "kafka_core.broker", "registry.dev", "registry.associations"),
        *("httpx", "httpcore", "rich", "click", "pygments", "email"),
    ]
    assert [name for name in loaded if name.startswith("kafka_core.admin")] == []
    assert [name for name in loaded for part in unwanted if name == part or name.startswith(f"{part}.")] == []
    own = {"kserdes", "kserdes_base", "kafka_core", "registry", "serdes"}
    if serdes_kernels.IMPL == "pure":  # its kernels are imported together, that of JSON with a library
        third = third | {"orjson"}
    assert {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names - own == third


@pytest.mark.parametrize("names", [PRODUCER, CONSUMER])
def test_every_module_is_one_that_was_imported(names: str) -> None:
    made = [name for name, how in loaded_with(names).items() if how == "made"]
    assert set(made) <= {"typing.io", "typing.re"}, "a module that nobody imported stands in the place of another"


def test_star_takes_every_name_but_those_of_spark() -> None:
    shown = fresh(
        "from kserdes import *; print(Producer.__name__, AvroSerializer.__name__, 'from_registry' in globals())"
    )
    assert shown == "Producer AvroSerializer False"


def test_dir_and_help_list_the_names_with_and_without_spark() -> None:
    shown = fresh("import kserdes; print(*dir(kserdes))").split()
    assert set(kserdes.__all__) | {"__version__", "HOMES"} <= set(shown)
    without = "import sys; sys.modules['pyspark'] = None; import kserdes"
    assert "from_registry" not in fresh(f"{without}; print(*dir(kserdes))").split()
    helped = fresh(f"{without}, pydoc; print(pydoc.render_doc(kserdes))")
    assert "One import for the whole client" in helped
    assert "SchemaRegistryClient" in helped


def test_a_misspelt_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'kserdes' has no attribute 'Prodcuer'"):
        _ = kserdes.Prodcuer
    with pytest.raises(ImportError, match="cannot import name 'Prodcuer'"):
        from kserdes import Prodcuer  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize("package", ["kserdes", "kafka_core", "registry", "serdes", "pipeline"])
def test_every_package_says_its_version(package: str) -> None:
    from kserdes_base.version import VERSION

    assert importlib.import_module(package).__version__ == VERSION


@pytest.mark.parametrize("package", ["kserdes", "kafka_core", "registry", "serdes", "pipeline"])
def test_dir_lists_the_public_names_before_they_are_used(package: str) -> None:
    code = f"import {package} as p; before = {{*dir(p)}}; print(*sorted({{*p.__all__, '__version__'}} - before))"
    assert fresh(code) == ""
