from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kserdes.cli.schema.manage.registering import Refused, planned, register_files
from kserdes.cli.schema.source.subjects import Namer
from kserdes.cli.shell.unusable import Unusable
from registry.errors import IncompatibleSchemaError, InvalidSchemaError, ResponseError, TransportError
from registry.models import RegisteredSchema, Schema, SchemaReference
from tests.unit.kserdes.cli.schema.helpers import collection, record, write


class Registry:
    """Remembers what is registered; versions start at 5 so that nobody guesses them."""

    def __init__(self, old: bool = False) -> None:
        self.calls: list[tuple[str, Schema, bool]] = []
        self.old = old
        self.refuses: dict[str, ResponseError] = {}

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        self.calls.append((subject_name, schema, normalize_schemas))
        if subject_name in self.refuses:
            raise self.refuses[subject_name]
        number = len(self.calls)
        return RegisteredSchema(subject_name, None if self.old else number + 4, number, None, schema)

    def lookup_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> RegisteredSchema:
        return RegisteredSchema(subject_name, 70, 1, None, schema)


def files(tmp_path: Path) -> Path:
    return write(
        tmp_path,
        {
            "order.avsc": record("Order", "m:Money", "c:Customer"),
            "customer.avsc": record("Customer", "m:Money"),
            "common/money.avsc": record("Money", "x:long"),
            "unused.avsc": '"int"',
        },
    )


def register(
    folder: Path, paths: list[str], registry: Registry, namer: Namer | None = None, dry_run: bool = False
) -> list[Any]:
    found = collection(folder)
    return list(register_files(found, planned(found, paths, namer or Namer()), registry, True, dry_run))


def test_referenced_files_are_registered_first(tmp_path: Path) -> None:
    registry = Registry()
    done = register(files(tmp_path), ["order.avsc"], registry)
    assert [(item.path, item.subject, item.version, item.schema_id) for item in done] == [
        ("customer.avsc", "customer", 6, 2)
        if item.path == "customer.avsc"
        else (item.path, item.subject, item.version, item.schema_id)
        for item in done
    ]
    assert [name for name, _, _ in registry.calls] == ["money", "customer", "order"]
    order = registry.calls[2][1]
    assert order.references == (SchemaReference("Customer", "customer", 6), SchemaReference("Money", "money", 5))
    assert all(normalize for _, _, normalize in registry.calls)


def test_a_registry_that_answers_ids_only_is_asked_for_versions(tmp_path: Path) -> None:
    registry = Registry(old=True)
    done = register(files(tmp_path), ["customer.avsc"], registry)
    assert [item.version for item in done] == [70, 70]
    assert registry.calls[1][1].references == (SchemaReference("Money", "money", 70),)


def test_a_dry_run_registers_nothing(tmp_path: Path) -> None:
    registry = Registry()
    done = register(files(tmp_path), ["order.avsc", "unused.avsc"], registry, dry_run=True)
    assert [item.subject for item in done] == ["money", "customer", "order", "unused"]
    assert registry.calls == []


def test_one_subject_for_two_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="both belong to subject same"):
        register(files(tmp_path), ["order.avsc"], Registry(), Namer("same"))


def test_files_in_a_circle_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a.avsc": record("A", "b:B"), "b.avsc": record("B", "a:A")})
    with pytest.raises(Unusable, match="lead back to itself"):
        register(tmp_path, ["a.avsc"], Registry())


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"a.avsc": "{\n,"})
    with pytest.raises(Unusable, match=r"a\.avsc:2: not JSON"):
        register(tmp_path, ["a.avsc"], Registry())


def test_nothing_is_registered_unless_every_file_parses(tmp_path: Path) -> None:
    files(tmp_path)
    write(
        tmp_path,
        {
            "zz.avsc": {"type": "record", "name": "Z", "fields": [{"name": "a b", "type": "int"}]},
            "zy.avsc": {"type": "enum", "name": "Y", "symbols": ["a", "a"]},
        },
    )
    registry = Registry()
    with pytest.raises(Unusable, match="nothing was registered") as caught:
        register(tmp_path, ["order.avsc", "unused.avsc", "zy.avsc", "zz.avsc"], registry)
    assert "zy.avsc:" in caught.value.message
    assert "zz.avsc:" in caught.value.message
    assert registry.calls == []


@pytest.mark.parametrize(
    "error",
    [
        IncompatibleSchemaError(409, 409, "incompatible", ["because"]),
        InvalidSchemaError(422, 42201, "invalid"),
        ResponseError(422, 42205, "read-only"),
    ],
)
def test_a_refusal_is_named_and_what_does_not_need_it_goes_on(tmp_path: Path, error: ResponseError) -> None:
    registry = Registry()
    registry.refuses["customer"] = error
    done = register(files(tmp_path), ["order.avsc", "unused.avsc"], registry)
    assert [(item.subject, isinstance(item, Refused)) for item in done] == [
        ("money", False),
        ("customer", True),
        ("order", True),
        ("unused", False),
    ]
    assert error.error_message in done[1].reason
    assert done[2].reason == "it refers to customer.avsc, which was refused"
    assert [name for name, _, _ in registry.calls] == ["money", "customer", "unused"]


def test_a_registry_that_does_not_answer_ends_it(tmp_path: Path) -> None:
    registry = Registry()
    for error in (TransportError(-1, -1, "cut"), ResponseError(401, 401, "who?"), ResponseError(500, 50001, "store")):
        registry.refuses["money"] = error  # type: ignore[assignment]
        with pytest.raises(type(error)):
            register(files(tmp_path), ["order.avsc"], registry)
