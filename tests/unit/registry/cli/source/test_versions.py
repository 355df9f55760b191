from __future__ import annotations

import pytest

from registry.cli.source.versions import Numbered, history_key, numbered, series, split


@pytest.mark.parametrize(
    ("path", "number"),
    [("orders/v1.avsc", 1), ("orders/12.avsc", 12), ("a/b/V03.json", 3), ("a/0007.proto", 7)],
)
def test_numbers_in_a_folder_are_versions(path: str, number: int) -> None:
    found = numbered(path)
    assert found is not None
    assert found.number == number


@pytest.mark.parametrize(
    "path", ["v1.avsc", "orders/orders-v1.avsc", "orders/v1beta.avsc", "orders/v.avsc", "a/v1.2.avsc"]
)
def test_other_names_are_not(path: str) -> None:
    assert numbered(path) is None


def test_series_are_ordered_by_number_and_split_by_suffix() -> None:
    paths = ["o/v10.avsc", "o/v9.avsc", "o/v1.json", "o/x.avsc"]
    assert series(paths) == {
        ("o", ".avsc"): [Numbered(("o", ".avsc"), 9, "o/v9.avsc"), Numbered(("o", ".avsc"), 10, "o/v10.avsc")],
        ("o", ".json"): [Numbered(("o", ".json"), 1, "o/v1.json")],
    }


def test_a_file_beside_a_version_folder_belongs_to_it() -> None:
    assert history_key("a/orders.avsc") == ("a/orders", ".avsc") == Numbered(("a/orders", ".avsc"), 1, "").key
    assert history_key("orders.avsc") == ("orders", ".avsc")
    assert split("a/b.schema.json") == ("a", "b.schema", ".json")
