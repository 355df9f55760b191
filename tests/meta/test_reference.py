"""The reference (`make docs`) has every public name: it has a docstring, and its module a page that the site lists."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tools import docs_site

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MODULES = sorted(path.stem for path in (DOCS / "reference").glob("*.md"))
PUBLIC = {
    "kserdes", "kserdes.compat.aiokafka", "kserdes.compat.confluent", "kserdes.compat.kafka", "kserdes.compat.legacy",
    "kserdes.compat.simple",
    "kafka_core", "kafka_core.admin", "kafka_core.aio", "kafka_core.broker", "kafka_core.otel",
    "kafka_core.prometheus",
    "registry", "registry.aio", "registry.compat", "registry.dek", "registry.dev",
    "serdes", "serdes.avro", "serdes.columnar", "serdes.encryption", "serdes.errors", "serdes.json_schema",
    "serdes.protobuf", "serdes.rules", "serdes.simple", "serdes.testing", "serdes.typed",
    "serdes.builders", "serdes.decimals", "serdes.variants",
    "pipeline",
}  # fmt: skip


def pages(entry: object) -> Iterator[str]:
    """The pages that the navigation names."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, list):
        for item in entry:
            yield from pages(item)
    else:
        assert isinstance(entry, dict)
        for item in entry.values():
            yield from pages(item)


def navigation() -> list[str]:
    return list(pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))


def is_documented(module: str, name: str) -> bool:
    """Whether the assignment of a name is followed by a string, in the module that assigns it."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    for statement, following in itertools.pairwise(tree.body):
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if name in [target.id for target in targets if isinstance(target, ast.Name)]:
                text = following.value if isinstance(following, ast.Expr) else None
                return isinstance(text, ast.Constant) and isinstance(text.value, str)
    homes = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and name in [alias.name for alias in node.names]
    }
    return any(is_documented(home, name) for home in homes)


def undocumented(module_name: str) -> list[str]:
    module = importlib.import_module(module_name)
    missing = []
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, type):
            text = vars(value).get("__doc__") or ""
            written = text != "" and not text.startswith(f"{value.__name__}(")  # as dataclasses write it themselves
        elif inspect.isroutine(value):
            written = bool(value.__doc__)
        else:
            written = is_documented(module_name, name)
        if not written:
            missing.append(name)
    return missing


def test_every_public_module_has_a_page() -> None:
    assert set(MODULES) == PUBLIC
    for module in PUBLIC - {"kserdes"}:
        text = (DOCS / "reference" / f"{module}.md").read_text()
        assert re.findall(r"^::: (\S+)$", text, re.MULTILINE)[0] == module
    assert docs_site.NAMES in (DOCS / "reference/kserdes.md").read_text()


def test_names_of_the_one_import_have_a_page_in_their_home() -> None:
    kserdes = importlib.import_module("kserdes")
    homes = {**kserdes.HOMES, "pipeline": kserdes.SPARK}
    assert set(homes) <= PUBLIC
    assert [
        f"{home}.{name}"
        for home, names in homes.items()
        if home != "pipeline"  # needs PySpark, which is not everywhere
        for name in names
        if name not in importlib.import_module(home).__all__
    ] == []
    listed = docs_site.public_names()
    assert [name for names in homes.values() for name in names if f"- [`{name}`][" not in listed] == []


@pytest.mark.parametrize("module", sorted(PUBLIC - {"kserdes", "pipeline"}))
def test_every_public_name_has_a_docstring(module: str) -> None:
    assert undocumented(module) == []


def test_every_public_name_of_spark_has_a_docstring() -> None:
    pytest.importorskip("pyspark", reason="the extra spark")
    assert undocumented("pipeline") == []


def test_the_site_lists_every_page_and_no_other() -> None:
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if path.parent.name != "decisions"}
    named = navigation()
    assert set(named) == written | set(docs_site.PAGES.values())
    assert len(set(named)) == len(named)
    assert [source for source in docs_site.PAGES if not (ROOT / source).exists()] == []


@pytest.mark.parametrize(
    ("page", "link", "shown"),
    [
        ("guide/spark.md", "[x](../../README.md#install)", "[x](../project/overview.md#install)"),
        ("guide/spark.md", "[x](../configuration.md)", "[x](../configuration.md)"),
        ("guide/spark.md", "[x](../../tests/README.md)", "x"),
        ("index.md", "[x](../README.md)", "[x](project/overview.md)"),
        ("index.md", "[x](https://example.org/a.md) [y](#here)", "[x](https://example.org/a.md) [y](#here)"),
        ("project/overview.md", "[x](docs/guide/spark.md)", "[x](../guide/spark.md)"),
        ("project/overview.md", "[`x`](DESIGN.md) [y](docs/decisions/)", "[`x`](design.md) y"),
        ("index.md", "```\n[x](../README.md)\n```", "```\n[x](../README.md)\n```"),
    ],
)
def test_links_lead_to_pages_of_the_site(page: str, link: str, shown: str) -> None:
    assert docs_site.linked(link, page) == shown


def test_foreign_hosts_and_missing_names_in_the_reference_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://example.org">x</a><link rel="canonical" href="https://example.org">'
        '<script src="//example.org/a.js"></script><link href="https://example.org/a.css" rel="stylesheet">'
        '<script src="js/a.js"></script>'
    )
    (tmp_path / "a.css").write_text('a { src: url("https://example.org/a.woff") } b { src: url(fonts/b.woff) }')
    (tmp_path / "a.js").write_text("fetch('https://example.org/a.json'); new Worker('search/worker.js')")
    assert len(docs_site.from_elsewhere(tmp_path)) == 4

    (tmp_path / "reference").mkdir()
    for module in MODULES:
        (tmp_path / "reference" / f"{module}.html").write_text('<h2 id="registry.aio.AsyncSchemaRegistryClient">')
    missing = docs_site.unnamed(tmp_path)
    assert "registry.Schema is not in the reference" in missing
    assert "kserdes.Producer is not in the reference" in missing
    assert [line for line in missing if line.startswith("registry.aio.")] == []
