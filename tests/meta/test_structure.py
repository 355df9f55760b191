"""Rules of the house that tools can't check: who has a test, what logic may call, what the wheel holds."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_core.error_codes import ErrorCodes
from kserdes.compat.confluent import DIALECTS
from tests.patience import PROCESS_S

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kserdes", "kserdes_base", "kafka_core", "registry", "serdes", "pipeline")
GENERATED = ("kafka_core/protocol/messages",)
PURE = ("kafka_core/engine", "kafka_core/wire", "kafka_core/broker", "registry/client/flows.py")
IMPURE_CALLS = {
    "time.time",
    "time.monotonic",
    "random.random",
    "random.randint",
    "random.choice",
    "uuid.uuid4",
    "uuid4",
}
WITHOUT_KERNELS = ROOT / "tests/without_kernels.txt"
IMPURE_ALLOWED = {"kafka_core/broker/server.py"}
FOREIGN_PRIVATE_ALLOWED = {
    "_asdict",  # named tuples: public, in spite of the underscore
    "_field_defaults",
    "_fields",
    "_replace",
    "_exit",  # os
    "_value2member_map_",  # enum
    "_field_type",  # dataclasses: tells an InitVar from a field
    "_credentials",  # botocore: the one way to credentials that are refreshed
    "_GetFeatures",  # google.protobuf: nothing public says whether text of a field is checked
    "_import_from_c",  # pyarrow: the documented way in for the C data interface
    "_visit_tree",  # cel-python: the one place that all evaluation passes
    "_rest_client",  # confluent_kafka's name
    "_drive",  # the registry client's shells, which the command line, a dialect and DekRegistryClient drive
}


def sources(*roots: str) -> list[Path]:
    found: list[Path] = []
    for root in roots:
        path = ROOT / root
        found += [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))
    return found


@functools.cache
def text_of(path: Path) -> str:
    return path.read_text()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """A module's tree, for all tests together: parsing and walking it is what they cost."""
    return ast.parse(text_of(path))


@functools.cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_module_opens_with_a_docstring() -> None:
    silent = [
        relative(path)
        for path in sources(*PACKAGES, "pyspark_kserdes", "tools", "benchmarks")
        if text_of(path).strip() and ast.get_docstring(tree_of(path)) is None
    ]
    assert silent == []


def test_no_module_is_too_long() -> None:
    kernels = [path for package in PACKAGES for path in (ROOT / package).rglob("native/*.p[xy][xdi]")]
    assert len(kernels) > 30
    long = {
        relative(path): len(text_of(path).splitlines())
        for path in [*sources(*PACKAGES, "tools"), *kernels]
        if not relative(path).startswith(GENERATED) and len(text_of(path).splitlines()) > 900
    }
    assert long == {}, "over 900 lines: look for the second idea in it"


