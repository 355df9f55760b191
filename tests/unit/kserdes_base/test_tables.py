"""Every row of the four tables: what is wrong is refused by name, with what is accepted and the nearest name."""

from __future__ import annotations

import importlib
import importlib.util
import math
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_core import config as kafka
from kafka_core.config_table import TABLE as CLIENT
from kafka_core.errors import ConfigError, KafkaError, KafkaException
from kserdes_base.config.errors import PropertyError, PropertyTypeError
from kserdes_base.config.properties import Kind, Property
from kserdes_base.config.reading import accepted, value_of, worded
from kserdes_base.config.table import Table, did_you_mean, nearest
from registry.client.config import ClientConfig
from registry.client.config_table import TABLE as REGISTRY
from serdes import options as serializers
from serdes.options import ReadOptions, WriteOptions

SECRET = "geheim-4711"
BOOTSTRAP = {"bootstrap.servers": "b:9092", "group.id": "g"}


@dataclass(frozen=True)
class Idiom:
    """A configuration and the function that reads it."""

    name: str
    table: Table[Any]
    read: Callable[[dict[str, Any]], object]
    error: type[PropertyError] = PropertyError


def writing(own: tuple[Property, ...]) -> Callable[[dict[str, Any]], object]:
    return lambda conf: WriteOptions.parse(conf, True, own)


def reading(own: tuple[Property, ...]) -> Callable[[dict[str, Any]], object]:
    return lambda conf: ReadOptions.parse(conf, own)


def written(own: tuple[Property, ...]) -> Table[Property]:
    return Table((*serializers.WRITE, *own))


def read(own: tuple[Property, ...]) -> Table[Property]:
    return Table((*serializers.READ, *own))


IDIOMS = [
    Idiom("client", CLIENT, lambda conf: kafka.parse({**BOOTSTRAP, **conf}, kafka.Role.CONSUMER), ConfigError),
    Idiom("registry", REGISTRY, lambda conf: ClientConfig.parse({"url": "http://a", **conf})),
    Idiom("avro writing", written(serializers.AVRO_WRITE), writing(serializers.AVRO_WRITE)),
    Idiom("avro reading", read(serializers.AVRO_READ), reading(serializers.AVRO_READ)),
    Idiom("json writing", written(serializers.JSON), writing(serializers.JSON)),
    Idiom("json reading", read(serializers.JSON), reading(serializers.JSON)),
    Idiom("protobuf writing", written(serializers.PROTOBUF_WRITE), writing(serializers.PROTOBUF_WRITE)),
    Idiom("protobuf reading", read(serializers.PROTOBUF_READ), reading(serializers.PROTOBUF_READ)),
]
HAS_SPARK = importlib.util.find_spec("pyspark") is not None  # an extra
if HAS_SPARK:
    from pipeline.source.options import TABLE as SPARK
    from pipeline.source.options import ReadOptions as SparkOptions

    least = {"kafka.bootstrap.servers": "b:9092", "subscribe": "flights"}
    error = importlib.import_module("pipeline.errors").OptionError
    IDIOMS.append(Idiom("spark", SPARK, lambda conf: SparkOptions.parse({**least, **conf}), error))

ROWS: list[tuple[Idiom, Property]] = [(idiom, row) for idiom in IDIOMS for row in idiom.table.rows]
SECRETS = [(idiom, row) for idiom, row in ROWS if row.secret]


def ident(value: Idiom | Property) -> str:
    return value.name


LOOKED_AT_LATER = ("hooks", "validation.rules.executor")
"""Objects of any type: when one is called it shows what they have; while rules are off, nobody looks at the second."""


class Strange:
    """Of a type that no property takes; its text must not be shown."""

    def __repr__(self) -> str:
        return SECRET


