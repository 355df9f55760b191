"""The catalogue of defects fits the sources: a piece stands there once, its tests are there, the result compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutations.catalogue import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.what)
def test_a_defect_can_be_put_in(mutation: Mutation) -> None:
    text = (ROOT / mutation.path).read_text()
    assert text.count(mutation.old) == 1, "the line has changed: change its row in tests/mutations/catalogue.py"
    assert mutation.old != mutation.new
    compile(text.replace(mutation.old, mutation.new), mutation.path, "exec")
    assert [path for path in mutation.tests if not (ROOT / path).exists()] == []


def test_the_catalogue_has_seventy_seven_different_defects_over_all_packages() -> None:
    assert len({(mutation.path, mutation.old, mutation.new) for mutation in MUTATIONS}) == len(MUTATIONS) == 77
    assert {mutation.path.split("/")[0] for mutation in MUTATIONS} == {
        "kserdes",
        "kserdes_base",
        "kafka_core",
        "registry",
        "serdes",
        "pipeline",
        "tests",
    }