def test_modules_list_their_names_only_where_others_cannot_see_them() -> None:
    """A package, a module of the reference, a dialect and both sides of a kernel have `__all__`; other modules name
    what they define by defining it, and need a list only for names that they pass on."""
    public, problems = reference(), []
    for path in sources(*PACKAGES):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        dialect = module.startswith("kserdes.compat.")
        if path.name == "__init__.py" or module in public or dialect or "kernels" in module:
            continue
        passed_on = {
            (alias.asname or alias.name).partition(".")[0]
            for node in nodes_of(path)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        for node in tree_of(path).body:
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
                names = {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
                if not names & passed_on:
                    problems.append(relative(path))
    assert problems == []


PRODUCT_CONTRACT = "kserdes.cli and kserdes.compat know public modules of the libraries"
SERVED_PRIVATE = {
    "kafka_core.admin_offsets": "`confluent_kafka.admin._listoffsets`, with names that `admin` does not pass on",
    "kafka_core.errors": "`confluent_kafka.error`: subclasses that tests of applications raise",
    "kafka_core.listings": "as kafka_core.model",
    "kafka_core.model": "values of `confluent_kafka._model` and `_metadata` that applications only take",
    "kserdes_base.version": "`kafka.version`",
    "registry.dek_models": "requests for keys, which applications never make",
    "registry.errors": "`schema_registry.error`",
    "registry.models": "values of the client that have no public name in confluent_kafka either",
    "serdes.encryption.aws": "modules of key services, one each, as there",
    "serdes.encryption.azure": "as serdes.encryption.aws",
    "serdes.encryption.cryptor": "helpers of `encrypt_executor`",
    "serdes.encryption.executor": "helpers of `encrypt_executor`",
    "serdes.encryption.gcp": "as serdes.encryption.aws",
    "serdes.encryption.local": "as serdes.encryption.aws",
    "serdes.encryption.vault": "as serdes.encryption.aws",
    "serdes.engine.aio": "`AsyncBaseSerializer` and `AsyncBaseDeserializer`, which applications subclass",
    "serdes.engine.blocking": "`BaseSerializer` and `BaseDeserializer`, likewise",
    "serdes.engine.owning": "`BaseSerde`, likewise",
    "serdes.rules.cel.executor": "`cel_executor` and `cel_field_executor`",
    "serdes.rules.dlq": "`dlq_action`",
    "serdes.rules.engine": "the actions and contexts of rules in `schema_registry.serde`",
    "serdes.rules.inline.avro": "validation of rules inside schemas: functions that tests there call",
    "serdes.rules.inline.cel": "`cel_validator`",
    "serdes.rules.inline.json": "as serdes.rules.inline.avro",
    "serdes.rules.inline.protobuf": "as serdes.rules.inline.avro",
    "serdes.rules.jsonata": "`jsonata_executor`",
    "serdes.rules.model": "bases of rules' executors and actions in `schema_registry.serde`",
    "serdes.subject": "constants of `schema_registry`",
    "serdes.variants.messages": "the generated messages `variant_pb2`",
}
"""Private modules of the libraries that stand behind modules of confluent_kafka, and what they give."""


def reference() -> set[str]:
    """The public modules: those that have a page in the reference."""
    return {path.stem for path in (ROOT / "docs/reference").glob("*.md")}


def test_the_product_knows_public_modules_of_the_libraries_and_private_ones_that_are_listed() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (known,) = [each["ignore_imports"] for each in contracts if each["name"].startswith(PRODUCT_CONTRACT)]
    public = {edge.removeprefix("kserdes.** -> ") for edge in known if edge.startswith("kserdes.** -> ")}
    assert len(public) > 10
    assert public - reference() == set()
    private = {edge.partition(" -> ")[2] for edge in known} - public
    assert private & reference() == set(), "a public module is listed as a private one"


def test_dialects_serve_public_modules_of_the_libraries_and_private_ones_that_are_listed() -> None:
    served = {home for dialect in DIALECTS.values() for homes in dialect.homes.values() for home in homes}
    served |= {home for dialect in DIALECTS.values() for home, _ in dialect.renamed.values()}
    of_ours = {home for home in served if home.partition(".")[0] in PACKAGES and not home.startswith("kserdes.")}
    assert of_ours - reference() == set(SERVED_PRIVATE)


def test_logic_takes_time_and_chance_from_outside() -> None:
    called = [
        f"{relative(path)}:{node.lineno} {ast.unparse(node.func)}"
        for path in sources(*PURE)
        if relative(path) not in IMPURE_ALLOWED
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in IMPURE_CALLS
    ]
    assert called == []


def test_no_module_uses_private_names_of_another() -> None:
    """The error codes that begin with an underscore are public (confluent_kafka's names)."""
    allowed = FOREIGN_PRIVATE_ALLOWED | {name for name in vars(ErrorCodes) if name.isupper()}
    found = []
    for path in sources(*PACKAGES):
        own = set(_bound_names(nodes_of(path)))
        found += [
            f"{relative(path)}:{node.lineno} {ast.unparse(node)}"
            for node in nodes_of(path)
            if isinstance(node, ast.Attribute)
            and node.attr.startswith("_")
            and not node.attr.endswith("__")
            and node.attr not in own | allowed
            and not _is_own(node.value)
            and ast.unparse(node.value) != "super()"
        ]
        found += [
            f"{relative(path)}:{node.lineno} from {node.module} import {alias.name}"
            for node in nodes_of(path)
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES
            for alias in node.names
            if alias.name.startswith("_") and not alias.name.endswith("__")
        ]
    assert found == []


def _bound_names(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """The names a module defines or sets anywhere, also as attributes of its own objects."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
            yield node.attr


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


RAISED_AS_THERE = ("kserdes/compat/confluent/serdes/serialization.py", "NotImplementedError")
"""The exception of confluent_kafka's base of serializers."""


def test_no_swallowed_exceptions_and_no_leftovers() -> None:
    found = []
    for path in sources(*PACKAGES, "pyspark_kserdes", "tools", "benchmarks"):
        text = text_of(path)
        found += [
            f"{relative(path)}:{node.lineno} except with nothing but pass"
            for node in nodes_of(path)
            if isinstance(node, ast.ExceptHandler) and all(isinstance(item, ast.Pass) for item in node.body)
        ]
        found += [
            f"{relative(path)}: {word}"
            for word in ("TODO", "FIXME", "XXX", "NotImplementedError")
            if word in text and (relative(path), word) != RAISED_AS_THERE
        ]
    assert found == []


def test_nothing_names_a_package_host() -> None:
    """Constraints pin versions; where packages come from is the machine's business."""
    for name in ("pyproject.toml", "constraints.txt", "Makefile", "tests/kafka/pom.xml"):
        text = (ROOT / name).read_text()
        assert "index-url" not in text
        assert "<repository>" not in text


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_nothing_else(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
        ".",
    ]
    subprocess.run(command, cwd=ROOT, check=True, timeout=PROCESS_S)
    (wheel,) = tmp_path.glob("*.whl")
    top = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert top == {*PACKAGES, "pyspark_kserdes"}


def test_what_the_makefile_leaves_out_or_takes_in_is_there() -> None:
    """A path that is no more would be ignored in silence, or fail the run on the other Pythons."""
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    lists = re.findall(r"^\w+ := \$\(addprefix (?:--ignore=)?tests/,(.*?)\)$", text, re.MULTILINE)
    assert len(lists) == 2
    assert [path for names in lists for path in names.split() if not (ROOT / "tests" / path).exists()] == []
    assert [path for path in WITHOUT_KERNELS.read_text().split() if not (ROOT / path).exists()] == []


@pytest.mark.slow
def test_modules_that_are_said_to_call_no_kernel_call_none(tmp_path: Path) -> None:
    """They run on the compiled kernels only, so what calls a pure kernel there would be tested nowhere."""
    named, found = WITHOUT_KERNELS.read_text().split(), tmp_path / "found"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.kernel_use", f"--without-kernels={found}", *named]
    environment = {**os.environ, "KAFKA_CORE_KERNELS": "pure"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PROCESS_S)
    assert done.returncode == 0, done.stdout[-3000:]
    assert sorted(set(named) - set(found.read_text().split())) == [], "make kernel-use writes the list again"


def test_tests_of_real_parts_are_where_make_test_looks_for_them() -> None:
    """Each part of `make test` collects only the folders in which its markers are used: that saves half a minute."""
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    looks: dict[str, set[str]] = {}
    for markers, folders in re.findall(r'-m "([^"]*) and not [^"]*"((?:\s+tests/\w+)+)', text):
        for marker in re.findall(r"\w+", markers.replace(" or ", " ")):
            looks.setdefault(marker, set()).update(folders.split())
    assert sorted(looks) == ["broker", "interop", "registry", "spark"]
    missed = {
        f"{relative(path)}: {marker}"
        for path in (ROOT / "tests").rglob("*.py")
        for marker in re.findall(r"\bmark\.(\w+)\b", path.read_text())
        if marker in looks and "/".join(path.relative_to(ROOT).parts[:2]) not in looks[marker]
    }
    assert missed == set()


def test_every_function_of_a_kernel_is_called() -> None:
    """A C function that nothing names but its own definition is dead; compilers are told not to look (Makefile)."""
    for place in ("kafka_core", "serdes"):
        sources = [
            path for path in (ROOT / place / "kernels/native").iterdir() if path.suffix in (".pyx", ".pxi", ".pxd")
        ]
        text = "\n".join(path.read_text() for path in sources)
        own = "\n".join(path.read_text() for path in sources if path.suffix != ".pxd")
        defined = re.findall(r"^ *cp?def (?!class|extern|enum|struct|union)[^=\n]*?(\w+)\(", own, re.MULTILINE)
        assert len(defined) > 20, place
        assert [name for name in set(defined) if len(re.findall(rf"\b{name}\b", text)) < 2] == []


def test_documents_that_docstrings_cite_are_here() -> None:
    """`DESIGN §4` has to be a section of DESIGN.md; other documents of the design's time are not in the repository."""
    sections = set(re.findall(r"^## §(\d+) ", (ROOT / "DESIGN.md").read_text(), re.MULTILINE))
    cited = {
        f"{relative(path)}: {document} §{section}"
        for folder in (*PACKAGES, "pyspark_kserdes", "tools", "benchmarks", "tests", "docs")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".pyx", ".pxd", ".pxi", ".pyi", ".h", ".md")
        for document, section in re.findall(r"\b([A-Z]{3,}) §(\d+)", path.read_text())
        if document != "DESIGN" or section not in sections
    }
    assert cited == set()


def test_the_walks_of_the_architecture_lead_somewhere() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    walks = [line for line in text.partition("## Where to look")[2].partition("\n## ")[0].splitlines() if " → " in line]
    assert len(walks) >= 16
    for line in walks:
        steps = re.findall(r"`([^`]+)`", line)
        assert 1 < len(steps) <= 3, line
        for step in steps:
            path, _, name = step.partition(": ")
            assert (ROOT / path).is_file(), step
            defined = rf"^\s*(?:async def|def|class) {name}\b|^{name}\b.*="
            assert not name or re.search(defined, (ROOT / path).read_text(), re.MULTILINE), step