def wrong_values(row: Property) -> list[Any]:
    """Values that a row refuses: of a wrong type, out of its range, no word of its own."""
    wrong: list[Any] = [] if row.kind is Kind.OBJECT and row.name in LOOKED_AT_LATER else [Strange()]
    if row.bounds is not None:
        low, high = row.bounds
        wrong += [low - 1, math.nan, math.inf, *([low] if row.above else []), *([high + 1] if high < math.inf else [])]
    if row.kind in (Kind.INT, Kind.FLOAT, Kind.BOOL):
        wrong += ["soon", [1], *([] if row.loose else ["1"]), *([None] if row.default is not None else [])]
    if row.kind in (Kind.INT, Kind.FLOAT):
        wrong.append(True)
    if row.kind is Kind.BOOL:
        wrong += [2, *([] if row.loose else [1])]
    if row.kind in (Kind.ENUM, Kind.LIST) and row.words:
        wrong.append("no-such-word")
    if row.kind in (Kind.CALLBACK, Kind.DICT):
        wrong.append("print")
    return wrong


@pytest.mark.parametrize(("idiom", "row"), ROWS, ids=ident)
def test_wrong_values_are_refused_with_name_and_what_is_accepted(idiom: Idiom, row: Property) -> None:
    for wrong in wrong_values(row):
        if wrong is None and idiom.name == "registry":
            continue  # None is the default there
        for name in (row.name, *row.aliases):
            with pytest.raises(idiom.error) as caught:
                idiom.read({name: wrong})
            text = str(caught.value)
            assert text.startswith(f"{name} must be {worded(row)}, not "), wrong
            assert (caught.value.property, caught.value.accepted) == (name, worded(row))
            assert isinstance(caught.value, ValueError)
            assert SECRET not in text + repr(caught.value)
            assert ("None" if wrong is None else type(wrong).__name__) in text


@pytest.mark.parametrize(("idiom", "row"), SECRETS, ids=ident)
def test_secrets_are_not_in_refusals(idiom: Idiom, row: Property) -> None:
    for wrong in ([SECRET], {SECRET: SECRET}, SECRET.encode()):
        if row.kind is Kind.DICT and isinstance(wrong, dict):
            continue
        with pytest.raises(idiom.error) as caught:
            idiom.read({row.name: wrong})
        assert SECRET not in str(caught.value) + repr(caught.value) + str(caught.value.__context__)


UNKNOWN = "^(Unrecognized properties: |unknown option |No such configuration property: )"
"""The client says it as librdkafka does."""


@pytest.mark.parametrize(("idiom", "row"), ROWS, ids=ident)
def test_misspelt_names_are_refused_with_the_nearest(idiom: Idiom, row: Property) -> None:
    for name in (row.name, *row.aliases):
        for misspelt in {f"{name}x", name.replace(".", "_") + "s", name.upper() + "X"} - set(idiom.table.by_name):
            with pytest.raises(idiom.error, match=UNKNOWN) as caught:
                idiom.read({misspelt: 1})
            assert caught.value.property == misspelt
            near = caught.value.nearest
            assert near is not None
            assert near in idiom.table.by_name
            assert f"; did you mean {near!r}" in str(caught.value)
            if misspelt == f"{name}x":
                assert near == name


@pytest.mark.parametrize(("idiom", "row"), ROWS, ids=ident)
def test_rows_say_what_they_do_and_their_default_is_accepted(idiom: Idiom, row: Property) -> None:
    assert row.doc.endswith(".")
    assert accepted(row)
    if row.default is not None and row.default != "":
        assert value_of(row, row.default, row.name) == row.default
    if row.bounds is not None and not row.above:
        assert value_of(row, row.bounds[0], row.name) == row.bounds[0]
        if row.bounds[1] < math.inf:
            assert value_of(row, row.bounds[1], row.name) == row.bounds[1]


@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda idiom: idiom.name)
def test_names_that_are_like_none_get_no_suggestion(idiom: Idiom) -> None:
    with pytest.raises(idiom.error, match=UNKNOWN + "['\"]?qqqqq['\"]?$"):
        idiom.read({"qqqqq": 1})
    names: dict[Any, Any] = {5: 1}
    if idiom.name != "spark":  # its names are text always
        with pytest.raises(idiom.error, match=r"^names of properties are text, not int"):
            idiom.read(names)


@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda idiom: idiom.name)
def test_no_name_stands_twice(idiom: Idiom) -> None:
    names = [name for row in idiom.table.rows for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))


def test_every_property_is_on_the_page(project_root: Path) -> None:
    page = (project_root / "docs" / "configuration.md").read_text()
    assert [
        f"{idiom.name}: {row.name}" for idiom in IDIOMS for row in idiom.table.rows if f"`{row.name}`" not in page
    ] == []


# ---- the errors


def test_errors_are_still_caught_by_their_former_classes() -> None:
    with pytest.raises(TypeError):
        ClientConfig.parse({"url": "http://a", "timeout": "5"})
    with pytest.raises(ValueError, match="timeout must be a number above 0, not 0 "):
        ClientConfig.parse({"url": "http://a", "timeout": 0})
    with pytest.raises(KafkaException) as caught:
        kafka.parse({"no.such.thing": 1}, kafka.Role.ADMIN)
    assert caught.value.code == KafkaError._INVALID_ARG
    if HAS_SPARK:
        with pytest.raises(importlib.import_module("pipeline.errors").PipelineError):
            SparkOptions.parse({})


@pytest.mark.parametrize("kind", [PropertyError, PropertyTypeError])
def test_errors_travel_between_processes(kind: type[PropertyError]) -> None:
    error = kind("x must be 1, not 2 (int)", property="x", accepted="1", nearest=None)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.property, copy.accepted) == (kind, str(error), "x", "1")


def test_the_attributes_of_a_clients_error_travel_too() -> None:
    with pytest.raises(ConfigError) as caught:
        kafka.parse({"bootstrap.server": "a"}, kafka.Role.ADMIN)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.property, copy.nearest) == ("bootstrap.server", "bootstrap.servers")


# ---- hostile input


def test_long_names_and_values_cost_little_and_are_cut() -> None:
    began = time.monotonic()
    for conf in ({"x" * 2_000_000: 1}, {"linger.ms": "9" * 2_000_000}, {"retries": "0x" + "f" * 200_000}):
        with pytest.raises(ConfigError) as caught:
            kafka.parse({**BOOTSTRAP, **conf}, kafka.Role.PRODUCER)
        assert len(str(caught.value)) < 400
    assert time.monotonic() - began < 60  # only a hang reaches it


def test_nearest_knows_case_and_underscores() -> None:
    names = ("auto.register.schemas", "startingOffsets")
    assert nearest("AUTO_REGISTER_SCHEMA", names) == "auto.register.schemas"
    assert nearest("starting_offsets", names) == "startingOffsets"
    assert nearest("zzz", names) is None
    assert did_you_mean("zzz", names, "known are two") == "; known are two"
    assert did_you_mean("zzz", names) == ""


@pytest.mark.parametrize(
    ("template", "begins"),
    [
        ("Unrecognized properties: {}", "Unrecognized properties: first.of.all, linger, last"),
        ('No such property: "{}"', 'No such property: "first.of.all", "linger", "last"'),
    ],
)
def test_several_unknown_names_are_in_one_sentence(template: str, begins: str) -> None:
    table = Table([Property("linger.ms", Kind.INT, 5, "")], unknown=template)
    with pytest.raises(PropertyError) as caught:
        table.read({"first.of.all": 1, "linger": 2, "linger.ms": 3, "last": 4})
    assert str(caught.value) == f"{begins}; linger: did you mean 'linger.ms'?"
    assert caught.value.property == "first.of.all"
    many = [f"name{number}" for number in range(25)]
    with pytest.raises(PropertyError, match=r"name9\"? and 15 more$"):
        table.check_names(many)
    table.check_names(["only.one", "linger.ms", 3])
